"""The events of a turn as JSON, for the store and for other processes."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import TypeAdapter

from proviso_service.turns.events import (
    ApprovalRequired,
    Citation,
    Event,
    FinalState,
    LoggedEvent,
    TextDiscarded,
    Token,
    ToolEnd,
    ToolStart,
    TurnStart,
)

_KINDS: Mapping[type, str] = {
    TurnStart: "turn_start",
    Token: "token",
    TextDiscarded: "text_discarded",
    ToolStart: "tool_start",
    ToolEnd: "tool_end",
    Citation: "citation",
    ApprovalRequired: "approval_required",
    FinalState: "final_state",
}

_FORMS: Mapping[str, TypeAdapter[Any]] = {kind: TypeAdapter(event) for event, kind in _KINDS.items()}


def plain_event(event: Event) -> tuple[str, Any]:
    """The kind of an event and its fields in values that JSON has."""
    kind = _KINDS[type(event)]
    return kind, _FORMS[kind].dump_python(event, mode="json")


def event_of(kind: str, plain: Any) -> Event:
    """The event that `plain_event` made this of. Raises KeyError and ValueError for anything else."""
    event: Event = _FORMS[kind].validate_python(plain)
    return event


def events_to_json(events: Sequence[LoggedEvent]) -> str:
    """The JSON text of successive events, none of them joined but those that are lost. The tokens of one text are
    written together: they are most of all events, and each of them is short."""
    parts: list[Any] = []
    texts: list[str] = []
    text_id = None
    for logged in events:
        event = logged.event
        if type(event) is Token and logged.first_sequence < logged.sequence:
            text_id = None
            parts.append((logged.emit_time_s, event.text_id, logged.sequence - logged.first_sequence + 1))
        elif type(event) is not Token:
            text_id = None
            parts.append((logged.emit_time_s, *plain_event(event)))
        elif event.text_id == text_id:
            texts.append(event.text)
        else:
            text_id, texts = event.text_id, [event.text]
            parts.append((logged.emit_time_s, text_id, texts))
    return json.dumps(parts)


def events_from_json(text: str | bytes, last_sequence: int) -> list[LoggedEvent]:
    """The events that `events_to_json` wrote; `last_sequence` is that of the last of them. Tokens that were written
    together have the time of the first. Raises KeyError, TypeError and ValueError for any other text."""
    timed: list[tuple[float, Event, int]] = []
    for time_s, key, plain in json.loads(text):
        if type(plain) is list:
            timed += [(time_s, Token(key, token), 1) for token in plain]
        elif type(plain) is int:  # an empty token that takes so many sequences
            timed.append((time_s, Token(key, ""), plain))
        else:
            timed.append((time_s, event_of(key, plain), 1))
    found, sequence = [], last_sequence - sum(count for _, _, count in timed)
    for time_s, event, count in timed:
        found.append(LoggedEvent(sequence + 1, sequence + count, time_s, event))
        sequence += count
    return found
