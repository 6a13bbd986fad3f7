"""The fields of an agent's folder: those of `agent.yaml`, and those at the top of a rule or a reference."""

import re
from typing import Annotated, Any, Literal, TypeVar
from urllib.parse import urlsplit

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Discriminator,
    Field,
    StrictBool,
    StrictInt,
    StringConstraints,
    Tag,
    ValidationError,
    ValidationInfo,
)
from pydantic_core import ErrorDetails

from proviso_service.context.catalog.items import Approval
from proviso_service.context.catalog.yaml_text import Path, YamlText
from proviso_service.context.model import OWN_SERVER, IncludeMode
from proviso_service.errors import FileFault
from proviso_service.value_faults import REFUSED, SENTENCES, refusal, words_for

M = TypeVar("M", bound="Fields")

_SERVER_NAME = re.compile(r"[a-z](_?[a-z0-9-])*")

_STDIO, _HTTP = "stdio", "http"
_NO_FIELDS = frozenset({_STDIO, _HTTP, "[key]"})
"""Parts of a location that pydantic adds and that the file does not have."""

_FIELDS = "must be fields with values, each on a line of its own"
_WORDING = {
    **SENTENCES,
    "string_type": "must be text; put it between quotation marks",
    "too_long": "must have at most {max_length} entries",
    "dict_type": _FIELDS,
    "model_type": _FIELDS,
}


class Fields(BaseModel):
    """Fields that a person writes. Unknown ones are refused, and no error repeats a value."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False, hide_input_in_errors=True)


def _one_line(text: str) -> str:
    if not text.isprintable():
        raise refusal("must be one line of printable characters")
    return text


def _joined(text: str) -> str:
    return " ".join(text.split())


def _server_name(name: str) -> str:
    """Checks the name of a server, which becomes part of the names that models are shown of its tools, before two
    underscores."""
    if not _SERVER_NAME.fullmatch(name):
        raise refusal("a server's name is lower-case letters, digits and - or single _, the first of them a letter")
    if name == OWN_SERVER:
        raise refusal("is the name of the service's own tools, which are configured under proviso")
    return name


def _http_url(url: str) -> str:
    try:
        parts = urlsplit(url)
        sound = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0 and not parts.fragment
    except ValueError:
        sound = False
    if not sound:
        raise refusal("must be an address such as https://tools.example.com/mcp")
    if parts.username or parts.password:
        raise refusal("must hold no name or password; use headers, with ${VARIABLE} for what is secret")
    return url


_Line = Annotated[
    str, StringConstraints(strip_whitespace=True, min_length=1, max_length=128), AfterValidator(_one_line)
]
_Description = Annotated[
    str, StringConstraints(strip_whitespace=True, min_length=1, max_length=1_000), AfterValidator(_joined)
]
_ServerName = Annotated[str, StringConstraints(min_length=1, max_length=30), AfterValidator(_server_name)]
_VariableName = Annotated[str, StringConstraints(min_length=1, max_length=128), AfterValidator(_one_line)]
_Value = Annotated[str, StringConstraints(max_length=8_192)]
_Path = Annotated[str, StringConstraints(min_length=1, max_length=1_024)]
_Seconds = Annotated[float, Field(gt=0, le=3_600)]


def _only_always(locked: bool, info: ValidationInfo) -> bool:
    if locked and info.data.get("include") not in (None, IncludeMode.ALWAYS):
        raise refusal("needs include: always, because a locked item is in every session")
    return locked


class ItemFields(Fields):
    """The fields of a rule or a reference."""

    name: _Line
    description: _Description
    include: IncludeMode | None = None
    priority: Annotated[StrictInt, Field(ge=-1_000, le=1_000)] = 0
    enabled: StrictBool = True
    keywords: Annotated[tuple[_Line, ...], Field(max_length=100)] = ()
    locked: Annotated[StrictBool, AfterValidator(_only_always)] = False


class _ToolModes(Fields):
    include: IncludeMode | None = None
    approval: Approval | None = None


class ToolFields(_ToolModes):
    """The fields of one tool."""

    locked: Annotated[StrictBool, AfterValidator(_only_always)] = False


class ToolsFields(_ToolModes):
    """The fields of a server's tools: for all of them, and for single ones. The service's own tools have no others."""

    tools: Annotated[dict[_Line, ToolFields], Field(max_length=256)] = {}


class _ServerFields(ToolsFields):
    timeout_s: _Seconds = 30.0
    start_timeout_s: _Seconds = 30.0
    max_output_chars: Annotated[StrictInt, Field(ge=100, le=1_000_000)] = 50_000
    enabled: StrictBool = True


class StdioServerFields(_ServerFields):
    """The fields of a server that is a program on this machine."""

    transport: Literal["stdio"] = "stdio"
    command: _Path
    args: Annotated[tuple[_Value, ...], Field(max_length=256)] = ()
    env: Annotated[dict[_VariableName, _Value], Field(max_length=128)] = {}
    cwd: _Path | None = None


class HttpServerFields(_ServerFields):
    """The fields of a server that is reached over HTTP."""

    transport: Literal["http"] = "http"
    url: Annotated[str, StringConstraints(min_length=1, max_length=2_048), AfterValidator(_http_url)]
    headers: Annotated[dict[_VariableName, _Value], Field(max_length=128)] = {}


def _kind_of_server(value: Any) -> str | None:
    if not isinstance(value, dict) or ("command" in value) == ("url" in value):
        return None
    return _STDIO if "command" in value else _HTTP


ServerFields = Annotated[
    Annotated[StdioServerFields, Tag(_STDIO)] | Annotated[HttpServerFields, Tag(_HTTP)],
    Discriminator(
        _kind_of_server,
        custom_error_type=REFUSED,
        custom_error_message="{description}",
        custom_error_context={"description": "needs either a command (a program) or a url (an HTTP server)"},
    ),
]


class AgentFields(Fields):
    """The fields of `agent.yaml`. `reference_files` describes references that have no fields of their own, by file
    name."""

    name: _Line
    description: _Description
    rules: _Line = "rules"
    references: _Line = "references"
    reference_files: dict[_Line, ItemFields] = {}
    proviso: ToolsFields = ToolsFields()
    mcp_servers: dict[_ServerName, ServerFields] = {}


def check_fields(model: type[M], file: str, text: YamlText) -> M | list[FileFault]:
    """The checked fields of a file, or everything that is wrong with them. No fault repeats a value, which may be a
    secret."""
    if text.faults:
        return [FileFault(file, fault.line, _dotted(fault.path), fault.description) for fault in text.faults]
    if not isinstance(text.value, dict):
        return [FileFault(file, text.line_of(()), "", _FIELDS)]
    try:
        return model.model_validate(text.value)
    except ValidationError as error:
        details = error.errors(include_url=False, include_input=False)
        return [_fault(file, text, detail) for detail in details]


def _fault(file: str, text: YamlText, detail: ErrorDetails) -> FileFault:
    path = _path(detail["loc"], text)
    return FileFault(file, text.line_of(path), _dotted(path), words_for(detail, _WORDING))


def _path(loc: Path, text: YamlText) -> Path:
    path: Path = ()
    for part in loc:
        if (*path, part) in text.lines or part not in _NO_FIELDS:
            path = (*path, part)
    return path


def _dotted(path: Path) -> str:
    joined = ""
    for part in path:
        joined += f"[{part}]" if isinstance(part, int) else f".{part}" if joined else part
    return joined
