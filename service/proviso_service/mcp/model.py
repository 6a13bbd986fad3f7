"""What is known of servers of tools, and what their tools give."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

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
