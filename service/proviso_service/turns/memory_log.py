"""A turn's log in the memory of this process."""

import time
from array import array
from collections.abc import Callable, Sequence
from typing import Any

from proviso_service.context.model import RequestContext
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
from proviso_service.turns.log import TurnLogFull, TurnLogSealed
from proviso_service.turns.waiters import Waiters

_EVENT_OVERHEAD_BYTES = 200
_APPENDED = (TurnStart, Token, TextDiscarded, ToolStart, ToolEnd, Citation, ApprovalRequired)


class MemoryTurnLog:
    """A TurnLog that is bounded by the number of its events and by the UTF-8 bytes of their text."""

    __slots__ = (
        "_clock",
        "_events",
        "_final_state",
        "_is_cut",
        "_last_other",
        "_max_bytes",
        "_max_events",
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
        """Begins with `events`, as `history` gave them."""
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
        self._is_cut = False
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
    def is_cut(self) -> bool:
        return self._is_cut

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

    def cut(self) -> None:
        self._is_cut = True
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
        if after < len(self._events) or self._is_cut:
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
            self._last_other = len(self._events)
            self._others_waiters.wake()
        return len(self._events)

    def _joined(self, first: Token, sequence: int, max_chars: int) -> tuple[Token, int]:
        """`first` with the tokens of its text that follow `sequence`, and the sequence of the last one."""
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
    """Of a token, what is not the same in all of its text."""
    return _utf8_bytes(event.text) if type(event) is Token else _text_bytes(event)


def _utf8_bytes(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


def _text_bytes(event: Any) -> int:
    """UTF-8 bytes of all text in an event, however deep. A request context counts once: the final state and its last
    message share one."""
    total, left, contexts = 0, [event], set[int]()
    while left:
        value = left.pop()
        if isinstance(value, str):
            total += _utf8_bytes(value)
        elif isinstance(value, tuple):
            left += value
        elif not isinstance(value, RequestContext) or id(value) not in contexts:
            if isinstance(value, RequestContext):
                contexts.add(id(value))
            # Events are dataclasses with slots, whose names are at hand; `dataclasses.fields` takes longer than reading
            # them.
            names: tuple[str, ...] = getattr(type(value), "__slots__", ())
            left += [getattr(value, name) for name in names]
    return total
