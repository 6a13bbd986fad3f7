"""The types of MCP servers: their configuration, health and tools, the results of calls, and an open connection."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from datetime import datetime
from enum import Enum, StrEnum
from typing import Any, Protocol

from pydantic import SecretStr

from proviso_service.errors import FailureCause, ProvisoError


class ServerState(StrEnum):
    STARTING = "starting"
    READY = "ready"
    FAILED = "failed"
    DISABLED = "disabled"


@dataclass(frozen=True, slots=True)
class ListedTool:
    """A tool as its server lists it; nothing of it has been checked. `is_repeatable`: the server says that it changes
    nothing, or that calling it twice does no more than calling it once."""

    name: str
    description: str
    input_schema: Mapping[str, Any]
    is_repeatable: bool = False


@dataclass(frozen=True, slots=True)
class ServerTool:
    """A checked tool of a server. A model sees it as `shown_name` with the parameters `shown_schema`. Its arguments are
    checked against `schema`, which refers to nothing outside itself. `is_repeatable` is what its server says."""

    server_name: str
    name: str
    shown_name: str
    description: str
    schema: Mapping[str, Any]
    shown_schema: Mapping[str, Any]
    is_repeatable: bool = False


@dataclass(frozen=True, slots=True)
class RefusedTool:
    """A tool that cannot be shown to a model; `reason` is a sentence that says why."""

    name: str
    reason: str


@dataclass(frozen=True, slots=True)
class ServerHealth:
    """The state of a server, since the moment `since`. `reason` says why it failed; `starts` counts the attempts to
    start it. `tools` counts the tools that it listed last, also while it fails."""

    name: str
    state: ServerState
    since: datetime
    reason: str = ""
    starts: int = 0
    tools: int = 0
    refused: tuple[RefusedTool, ...] = ()


@dataclass(frozen=True, slots=True)
class ToolOutput:
    """The result of a call: its text, in which images and files are replaced by a note, and the structured result
    where there is one. `truncated`: something was left out because it was too long. `is_error`: the tool reports that
    it failed."""

    text: str
    structured: Mapping[str, Any] | None = None
    is_error: bool = False
    truncated: bool = False


class ToolServerFailed(ProvisoError):
    """A call of a server's tool failed. It is made again only where it `may_repeat`: it was not carried out and may be
    soon, or the server says that repeating it does no harm. Any other may have had its effect already."""

    def __init__(
        self, message: str, cause: FailureCause = FailureCause.PROVIDER_AWAY, *, may_repeat: bool = False
    ) -> None:
        super().__init__(message)
        self.cause = cause
        self.may_repeat = may_repeat


_MIN_SECRET_CHARS = 4
"""Shorter values, such as flags and numbers, are not masked: they would be found inside unrelated words."""


@dataclass(frozen=True, slots=True)
class StdioTransport:
    """A server that the service starts as a child process and talks to over its standard input and output.

    Its environment holds `env` and what every program needs (PATH, HOME and the like), nothing else of the service's.
    It runs in `cwd`, else in the service's own working directory. Its standard error goes to the log."""

    command: str
    args: tuple[str, ...] = ()
    env: Mapping[str, SecretStr] = field(default_factory=dict)
    cwd: str | None = None

    @property
    def secrets(self) -> tuple[SecretStr, ...]:
        return tuple(self.env.values())


@dataclass(frozen=True, slots=True)
class HttpTransport:
    """A server at a URL, over the protocol's streamable HTTP transport."""

    url: str
    headers: Mapping[str, SecretStr] = field(default_factory=dict)

    @property
    def secrets(self) -> tuple[SecretStr, ...]:
        return tuple(self.headers.values())


@dataclass(frozen=True, slots=True)
class McpServerConfig:
    """How one server is reached. A new configuration that is equal to the old one keeps the server's session.

    `timeout_s` limits a call and `start_timeout_s` a start, in seconds; `max_output_chars` limits the result of one
    call, in code points."""

    name: str
    transport: StdioTransport | HttpTransport
    timeout_s: float = 30.0
    start_timeout_s: float = 30.0
    max_output_chars: int = 50_000
    enabled: bool = True

    def masked(self, text: str) -> str:
        """The text with the values of `env` and `headers` replaced by ***. A server may repeat them in its messages, a
        header's value also without the scheme (such as Bearer) before it."""
        values = [secret.get_secret_value() for secret in self.transport.secrets]
        parts = {part for value in values for part in (value, *value.split()[-1:]) if len(part) >= _MIN_SECRET_CHARS}
        for part in sorted(parts, key=len, reverse=True):
            text = text.replace(part, "***")
        return text


class SessionEvent(Enum):
    """What happened to an open session."""

    TOOLS_CHANGED = "tools_changed"
    ENDED = "ended"


class ConnectionFailed(Exception):
    """There is no connection, or it has ended. The message says why, in words that follow the server's name in a
    sentence, such as "ended with exit code 1". `carried_out` is False for a call that the server has certainly not
    carried out."""

    def __init__(self, message: str, *, carried_out: bool = True) -> None:
        super().__init__(message)
        self.carried_out = carried_out


class CallRefused(Exception):
    """The server refused a call, with this message of its own. The connection stays open."""


class ServerConnection(Protocol):
    """An open session with a server, over any transport; tests bring their own. Calls may overlap."""

    async def list_tools(self) -> Sequence[ListedTool]:
        """All tools, in the server's order. Raises ConnectionFailed."""
        ...

    async def call(self, tool: str, arguments: Mapping[str, Any]) -> ToolOutput:
        """Calls a tool by the server's own name for it. Raises CallRefused, and ConnectionFailed when the session ends
        before the answer."""
        ...

    async def next_event(self) -> SessionEvent:
        """Waits until the server announces that its tools have changed, or until the session ends."""
        ...

    @property
    def end(self) -> str:
        """Why the session has ended, in words like those of ConnectionFailed."""
        ...


Connect = Callable[[McpServerConfig], AbstractAsyncContextManager[ServerConnection]]
"""Opens a session and closes it again; both must happen in the same task. Raises ConnectionFailed."""
