"""The log of a turn: its events in order, numbered from 1, the last of them the final state.

The turn belongs to its log, not to a call: the runner appends, and any number of readers follow it with a cursor
of their own, the last sequence they have seen. A log on another medium than memory keeps `take` synchronous by
fetching ahead in `wait`, so that a reader pays for suspension only when it has nothing to send.
"""

from typing import Protocol

from proviso_service.turns.events import Event, FinalState, LoggedEvent


class TurnLogFull(Exception):
    """The log has reached its bound of events or bytes."""


class TurnLogSealed(Exception):
    """The turn takes no more events: something went on emitting after the program had returned."""


class TurnLog(Protocol):
    """Events of one turn. Used from the event loop's thread only."""

    @property
    def last_sequence(self) -> int:
        """Sequence of the last event, 0 when there is none."""
        ...

    @property
    def final_state(self) -> FinalState | None:
        """The last event of an ended turn, None before."""
        ...

    @property
    def overflowed(self) -> bool:
        """Whether an event was refused because the log was full."""
        ...

    @property
    def held_bytes(self) -> int:
        """Roughly the memory that the events take."""
        ...

    @property
    def is_cut(self) -> bool:
        """Whether the turn goes on elsewhere."""
        ...

    def history(self) -> tuple[LoggedEvent, ...]:
        """All events so far, each on its own."""
        ...

    def append(self, event: Event) -> int:
        """Adds any event but a final state and returns its sequence. Raises TurnLogFull at the bound, from then on
        for every event, and TurnLogSealed after `seal`."""
        ...

    def seal(self) -> None:
        """Refuses all further events but the final state, so that its sequence is known before it is written."""
        ...

    def end(self, final_state: FinalState) -> int:
        """Adds the last event, whatever the bounds, and returns its sequence. Raises TurnLogSealed when there is
        one already."""
        ...

    def cut(self) -> None:
        """Wakes everybody: what follows is not logged here."""
        ...

    def take(self, after: int, max_chars: int) -> LoggedEvent | None:
        """The next event after sequence `after`, None when there is none yet. Waiting tokens of one text come joined,
        up to `max_chars` code points (a single longer token comes whole); other events come as they are."""
        ...

    async def wait(self, after: int, timeout_s: float) -> bool:
        """Waits until there is an event after sequence `after`, or the log is cut; False when there was neither for
        `timeout_s`."""
        ...

    async def gather(self, after: int, timeout_s: float) -> None:
        """Lets tokens come together: returns after `timeout_s`, or as soon as something other than a token lies after
        sequence `after`."""
        ...
