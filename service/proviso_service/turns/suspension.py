"""What is stored of a turn while it waits for a person, and its form as JSON."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from pydantic import TypeAdapter

from proviso_service.context.model import image_name
from proviso_service.turns.events import (
    ApprovalRequired,
    Citation,
    LoggedEvent,
    TextDiscarded,
    Token,
    ToolEnd,
    ToolStart,
    TurnStart,
)
from proviso_service.turns.program import AskedCall, TurnRequest
from proviso_service.turns.records import Decision

_VERSION = 1


_EVENTS: Mapping[str, TypeAdapter[Any]] = {
    "turn_start": TypeAdapter(TurnStart),
    "token": TypeAdapter(Token),
    "text_discarded": TypeAdapter(TextDiscarded),
    "tool_start": TypeAdapter(ToolStart),
    "tool_end": TypeAdapter(ToolEnd),
    "citation": TypeAdapter(Citation),
    "approval_required": TypeAdapter(ApprovalRequired),
}


_KINDS: Mapping[type, str] = {
    TurnStart: "turn_start",
    Token: "token",
    TextDiscarded: "text_discarded",
    ToolStart: "tool_start",
    ToolEnd: "tool_end",
    Citation: "citation",
    ApprovalRequired: "approval_required",
}


class SuspensionUnreadable(Exception):
    """A waiting turn cannot go on from what was stored of it, because that is of another version, is damaged, or needs
    something that is no longer there. The message says which. It goes to the log, so it quotes nothing of what was
    stored."""


@dataclass(frozen=True, slots=True)
class SuspendedTurn:
    """A turn that waits for a person, as it is stored.

    `state` is the program's own account of where it stands. `decisions` are those on `calls`, in the order of the
    calls; `earlier_decisions` are those on calls that the turn waited for before, by call id. `used_s` is how much of
    its time limit the turn has used, in seconds. `events` are all of the turn's events."""

    request: TurnRequest
    state: str
    calls: tuple[AskedCall, ...]
    decisions: tuple[Decision | None, ...]
    expire_time: datetime
    used_s: float
    earlier_decisions: Mapping[str, Decision] = field(default_factory=dict)
    events: tuple[LoggedEvent, ...] = ()

    @property
    def all_decisions(self) -> dict[str, Decision]:
        """Every decision that persons have made in this turn, by call id."""
        made = zip(self.calls, self.decisions, strict=True)
        return dict(self.earlier_decisions) | {call.call_id: decision for call, decision in made if decision}


_FORM = TypeAdapter(SuspendedTurn)


def suspended_to_json(turn: SuspendedTurn) -> str:
    """The JSON text of a suspended turn. This takes long where messages hold images, so it is not for the event loop.
    The stores write later decisions to `$.decisions[position]` of this text."""
    plain = _FORM.dump_python(replace(turn, request=_with_image_names(turn.request), events=()), mode="json")
    return json.dumps(plain | {"version": _VERSION, "events": [_plain(logged) for logged in turn.events]})


def _with_image_names(request: TurnRequest) -> TurnRequest:
    """The request with the names of its images in place of their URLs. The images are loaded already, and what gives
    access to them is not kept."""
    names = {url: image_name(url) for url in request.image_urls}
    selected = tuple(names.get(asset, asset) for asset in request.selected_assets)
    return replace(request, image_urls=tuple(names.values()), selected_assets=selected)


def suspended_from_json(text: str | None) -> SuspendedTurn:
    """The suspended turn of a JSON text. Raises SuspensionUnreadable."""
    try:
        plain = json.loads(text or "")
        if plain["version"] != _VERSION:
            raise SuspensionUnreadable(f"version {plain['version']}")
        events = tuple(_logged(sequence, stored) for sequence, stored in enumerate(plain["events"], 1))
        turn = replace(_FORM.validate_python(plain | {"events": ()}), events=events)
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        # Not the error itself, which may quote what was stored: this goes to the log.
        raise SuspensionUnreadable(f"damaged: {type(error).__name__}") from None
    if len(turn.decisions) != len(turn.calls):
        raise SuspensionUnreadable("damaged")
    return turn


def _plain(logged: LoggedEvent) -> dict[str, Any]:
    kind = _KINDS[type(logged.event)]
    return {"kind": kind, "time_s": logged.emit_time_s, "event": _EVENTS[kind].dump_python(logged.event, mode="json")}


def _logged(sequence: int, stored: dict[str, Any]) -> LoggedEvent:
    event = _EVENTS[stored["kind"]].validate_python(stored["event"])
    return LoggedEvent(sequence, sequence, stored["time_s"], event)
