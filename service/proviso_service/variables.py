"""The environment variables of the settings: their names, the page that lists them, and variables that set nothing.

`python -m proviso_service.variables > docs/settings.md` writes the page anew.
"""

import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from proviso_service.settings import Section, Settings
from proviso_service.spelling import did_you_mean, near_misses

ENV_PREFIX = "PROVISO_"
ENV_SEPARATOR = "__"
CONFIG_VARIABLE = "PROVISO_CONFIG"

_OF_OTHER_PROGRAMS = ("PROVISO_GATEWAY_", "PROVISO_PYTHON", "PROVISO_TLS", "PROVISO_TOKEN")
"""Variables of the gateway, of the tests of clients in other languages, and of commands that connect to a server."""

_OF_KUBERNETES = re.compile(r"PROVISO_(\w+_)?(SERVICE_HOST|SERVICE_PORT(_\w+)?|PORT_\d+_(TCP|UDP|SCTP)(_\w+)?)")
"""What Kubernetes sets in every container for a service whose name begins with `proviso`, beside `PROVISO_PORT`."""

_GROUPS = {
    "": "Folders, chat model and keys",
    "server": "Server",
    "auth": "Credentials",
    "limits": "Limits of each tenant",
    "turns": "Turns",
    "chat_model": "Calls of a hosted chat model",
    "models": "Models of search and analysis",
    "images": "Images of messages",
    "documents": "Documents",
    "iql": "IQL",
    "storage": "Storage",
    "telemetry": "Logs and traces",
}

_OPENING = """# Settings

This page is generated from `settings.py`: `make settings` writes it anew.

Settings come from the flags of `proviso serve`, from environment variables, and from `proviso.toml` in the working
directory or the file that `PROVISO_CONFIG` names. Flags win over variables, and variables win over the file. In the
file, `PROVISO_TURNS__TIME_LIMIT_S=60` is `time_limit_s = 60` under `[turns]`, and `PROVISO_LLM=local` is `llm =
"local"` before the first group. A setting that is wrong or unknown stops the start with exit code 2 and one line
that says what to change.
"""


@dataclass(frozen=True, slots=True)
class Variable:
    """A setting by the environment variable that sets it; `path` leads to it in proviso.toml."""

    name: str
    path: tuple[str, ...]
    field: FieldInfo


def variables(model: type[BaseModel] = Settings, path: tuple[str, ...] = ()) -> Iterator[Variable]:
    """Every setting, in the order in which they are declared."""
    for name, field in model.model_fields.items():
        own_path = (*path, name)
        if isinstance(field.annotation, type) and issubclass(field.annotation, Section):
            yield from variables(field.annotation, own_path)
        else:
            alias = field.validation_alias
            yield Variable(alias if isinstance(alias, str) else variable_name(own_path), own_path, field)


def variable_name(path: tuple[str, ...]) -> str:
    """The environment variable of the setting or group at a path, such as `PROVISO_SERVER__PORT`."""
    return (ENV_PREFIX + ENV_SEPARATOR.join(path)).upper()


def unknown_variables(environment: Mapping[str, str]) -> list[str]:
    """A sentence about each PROVISO_ variable that names no setting, no group of settings, and no variable of another
    program."""
    names = {variable.name for variable in variables()}
    groups = {variable_name(variable.path[:1]) for variable in variables() if len(variable.path) > 1}
    known = {*names, *groups, CONFIG_VARIABLE}
    given = sorted(name for name in environment if name.upper().startswith(ENV_PREFIX))
    return [
        f"{name} is not a setting of Proviso{_nearest(name.upper(), names)}"
        for name in given
        if name.upper() not in known and not _is_of_another_program(name.upper(), environment[name])
    ]


def _nearest(name: str, names: Iterable[str]) -> str:
    """`; did you mean PROVISO_LLM?`, or where all settings are listed. The prefix, which most names share, makes none
    of them more likely."""
    by_rest = {one.removeprefix(ENV_PREFIX): one for one in names}
    near = near_misses(name.removeprefix(ENV_PREFIX), by_rest, most=1)
    return did_you_mean(by_rest[rest] for rest in near) or "; docs/settings.md lists them all"


def _is_of_another_program(name: str, value: str) -> bool:
    if name.startswith(_OF_OTHER_PROGRAMS) or _OF_KUBERNETES.fullmatch(name):
        return True
    return name.endswith("_PORT") and "://" in value  # Kubernetes's address of the service


def near_setting(path: tuple[str, ...]) -> str:
    """`; did you mean server.port?`, for a path in proviso.toml that leads to no setting; empty where none is like
    it."""
    return did_you_mean(near_misses(".".join(path), [".".join(one.path) for one in variables()], most=1))


def settings_page() -> str:
    """The text of docs/settings.md."""
    rows: dict[str, list[str]] = {group: [] for group in _GROUPS}
    for one in variables():
        group = one.path[0] if len(one.path) > 1 else ""
        rows[group].append(f"| `{one.name}` | {_default(one.field)} | {one.field.description} |\n")
    tables = [
        f"\n## {title}\n\n| variable | default | meaning |\n|---|---|---|\n{''.join(rows[group])}"
        for group, title in _GROUPS.items()
    ]
    return "".join([_OPENING, *tables])


def _default(field: FieldInfo) -> str:
    return f"`{field.default}`" if field.default not in (None, "", ()) else ""


if __name__ == "__main__":
    sys.stdout.write(settings_page())
