"""A turn that runs or has run in this process, its limits, and the clock of its time limit."""

import asyncio
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from proviso_service.identity import Caller
from proviso_service.turns.log import TurnLog
from proviso_service.turns.readers import ConnectedReaders
from proviso_service.turns.records import Decision


@dataclass(frozen=True, slots=True)
class TurnLimits:
    """Time limits in seconds: of the program, of its clean-up after an interruption, of a call of the store; how long
    the lease on a new turn holds; and how long a turn waits for a person's decisions."""

    program_s: float
    unwind_s: float
    store_s: float
    lease_s: float
    approval_s: float


@dataclass(frozen=True, slots=True)
class Turn:
    """What readers need of a turn; outlives its runner. `decisions` are those that persons made on its calls. `ended`
    is set once the log holds the final state, or is cut because the turn goes on elsewhere."""

    turn_id: str
    caller: Caller
    log: TurnLog
    attendance: ConnectedReaders
    decisions: dict[str, Decision] = field(default_factory=dict)
    ended: asyncio.Event = field(default_factory=asyncio.Event)


class TurnClock:
    """Stands still while the turn waits for a person. Runs from its making on, unless `used_s` say that the turn has
    run before: then it stands still until it is started."""

    def __init__(self, limit_s: float, used_s: float | None = None) -> None:
        self._limit_s = limit_s
        self._used_s = used_s or 0.0
        self._since = time.monotonic() if used_s is None else None

    @property
    def used_s(self) -> float:
        running_s = 0.0 if self._since is None else time.monotonic() - self._since
        return self._used_s + running_s

    @property
    def left_s(self) -> float:
        return max(0.0, self._limit_s - self.used_s)

    def start(self) -> None:
        self._since = time.monotonic()

    @contextmanager
    def stopped(self) -> Iterator[None]:
        self._used_s, self._since = self.used_s, None
        try:
            yield
        finally:
            self.start()
