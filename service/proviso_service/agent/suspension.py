"""Where a turn stands while it waits for a person, as JSON: what the agent goes on from, after a restart too."""

import json
from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, get_type_hints

from langchain_core.messages import AnyMessage, ToolMessage, messages_from_dict, messages_to_dict
from pydantic import TypeAdapter

from proviso_service.agent.matter_context import Resolved
from proviso_service.agent.payload import Note
from proviso_service.agent.state import AgentState, TurnMemory, UsageMeter
from proviso_service.context.model import ApprovedTool, RequestContext
from proviso_service.tools.base import Passage
from proviso_service.turns import ExitReason, HistoryMessage, ModelCallUsage, SuspensionUnreadable

_VERSION = 1


@dataclass(frozen=True, slots=True)
class Standing:
    """What a turn has, beside the graph's state and its memory: its message and what it was asked with, the contents of
    the items that the model was given, by hash, the passages that tools have found, the number of texts begun, the
    tools approved and the calls asked about, the time used."""

    text: str
    history: tuple[HistoryMessage, ...]
    request_context: RequestContext | None
    resolved: Resolved
    contents: Mapping[str, str]
    passages: tuple[Passage, ...]
    texts: int
    approved: tuple[ApprovedTool, ...]
    asked: tuple[str, ...]
    used_s: float


@dataclass(frozen=True, slots=True)
class SuspendedAgent:
    state: AgentState
    memory: TurnMemory
    standing: Standing


_STANDING = TypeAdapter(Standing)
_CALLS = TypeAdapter(tuple[ModelCallUsage, ...])
_MEMORY = {name: TypeAdapter(kind) for name, kind in get_type_hints(TurnMemory).items() if name != "meter"}


def write(suspended: SuspendedAgent) -> str:
    """Takes long where the messages hold images, so not for the event loop."""
    state, memory = suspended.state, suspended.memory
    plain = {
        "version": _VERSION,
        "messages": messages_to_dict(state["messages"]),
        "turns": state["turns"],
        "tool_calls": state["tool_calls"],
        "exit_reason": state["exit_reason"],
        "calls": _CALLS.dump_python(memory.meter.usage.calls, mode="json"),
        "memory": {name: form.dump_python(getattr(memory, name), mode="json") for name, form in _MEMORY.items()},
        "standing": _STANDING.dump_python(suspended.standing, mode="json"),
    }
    return json.dumps(plain, default=_signature)


def read(text: str) -> SuspendedAgent:
    """Takes as long as `write`. Raises SuspensionUnreadable."""
    try:
        plain = json.loads(text)
        if plain["version"] != _VERSION:
            raise SuspensionUnreadable(f"version {plain['version']} of the agent")
        return SuspendedAgent(_state(plain), _memory(plain), _STANDING.validate_python(plain["standing"]))
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        # Not the error itself, which may quote the conversation: this goes to the log.
        raise SuspensionUnreadable(f"damaged: {type(error).__name__}") from None


def _state(plain: dict[str, Any]) -> AgentState:
    reason = plain["exit_reason"]
    return AgentState(
        messages=[_message(message) for message in messages_from_dict(plain["messages"])],
        turns=int(plain["turns"]),
        tool_calls=int(plain["tool_calls"]),
        exit_reason=ExitReason(reason) if reason else None,
    )


def _message(message: Any) -> AnyMessage:
    """The notes of the service are known by their kind, which JSON does not keep."""
    if isinstance(message, ToolMessage) and message.artifact is not None:
        message.artifact = Note(message.artifact)
    read_message: AnyMessage = message
    return read_message


def _memory(plain: dict[str, Any]) -> TurnMemory:
    fields = {name: form.validate_python(plain["memory"][name]) for name, form in _MEMORY.items()}
    return TurnMemory(meter=UsageMeter(_CALLS.validate_python(plain["calls"])), **fields)


def _signature(value: object) -> str:
    """Signatures of thoughts may be bytes; their providers' clients take base64 as well."""
    if isinstance(value, bytes):
        return b64encode(value).decode("ascii")
    raise TypeError(f"{type(value).__name__} cannot be stored")
