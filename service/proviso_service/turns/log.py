"""The log of a turn: its events in order, numbered from 1, the last of them the final state.

The turn belongs to its log and not to a call: the runner appends, and any number of readers follow the log, each with
its own position, which is the last sequence that it has seen. A log on another medium than memory can keep `take`
synchronous by fetching ahead in `wait`. A reader then suspends only when it has nothing to send.
"""

import time
from array import array
from collections.abc import Callable, Sequence
from typing import Protocol

from proviso_service.context.model import RequestContext
from proviso_service.errors import FailureCause
from proviso_service.turns.events import (
    CALL_UNFINISHED,
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
from proviso_service.turns.waiters import Waiters


class TurnLogFull(Exception):
    """The log has reached its limit of events or bytes."""


class TurnLogSealed(Exception):
    """The turn takes no more events: something tried to emit one after the program had returned."""


class TurnLog(Protocol):
    """The events of one turn. It is used from the event loop's thread only."""

    @property
    def last_sequence(self) -> int:
        """The sequence of the last event; 0 when there is none."""
        ...

    @property
    def final_state(self) -> FinalState | None:
        """The last event of a turn that has ended; None before that."""
        ...

    @property
    def overflowed(self) -> bool:
        """Whether an event was refused because the log was full."""
        ...

    @property
    def held_bytes(self) -> int:
        """Roughly how many bytes of memory the events take."""
        ...

    @property
    def is_handed_over(self) -> bool:
        """Whether the turn goes on in the next process, so that nothing more is logged here."""
        ...

    def history(self) -> tuple[LoggedEvent, ...]:
        """All events so far, tokens not joined."""
        ...

    def append(self, event: Event) -> int:
        """Adds any event but a final state and returns its sequence. Raises TurnLogFull at the limit and for every
        event after that, and TurnLogSealed after `seal`."""
        ...

    def close_calls(self) -> None:
        """Adds, whatever the limits, the end of every tool call that has begun and not ended, because its turn is cut
        short."""
        ...

    def seal(self) -> None:
        """Refuses all further events but the final state, so that the final state's sequence is known before it is
        written."""
        ...

    def end(self, final_state: FinalState) -> int:
        """Adds the final state, whatever the limits, and returns its sequence. Raises TurnLogSealed when there is one
        already."""
        ...

    def hand_over(self) -> None:
        """Wakes every reader: what follows is not logged here."""
        ...

    def take(self, after: int, max_chars: int) -> LoggedEvent | None:
        """The next event after sequence `after`; None when there is none yet. Waiting tokens of one text come joined,
        up to `max_chars` code points; a single token that is longer comes whole. Other events come unchanged."""
        ...

    async def wait(self, after: int, timeout_s: float) -> bool:
        """Waits until there is an event after sequence `after`, or the turn was handed over. Returns False when neither
        has happened for `timeout_s` seconds."""
        ...

    async def gather(self, after: int, timeout_s: float) -> None:
        """Waits so that tokens can be joined. Returns after `timeout_s` seconds, or as soon as an event that is no
        token follows sequence `after`."""
        ...


_EVENT_OVERHEAD_BYTES = 200
_ITEM_BYTES = 100
"""An item of a request context, without what all requests share of it."""

LOST_TEXT = "text-0"
"""The text of the empty token that stands for the sequences whose events are lost. No model call writes it."""

_APPENDED = (TurnStart, Token, TextDiscarded, ToolStart, ToolEnd, Citation, ApprovalRequired)


class MemoryTurnLog:
    """A TurnLog in the memory of this process, limited by the number of its events and by the UTF-8 bytes of their
    text."""

    __slots__ = (
        "_clock",
        "_events",
        "_final_state",
        "_handed_over",
        "_last_other",
        "_lost",
        "_max_bytes",
        "_max_events",
        "_on_event",
        "_open_calls",
        "_others_waiters",
        "_overflowed",
        "_sealed",
        "_skipped",
        "_spans",
        "_text_bytes",
        "_times",
        "_waiters",
    )

    def __init__(
        self,
        max_events: int,
        max_bytes: int,
        clock: Callable[[], float] = time.time,
        events: Sequence[LoggedEvent] = (),
        lost: int = 0,
    ) -> None:
        """The log begins with `events`, which come from the `history` of an earlier log. After them, so many sequences
        are `lost`: readers of the earlier log may have had events under them that nobody has any more. One empty token
        of LOST_TEXT takes these sequences, since only tokens say which they cover; where there are no `events`, it
        comes after the first one, which is the same in both logs."""
        self._max_events = max_events
        self._max_bytes = max_bytes
        self._clock = clock
        self._events: list[Event] = []
        self._times = array("d")
        self._text_bytes = 0
        self._sealed = False
        self._overflowed = False
        self._final_state: FinalState | None = None
        self._waiters = Waiters()
        self._last_other = 0
        self._others_waiters = Waiters()
        self._handed_over = False
        self._open_calls: dict[str, tuple[ToolStart, float]] = {}
        self._on_event: Callable[[], object] | None = None
        self._spans: list[tuple[int, int, int]] = []  # of events with several sequences: place, first and last sequence
        self._skipped = 0  # how many more sequences than events there are
        self._lost = 0
        for logged in events:
            self.copy(logged)
        if events and lost:
            self._lose(self.last_sequence + lost)
        else:
            self._lost = lost

    @property
    def last_sequence(self) -> int:
        return len(self._events) + self._skipped if self._events else self._lost

    @property
    def final_state(self) -> FinalState | None:
        return self._final_state

    @property
    def overflowed(self) -> bool:
        return self._overflowed

    @property
    def held_bytes(self) -> int:
        return self._text_bytes + _EVENT_OVERHEAD_BYTES * len(self._events)

    @property
    def is_handed_over(self) -> bool:
        return self._handed_over

    def history(self) -> tuple[LoggedEvent, ...]:
        return tuple(self.since(0, len(self._events)))

    def since(self, after: int, most: int) -> list[LoggedEvent]:
        """The events after sequence `after`, at most so many of them, tokens not joined."""
        place = self._place_after(after)
        found = zip(self._events[place : place + most], self._times[place : place + most], strict=True)
        if not self._spans:
            return [LoggedEvent(sequence, sequence, at, event) for sequence, (event, at) in enumerate(found, after + 1)]
        spans = ((*self._span(number), at, event) for number, (event, at) in enumerate(found, place))
        return [LoggedEvent(max(first, after + 1), last, at, event) for first, last, at, event in spans]

    def tell(self, on_event: Callable[[], object]) -> None:
        """Calls `on_event` after each event from now on."""
        self._on_event = on_event

    def copy(self, logged: LoggedEvent) -> None:
        """Adds the next event of another log of the same turn, whatever the limits."""
        if type(logged.event) is FinalState:
            self._close(logged.event, logged.emit_time_s)
        elif logged.first_sequence < logged.sequence:
            self._lose(logged.sequence, logged.emit_time_s)
        else:
            self._add(logged.event, _size(logged.event), logged.emit_time_s)

    def append(self, event: Event) -> int:
        if self._sealed:
            raise TurnLogSealed
        if type(event) is not Token and not isinstance(event, _APPENDED):
            raise TypeError(f"{type(event).__name__} is not an event that a program emits")
        size = _size(event)
        if self._overflowed or len(self._events) >= self._max_events or self._text_bytes + size > self._max_bytes:
            self._overflowed = True
            raise TurnLogFull
        return self._add(event, size, self._clock())

    def close_calls(self) -> None:
        now = self._clock()
        for call, began in tuple(self._open_calls.values()):
            event = ToolEnd(
                call.call_id,
                call.tool,
                "",
                "",
                False,
                CALL_UNFINISHED,
                max(0.0, now - began),
                cause=FailureCause.CANCELLED,
            )
            self._add(event, _text_bytes(event), now)

    def seal(self) -> None:
        self._sealed = True

    def end(self, final_state: FinalState) -> int:
        if self._final_state is not None:
            raise TurnLogSealed
        return self._close(final_state, self._clock())

    def hand_over(self) -> None:
        self._handed_over = True
        self._waiters.close()
        self._others_waiters.close()

    def take(self, after: int, max_chars: int) -> LoggedEvent | None:
        events = self._events
        place = self._place_after(after)
        if place >= len(events):
            return None
        event = events[place]
        if type(event) is Token and place + 1 < len(events):
            event, place = self._joined(event, place, max_chars)
        last = self._span(place)[1] if self._spans else place + 1
        return LoggedEvent(after + 1, last, self._times[place], event)

    async def wait(self, after: int, timeout_s: float) -> bool:
        if self._place_after(after) < len(self._events) or self._handed_over:
            return True
        return await self._waiters.wait(timeout_s)

    async def gather(self, after: int, timeout_s: float) -> None:
        if after >= self._last_other:
            await self._others_waiters.wait(timeout_s)

    def _close(self, final_state: FinalState, time_s: float) -> int:
        self._sealed = True
        if lost := self._lost:  # no event came before this one
            self._lost = 0
            self._lose(lost)
        self._final_state = final_state
        sequence = self._add(final_state, _text_bytes(final_state), time_s)
        self._waiters.close()
        self._others_waiters.close()
        return sequence

    def _add(self, event: Event, size: int, time_s: float) -> int:
        self._events.append(event)
        self._times.append(time_s)
        self._text_bytes += size
        if lost := self._lost:
            self._lost = 0
            self._lose(lost)
        self._waiters.wake()
        if type(event) is not Token:
            if type(event) is ToolStart:
                self._open_calls[event.call_id] = event, time_s
            elif type(event) is ToolEnd:
                self._open_calls.pop(event.call_id, None)
            self._last_other = len(self._events) + self._skipped
            self._others_waiters.wake()
        if self._on_event is not None:
            self._on_event()
        return len(self._events) + self._skipped

    def _lose(self, last: int, time_s: float | None = None) -> None:
        """Adds the event that takes the next sequences up to `last`, if there are any."""
        first = len(self._events) + self._skipped + 1
        if last >= first:
            self._spans.append((len(self._events), first, last))
            self._skipped += last - first
            self._add(Token(LOST_TEXT, ""), 0, self._clock() if time_s is None else time_s)

    def _place_after(self, after: int) -> int:
        """The place of the first event that has a sequence after `after`."""
        for place, first, last in reversed(self._spans):
            if after >= last:
                return place + 1 + after - last
            if after >= first - 1:
                return place
        return after

    def _span(self, place: int) -> tuple[int, int]:
        """The first and the last sequence of the event at a place."""
        for at, first, last in reversed(self._spans):
            if place == at:
                return first, last
            if place > at:
                return last + place - at, last + place - at
        return place + 1, place + 1

    def _joined(self, first: Token, place: int, max_chars: int) -> tuple[Token, int]:
        """`first`, which is at `place`, joined with the tokens of the same text that follow it, and the place of the
        last of them."""
        texts = [first.text]
        chars = len(first.text)
        while place + 1 < len(self._events):
            event = self._events[place + 1]
            if type(event) is not Token or event.text_id != first.text_id:
                break
            chars += len(event.text)
            if chars > max_chars:
                break
            texts.append(event.text)
            place += 1
        return (first if len(texts) == 1 else Token(first.text_id, "".join(texts))), place


def _size(event: Event) -> int:
    """What an event counts towards the limit, in bytes. The id of a token's text is not counted, since all tokens share
    it."""
    return _utf8_bytes(event.text) if type(event) is Token else _text_bytes(event)


def _utf8_bytes(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


def _text_bytes(event: Event) -> int:
    """The UTF-8 bytes of the text in an event. What a final state has beside a few texts that are long is listed here:
    looking at each of its fields took 5 % of the event loop's time."""
    if isinstance(event, FinalState):
        said = [event.message, *[one.content for one in event.messages], *[one.content for one in event.history]]
        parts = (*event.citations, *event.tool_call_records)
        return _utf8_bytes("".join(said)) + sum(map(_own_bytes, parts)) + _context_bytes(event.request_context)
    if isinstance(event, TurnStart):
        return _context_bytes(event.request_context)
    return _own_bytes(event)


def _own_bytes(value: object) -> int:
    """The UTF-8 bytes of a dataclass's own texts."""
    names: tuple[str, ...] = getattr(type(value), "__slots__", ())
    return sum(_utf8_bytes(text) for name in names if isinstance(text := getattr(value, name), str))


def _context_bytes(context: RequestContext | None) -> int:
    """A request context counts by the number of its items, since all requests share their texts."""
    if context is None:
        return 0
    items = _ITEM_BYTES * (len(context.items) + len(context.omitted))
    return items + sum(map(_own_bytes, context.assets))
