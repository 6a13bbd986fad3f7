"""What is stored of a turn that has not ended, so that another process can go on with it, and its form as JSON."""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Self

from pydantic import TypeAdapter

from proviso_service.context.model import image_name
from proviso_service.turns.event_json import event_of, plain_event
from proviso_service.turns.events import LoggedEvent
from proviso_service.turns.program import AskedCall, TurnRequest
from proviso_service.turns.records import Decision

_VERSION = 1


class SuspensionUnreadable(Exception):
    """A turn cannot go on from what was stored of it, because that is of another version, is damaged, or needs
    something that is no longer there. The message says which. It goes to the log, so it quotes nothing of what was
    stored."""


@dataclass(frozen=True, slots=True)
class SuspendedTurn:
    """What another process goes on from, as it is stored.

    `state` is the program's own account of where it stands, empty where it has to begin anew. `calls` are those that
    the turn waited for last, `decisions` are those on them, in their order, and `expire_time` is how long it waits;
    `earlier_decisions` are those on calls that it waited for before, by call id. `used_s` is how much of its time limit
    the turn has used, in seconds. `events` are all of the turn's events up to here."""

    request: TurnRequest
    state: str = ""
    calls: tuple[AskedCall, ...] = ()
    decisions: tuple[Decision | None, ...] = ()
    expire_time: datetime | None = None
    used_s: float = 0.0
    earlier_decisions: Mapping[str, Decision] = field(default_factory=dict)
    events: tuple[LoggedEvent, ...] = ()

    @classmethod
    def at_start(cls, request: TurnRequest) -> Self:
        """A turn that has done nothing yet."""
        return cls(request)

    @property
    def all_decisions(self) -> dict[str, Decision]:
        """Every decision that persons have made in this turn, by call id."""
        made = zip(self.calls, self.decisions, strict=True)
        return dict(self.earlier_decisions) | {call.call_id: decision for call, decision in made if decision}


_FORM = TypeAdapter(SuspendedTurn)


def suspended_to_json(turn: SuspendedTurn) -> str:
    """The JSON text of a turn. This takes long where messages hold images, so it is not for the event loop, except for
    one that is at its start. The stores write later decisions to `$.decisions[position]` of this text."""
    if turn.request.image_urls:
        turn = replace(turn, request=_with_image_names(turn.request))
    text = _FORM.dump_json(replace(turn, events=()), exclude_defaults=True).decode()
    events = json.dumps([_plain(logged) for logged in turn.events])
    return f'{text[:-1]}, "version": {_VERSION}, "events": {events}}}'


def question_of(text: str | None) -> str:
    """The message of the turn that a JSON text is of; empty where the text cannot be read."""
    try:
        return str(json.loads(text or "")["request"]["message"])
    except (ValueError, KeyError, TypeError, RecursionError):
        return ""


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
        events = tuple(_logged(plain["events"]))
        turn = replace(_FORM.validate_python(plain | {"events": ()}), events=events)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        # Not the error itself, which may quote what was stored: this goes to the log.
        raise SuspensionUnreadable(f"damaged: {type(error).__name__}") from None
    if len(turn.decisions) != len(turn.calls) or (turn.calls and turn.expire_time is None):
        raise SuspensionUnreadable("damaged")
    return turn


def _plain(logged: LoggedEvent) -> dict[str, Any]:
    kind, plain = plain_event(logged.event)
    span = {} if logged.first_sequence == logged.sequence else {"sequence": logged.sequence}
    return {"kind": kind, "time_s": logged.emit_time_s, "event": plain} | span


def _logged(stored: Iterable[dict[str, Any]]) -> Iterator[LoggedEvent]:
    sequence = 0
    for one in stored:
        first, sequence = sequence + 1, one.get("sequence", sequence + 1)
        yield LoggedEvent(first, sequence, one["time_s"], event_of(one["kind"], one["event"]))
