"""What a connection to a server of tools does, whatever carries it."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from enum import Enum
from typing import Any, Protocol

from proviso_service.mcp.config import McpServerConfig
from proviso_service.mcp.model import ListedTool, ToolOutput


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
