"""What is known of servers of tools: how one is reached, what its tools are and give, what a connection to it does."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from datetime import datetime
from enum import Enum, StrEnum
from typing import Any, Protocol

from pydantic import SecretStr

from proviso_service.errors import ProvisoError


class ServerState(StrEnum):
    STARTING = "starting"
    READY = "ready"
    FAILED = "failed"
    DISABLED = "disabled"


@dataclass(frozen=True, slots=True)
class ListedTool:
    """A tool as its server lists it; nothing about it has been checked."""

    name: str
    description: str
    input_schema: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ServerTool:
    """A tool of a server, fit to be shown to a model: as `shown_name`, with `shown_schema`. Arguments are checked
    against `schema`, which refers to nothing outside itself."""

    server_name: str
    name: str
    shown_name: str
    description: str
    schema: Mapping[str, Any]
    shown_schema: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class RefusedTool:
    """A tool that no model can be shown, and why."""

    name: str
    reason: str


@dataclass(frozen=True, slots=True)
class ServerHealth:
    """How a server does. `reason` says why it failed; `starts` counts the attempts to start it. The tools are those of
    the last list that it gave, even while it fails."""

    name: str
    state: ServerState
    since: datetime
    reason: str = ""
    starts: int = 0
    tools: int = 0
    refused: tuple[RefusedTool, ...] = ()


@dataclass(frozen=True, slots=True)
class ToolOutput:
    """What a call gave: text, with what is no text said in words, and the typed result where there is one.
    `truncated` when something was left out for its size; `is_error` when the tool says that it failed."""

    text: str
    structured: Mapping[str, Any] | None = None
    is_error: bool = False
    truncated: bool = False


class ToolServerFailed(ProvisoError):
    """A call of a server's tool came to nothing. It is not made again: it may have had its effect."""


_MIN_SECRET_CHARS = 4
"""A shorter value (a flag, a number) would be found in words that have nothing to do with it."""


@dataclass(frozen=True, slots=True)
class StdioTransport:
    """A process of ours, which reads requests and writes answers; its own errors go to the log. It sees `env` and what
    every program needs of the environment (PATH, HOME and the like), nothing else of it. It runs in `cwd`, or where the
    service does."""

    command: str
    args: tuple[str, ...] = ()
    env: Mapping[str, SecretStr] = field(default_factory=dict)
    cwd: str | None = None

    @property
    def secrets(self) -> tuple[SecretStr, ...]:
        return tuple(self.env.values())


@dataclass(frozen=True, slots=True)
class HttpTransport:
    """A server elsewhere, by streamable HTTP."""

    url: str
    headers: Mapping[str, SecretStr] = field(default_factory=dict)

    @property
    def secrets(self) -> tuple[SecretStr, ...]:
        return tuple(self.headers.values())


@dataclass(frozen=True, slots=True)
class McpServerConfig:
    """A server of tools. Two that are equal are reached in the same way: a session goes on when nothing else about its
    server has changed. `max_output_chars` bounds what one call gives, in code points."""

    name: str
    transport: StdioTransport | HttpTransport
    timeout_s: float = 30.0
    start_timeout_s: float = 30.0
    max_output_chars: int = 50_000
    enabled: bool = True

    def masked(self, text: str) -> str:
        """The text without the values of `env` or `headers`: a server may repeat what it was told, also without the
        scheme (Bearer) before it."""
        values = [secret.get_secret_value() for secret in self.transport.secrets]
        parts = {part for value in values for part in (value, *value.split()[-1:]) if len(part) >= _MIN_SECRET_CHARS}
        for part in sorted(parts, key=len, reverse=True):
            text = text.replace(part, "***")
        return text


class News(Enum):
    TOOLS_CHANGED = "tools_changed"
    ENDED = "ended"


class ConnectionFailed(Exception):
    """No connection, or one that has ended; the message says why, in words that end a sentence after the server's name
    ("ended with exit code 1")."""


class CallRefused(Exception):
    """The server did not carry out a call; the message is its own. The connection goes on."""


class Connection(Protocol):
    """An open session with a server. Calls may overlap."""

    async def list_tools(self) -> Sequence[ListedTool]:
        """All tools, in the server's order; ConnectionFailed."""
        ...

    async def call(self, tool: str, arguments: Mapping[str, Any]) -> ToolOutput:
        """Calls a tool by the server's name for it; ConnectionFailed when the session ends before the answer,
        CallRefused."""
        ...

    async def news(self) -> News:
        """Waits until the server says that its tools have changed, or the session has ended."""
        ...

    @property
    def end(self) -> str:
        """Why the session has ended, in words as those of ConnectionFailed."""
        ...


Connect = Callable[[McpServerConfig], AbstractAsyncContextManager[Connection]]
"""Opens a session and closes it, in the same task; ConnectionFailed when there is none to be had."""
