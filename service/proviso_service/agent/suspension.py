"""The stored form of a turn that has not ended: the JSON from which the agent resumes it, also after a restart."""

import json
from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, cast, get_type_hints

from langchain_core.messages import AnyMessage, ToolMessage, messages_from_dict, messages_to_dict
from pydantic import TypeAdapter

from proviso_service.agent.payload import ServiceNote
from proviso_service.agent.state import AgentState, TurnMemory, UsageMeter
from proviso_service.tools.base import SourcePassage
from proviso_service.turns import ExitReason, ModelCallUsage, SuspensionUnreadable

_VERSION = 3


@dataclass(frozen=True, slots=True)
class SuspendedAgent:
    """A turn of the agent at a checkpoint, or that waits for a person: the graph's state, the turn's memory, and what
    else it goes on from.

    `contents` are those of the items that the model was given, by SHA-256; the memory's own `items` are not stored.
    `passages` are what tools have found, in the order of their numbers; `texts` is the number of texts begun; `asked`
    are the ids of the calls that persons were asked about. `calling` are the calls that are about to be made, by their
    ids, and whether it does no harm to make them again; `answers` are those to the other calls of the last message."""

    state: AgentState
    memory: TurnMemory
    contents: Mapping[str, str]
    passages: tuple[SourcePassage, ...]
    texts: int
    asked: tuple[str, ...]
    calling: Mapping[str, bool] = field(default_factory=dict)
    answers: tuple[ToolMessage, ...] = ()


_CALLS = TypeAdapter(tuple[ModelCallUsage, ...])
_NOT_AS_IT_IS = frozenset({"meter", "items"})
_MEMORY = {name: TypeAdapter(kind) for name, kind in get_type_hints(TurnMemory).items() if name not in _NOT_AS_IT_IS}
_REST = {
    name: TypeAdapter(kind)
    for name, kind in get_type_hints(SuspendedAgent).items()
    if name not in ("state", "memory", "answers")
}


def write(suspended: SuspendedAgent) -> str:
    """Writes a suspended turn as JSON. Messages with images take long, so it is not to be called on the event loop."""
    state, memory = suspended.state, suspended.memory
    plain = {
        "version": _VERSION,
        "messages": messages_to_dict(state["messages"]),
        "answers": messages_to_dict(suspended.answers),
        "turns": state["turns"],
        "tool_calls": state["tool_calls"],
        "exit_reason": state["exit_reason"],
        "calls": _CALLS.dump_python(memory.meter.usage.calls, mode="json"),
        "memory": {name: form.dump_python(getattr(memory, name), mode="json") for name, form in _MEMORY.items()},
        **{name: form.dump_python(getattr(suspended, name), mode="json") for name, form in _REST.items()},
    }
    return json.dumps(plain, default=signature_text)


def read(text: str) -> SuspendedAgent:
    """Reads a suspended turn from JSON; takes as long as `write`. Raises SuspensionUnreadable."""
    try:
        plain = json.loads(text)
        if plain["version"] != _VERSION:
            raise SuspensionUnreadable(f"version {plain['version']} of the agent")
        rest = {name: form.validate_python(plain[name]) for name, form in _REST.items()}
        answers = cast("tuple[ToolMessage, ...]", tuple(map(_message, messages_from_dict(plain["answers"]))))
        return SuspendedAgent(_state(plain), _memory(plain), answers=answers, **rest)
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        # Without the error itself, which may quote the conversation: this text goes to the log.
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
    """The message with its artifact as a ServiceNote again, which JSON keeps as plain text."""
    if isinstance(message, ToolMessage) and isinstance(message.artifact, str):
        message.artifact = ServiceNote(message.artifact)
    read_message: AnyMessage = message
    return read_message


def _memory(plain: dict[str, Any]) -> TurnMemory:
    fields = {name: form.validate_python(plain["memory"][name]) for name, form in _MEMORY.items()}
    return TurnMemory(meter=UsageMeter(_CALLS.validate_python(plain["calls"])), **fields)


def signature_text(value: object) -> str:
    """Writes bytes as base64. Signatures of a model's thoughts may be bytes, and the clients of their providers accept
    base64 as well."""
    if isinstance(value, bytes):
        return b64encode(value).decode("ascii")
    raise TypeError(f"{type(value).__name__} cannot be stored")
