"""The log of a turn: its events in order, numbered from 1, the last of them the final state.

The turn belongs to its log and not to a call: the runner appends, and any number of readers follow the log, each with
its own position, which is the last sequence that it has seen. A log on another medium than memory can keep `take`
synchronous by fetching ahead in `wait`. A reader then suspends only when it has nothing to send.
"""

import asyncio
import time
from array import array
from collections.abc import Callable, Sequence
from typing import Any, Protocol

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
from proviso_service.turns.sessions import ChatMessage


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


class Waiters:
    """Wakes everyone who waits for the next event, all at once at the event, or each one when its time is over.

    A timer for each wait would cost as much as the rest of an event's way to its reader. There is therefore one alarm
    for all. It is not moved when someone comes or goes: when it rings, it looks at who is still waiting and whose time
    is over."""

    __slots__ = ("_alarm", "_due")

    def __init__(self) -> None:
        self._due: dict[asyncio.Future[bool], float] = {}
        self._alarm: asyncio.TimerHandle | None = None

    async def wait(self, timeout_s: float) -> bool:
        """Returns True at the next `wake`, and False when there was none for `timeout_s` seconds."""
        loop = asyncio.get_running_loop()
        waiter: asyncio.Future[bool] = loop.create_future()
        due = self._due[waiter] = loop.time() + timeout_s
        if self._alarm is None or due < self._alarm.when():
            self._set_alarm(due)
        try:
            return await waiter
        finally:
            self._due.pop(waiter, None)

    def wake(self) -> None:
        """Wakes everyone who waits."""
        if self._due:
            for waiter in self._due:
                _settle(waiter, True)
            self._due.clear()

    def close(self) -> None:
        """Wakes everyone who waits and stops the alarm. Nobody may wait afterwards."""
        self.wake()
        self._set_alarm(None)

    def _ring(self) -> None:
        now = asyncio.get_running_loop().time()
        for waiter, due in self._due.items():
            if due <= now:
                _settle(waiter, False)
        self._set_alarm(min((due for due in self._due.values() if due > now), default=None))

    def _set_alarm(self, due: float | None) -> None:
        if self._alarm is not None:
            self._alarm.cancel()
        self._alarm = None if due is None else asyncio.get_running_loop().call_at(due, self._ring)


def _settle(waiter: asyncio.Future[bool], woken: bool) -> None:
    if not waiter.done():
        waiter.set_result(woken)


_EVENT_OVERHEAD_BYTES = 200
_ITEM_BYTES = 100
"""An item of a request context, without what all requests share of it."""

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
        "_max_bytes",
        "_max_events",
        "_open_calls",
        "_others_waiters",
        "_overflowed",
        "_sealed",
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
    ) -> None:
        """The log begins with `events`, which come from the `history` of an earlier log."""
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
        for logged in events:
            self._add(logged.event, _size(logged.event), logged.emit_time_s)

    @property
    def last_sequence(self) -> int:
        return len(self._events)

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
        times = zip(self._events, self._times, strict=True)
        return tuple(LoggedEvent(sequence, sequence, at, event) for sequence, (event, at) in enumerate(times, 1))

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
        self._sealed = True
        self._final_state = final_state
        sequence = self._add(final_state, _text_bytes(final_state), self._clock())
        self._waiters.close()
        self._others_waiters.close()
        return sequence

    def hand_over(self) -> None:
        self._handed_over = True
        self._waiters.close()
        self._others_waiters.close()

    def take(self, after: int, max_chars: int) -> LoggedEvent | None:
        events = self._events
        if after >= len(events):
            return None
        event = events[after]
        sequence = after + 1
        if type(event) is Token and sequence < len(events):
            event, sequence = self._joined(event, sequence, max_chars)
        return LoggedEvent(after + 1, sequence, self._times[sequence - 1], event)

    async def wait(self, after: int, timeout_s: float) -> bool:
        if after < len(self._events) or self._handed_over:
            return True
        return await self._waiters.wait(timeout_s)

    async def gather(self, after: int, timeout_s: float) -> None:
        if after >= self._last_other:
            await self._others_waiters.wait(timeout_s)

    def _add(self, event: Event, size: int, time_s: float) -> int:
        self._events.append(event)
        self._times.append(time_s)
        self._text_bytes += size
        self._waiters.wake()
        if type(event) is not Token:
            if type(event) is ToolStart:
                self._open_calls[event.call_id] = event, time_s
            elif type(event) is ToolEnd:
                self._open_calls.pop(event.call_id, None)
            self._last_other = len(self._events)
            self._others_waiters.wake()
        return len(self._events)

    def _joined(self, first: Token, sequence: int, max_chars: int) -> tuple[Token, int]:
        """`first`, joined with the tokens of the same text that follow `sequence`, and the sequence of the last of
        them."""
        texts = [first.text]
        chars = len(first.text)
        while sequence < len(self._events):
            event = self._events[sequence]
            if type(event) is not Token or event.text_id != first.text_id:
                break
            chars += len(event.text)
            if chars > max_chars:
                break
            texts.append(event.text)
            sequence += 1
        return (first if len(texts) == 1 else Token(first.text_id, "".join(texts))), sequence


def _size(event: Event) -> int:
    """What an event counts towards the limit, in bytes. The id of a token's text is not counted, since all tokens share
    it."""
    return _utf8_bytes(event.text) if type(event) is Token else _text_bytes(event)


def _utf8_bytes(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


def _text_bytes(event: Any) -> int:
    """The UTF-8 bytes of all text in an event, however deeply nested. A request context counts once, because the final
    state and its last message share one, and its items by their number. Messages of the conversation and items of the
    context are most of what an event has: looking at each of their fields took 7 % of the loop's time."""
    total, left, contexts = 0, [event], set[int]()
    while left:
        value = left.pop()
        if isinstance(value, str):
            total += _utf8_bytes(value)
        elif isinstance(value, tuple):
            left += value
        elif value is None or isinstance(value, int | float):
            continue  # These are many, and looking for their fields would take half of the time.
        elif isinstance(value, RequestContext):
            if id(value) not in contexts:
                contexts.add(id(value))
                total += _ITEM_BYTES * (len(value.items) + len(value.omitted))
                left += value.assets
        elif isinstance(value, ChatMessage):
            total += _utf8_bytes(value.content)
            left += (value.request_context, value.turn)
        else:
            # Events are dataclasses with slots. `dataclasses.fields` would take longer than reading the values.
            names: tuple[str, ...] = getattr(type(value), "__slots__", ())
            left += [getattr(value, name) for name in names]
    return total
