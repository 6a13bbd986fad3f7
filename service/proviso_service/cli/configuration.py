"""Settings for a command: flags beat the environment, which beats proviso.toml. What is wrong is said in one line."""

import os
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from proviso_service.cli.problems import UsageProblem

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

    from proviso_service.settings import Settings

ENV_PREFIX = "PROVISO_"
ENV_SEPARATOR = "__"
FLAGS = {
    ("data_dir",): "--data-dir",
    ("models_dir",): "--models-dir",
    ("llm",): "--llm",
    ("server", "host"): "--host",
    ("server", "port"): "--port",
    ("server", "insecure"): "--insecure",
}

SettingPath = tuple[str, ...]


def load_settings(flags: Mapping[SettingPath, Any] | None = None) -> "Settings":
    """Settings with `flags` (by path in the tree) on top; flags that are None were not given. Raises UsageProblem."""
    from pydantic import ValidationError
    from pydantic_settings import SettingsError

    from proviso_service.settings import Settings

    given = {path: value for path, value in (flags or {}).items() if value is not None}
    _check_config_file()
    try:
        return Settings(**_tree(given))
    except ValidationError as error:
        raise UsageProblem(_sentence(error.errors(include_url=False), given)) from error
    except SettingsError as error:
        raise UsageProblem(f"{error}; set one of its members, as in {ENV_PREFIX}SERVER__PORT=50051") from error


def unknown_variables() -> list[str]:
    """PROVISO_ variables that name no setting. They are not refused: a cluster sets such names for its services."""
    from proviso_service.settings import Settings

    known = {"CONFIG", *(name.upper() for name in Settings.model_fields)}
    given = (name for name in os.environ if name.upper().startswith(ENV_PREFIX))
    return sorted(n for n in given if n.upper().removeprefix(ENV_PREFIX).partition(ENV_SEPARATOR)[0] not in known)


def config_file() -> Path:
    return Path(os.environ.get("PROVISO_CONFIG", "proviso.toml"))


def _check_config_file() -> None:
    """The settings library passes over a missing file and shows a broken one as a traceback."""
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


def _sentence(errors: Sequence["ErrorDetails"], flags: Mapping[SettingPath, Any]) -> str:
    return "; ".join(_problem(error, flags) for error in errors)


def _problem(error: "ErrorDetails", flags: Mapping[SettingPath, Any]) -> str:
    path = tuple(str(part) for part in error["loc"])
    where = _where(path, flags)
    if error["type"] == "extra_forbidden":
        return f"{where} is not a setting of Proviso"
    if error["type"] == "model_type":
        return f"{where} is a group of settings; set one of them, as in {ENV_PREFIX}SERVER{ENV_SEPARATOR}PORT=50051"
    message = error["msg"][:1].lower() + error["msg"][1:]
    return f"{where}: {message}{_got(path, error['input'])}"


def _got(path: SettingPath, value: object) -> str:
    """The value, unless it may be a secret or is a whole section."""
    if "key" in path[-1].lower() or not isinstance(value, str | int | float):
        return ""
    return f", not {str(value)[:80]!r}"


def _where(path: SettingPath, flags: Mapping[SettingPath, Any]) -> str:
    """The place that a person has to mend: the flag, the variable, or the line of the file."""
    if path in flags:
        return FLAGS.get(path, ".".join(path))
    if variable := _variable(path):
        return variable
    return f"{'.'.join(path)} in {config_file()}"


def _variable(path: SettingPath) -> str | None:
    """The environment variable behind a setting, as it is spelled there."""
    wanted = {(ENV_PREFIX + ENV_SEPARATOR.join(path)).upper(), ".".join(path).upper()}
    return next((name for name in os.environ if name.upper() in wanted), None)
