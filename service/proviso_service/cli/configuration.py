"""The settings of a command. Flags beat variables, which beat proviso.toml; all faults are told in one line."""

import json
import os
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_origin

import typer

from proviso_service.cli.output import UsageProblem

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

    from proviso_service.settings import Settings

FLAGS = {
    ("data_dir",): "--data-dir",
    ("models_dir",): "--models-dir",
    ("llm",): "--llm",
    ("server", "host"): "--host",
    ("server", "port"): "--port",
    ("server", "insecure"): "--insecure",
}

_GROUP = "is a group of settings; set one of them, as in PROVISO_SERVER__PORT=50051"
_LIST = 'must be a list, as in ["first", "second"]'

SettingPath = tuple[str, ...]

DataDir = Annotated[
    Path | None, typer.Option(help="Folder of everything the service keeps [default: .proviso].", metavar="FOLDER")
]
"""The flag of every command that works in the data folder."""


def load_settings(flags: Mapping[SettingPath, Any] | None = None) -> "Settings":
    """Reads the settings, and puts the flags on top by their path in the tree. Raises UsageProblem.

    A flag whose value is None was not given.
    """
    from pydantic import ValidationError
    from pydantic_settings import SettingsError

    from proviso_service.settings import Settings
    from proviso_service.variables import unknown_variables

    given = {path: value for path, value in (flags or {}).items() if value is not None}
    _check_config_file()
    unknown = unknown_variables(os.environ)
    try:
        settings = Settings(**_tree(given))
    except ValidationError as error:
        problems = [_problem(one, given) for one in error.errors(include_url=False)]
        raise UsageProblem("; ".join(dict.fromkeys([*problems, *unknown]))) from error
    except SettingsError as error:
        raise UsageProblem("; ".join([*_unreadable(), *unknown])) from error
    if unknown:
        raise UsageProblem("; ".join(unknown))
    return settings


def config_file() -> Path:
    return Path(os.environ.get("PROVISO_CONFIG", "proviso.toml"))


def _check_config_file() -> None:
    """Raises UsageProblem for a missing or broken file.

    The settings library passes over the one, and shows the other as a traceback.
    """
    path = config_file()
    if not path.is_file():
        if "PROVISO_CONFIG" in os.environ:
            raise UsageProblem(f"PROVISO_CONFIG names {path}, which is not a file")
        return
    try:
        tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageProblem(f"{path} is not valid TOML: {error}") from error
    except OSError as error:
        raise UsageProblem(f"{path} cannot be read: {error.strerror}") from error


def _tree(flags: Mapping[SettingPath, Any]) -> dict[str, Any]:
    tree: dict[str, Any] = {}
    for path, value in flags.items():
        node = tree
        for name in path[:-1]:
            node = node.setdefault(name, {})
        node[path[-1]] = value
    return tree


def _problem(error: "ErrorDetails", flags: Mapping[SettingPath, Any]) -> str:
    from proviso_service.value_faults import words_for

    names = tuple(part for part in error["loc"] if isinstance(part, str))
    if error["type"] == "extra_forbidden":
        return _unknown(names, flags)
    words = words_for(error, _wording())
    return f"{_where(names, flags)} {words}{_got(names, error) if words.startswith('must be') else ''}"


def _unknown(path: SettingPath, flags: Mapping[SettingPath, Any]) -> str:
    """What to say of a setting that does not exist, which stands in a group of the environment or in the file."""
    from proviso_service.variables import near_setting, unknown_variables

    if variable := _variable(path):
        return unknown_variables({variable: ""})[0]
    return f"{_where(path, flags)} is not a setting of Proviso{near_setting(path)}"


def _wording() -> Mapping[str, str]:
    from proviso_service.value_faults import SENTENCES

    return {**SENTENCES, "model_type": _GROUP, "tuple_type": _LIST}


def _got(path: SettingPath, error: "ErrorDetails") -> str:
    """Names the value that was refused, unless it may hold a secret or is not a single value."""
    from proviso_service.value_faults import REFUSED

    value = error["input"]
    if "key" in path[-1].lower() or error["type"] == REFUSED or not isinstance(value, str | int | float):
        return ""
    return f", not {str(value)[:80]!r}"


def _unreadable() -> Iterator[str]:
    """Yields what is wrong with variables of whole groups and of lists, which the settings library reads as JSON."""
    for name, value in sorted(os.environ.items()):
        prefix, _, path = name.upper().partition("_")
        if prefix != "PROVISO" or _is_json(value):
            continue
        kind = _kind_of(path.lower().split("__"))
        if hasattr(kind, "model_fields"):
            yield f"{name} {_GROUP}"
        elif get_origin(kind) is tuple:
            yield f"{name} {_LIST}"


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


def _kind_of(path: Iterable[str]) -> Any:
    """Returns the type of the setting at a path, or None where there is no such setting."""
    from proviso_service.settings import Settings

    kind: Any = Settings
    for name in path:
        field = getattr(kind, "model_fields", {}).get(name)
        kind = field and field.annotation
    return kind


def _where(path: SettingPath, flags: Mapping[SettingPath, Any]) -> str:
    """Names what a person has to mend: the flag, the variable, or the key in the file."""
    if path in flags:
        return FLAGS.get(path, ".".join(path))
    if variable := _variable(path):
        return variable
    return f"{'.'.join(path)} in {config_file()}"


def _variable(path: SettingPath) -> str | None:
    """Returns the name of the variable that gives a setting its value, as it is spelled in the environment."""
    from proviso_service.variables import variable_name

    wanted = {variable_name(path), ".".join(path).upper()}
    return next((name for name in os.environ if name.upper() in wanted), None)
