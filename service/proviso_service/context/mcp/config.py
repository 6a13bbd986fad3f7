"""How a server of tools is reached and used, as an agent's definition says it."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, Literal
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from proviso_service.context.model import IncludeMode

Seconds = Annotated[float, Field(gt=0, le=3_600)]

SERVER_NAME = r"^[a-z](_?[a-z0-9-])*$"
"""None ends in an underscore or holds two in a row: those separate a server from its tool (see names)."""


class Approval(StrEnum):
    NONE = "none"
    REQUIRED = "required"


class _Config(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class StdioTransport(_Config):
    """A process of ours, which reads requests and writes answers; its own errors go to the log. It sees `env` and what
    every program needs of the environment (PATH, HOME and the like), nothing else of it."""

    type: Literal["stdio"] = "stdio"
    command: str = Field(min_length=1)
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = Field(default_factory=dict, repr=False)
    cwd: str | None = None


def _http_url(value: str) -> str:
    parts = urlsplit(value)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.username or parts.fragment:
        raise ValueError("must be an address such as https://tools.example.com/mcp; a credential belongs in headers")
    return value


class HttpTransport(_Config):
    """A server elsewhere, by streamable HTTP."""

    type: Literal["http"] = "http"
    url: Annotated[str, AfterValidator(_http_url)]
    headers: Mapping[str, str] = Field(default_factory=dict, repr=False)


class ToolConfig(_Config):
    """What is set for one tool of a server; None leaves it to the server's own setting."""

    include: IncludeMode | None = None
    approval: Approval | None = None


class McpServerConfig(_Config):
    """A server of tools. `max_output_chars` bounds what one call gives, in code points."""

    name: str = Field(pattern=SERVER_NAME, max_length=30)
    transport: Annotated[StdioTransport | HttpTransport, Field(discriminator="type")]
    include: IncludeMode | None = None
    approval: Approval | None = None
    tools: Mapping[str, ToolConfig] = Field(default_factory=dict)
    timeout_s: Seconds = 30.0
    start_timeout_s: Seconds = 30.0
    max_output_chars: int = Field(50_000, ge=100, le=1_000_000)
    enabled: bool = True
