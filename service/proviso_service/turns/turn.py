"""The readers of turns: how they follow a log, what becomes of a turn that nobody reads, and how long logs are kept."""

import asyncio
import time
from collections import deque
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from proviso_service.errors import Draining, InvalidRequest
from proviso_service.identity import Caller
from proviso_service.turns.events import Heartbeat, LoggedEvent, Token
from proviso_service.turns.log import TurnLog
from proviso_service.turns.program import OnDisconnect
from proviso_service.turns.records import Decision

JOINED_MAX_CHARS = 65_536
"""Code points of text in one joined token event: 256 KiB of UTF-8 at most, well below the size of a gRPC message."""


def check_position(log: TurnLog, after_sequence: int) -> None:
    """Raises InvalidRequest unless `after_sequence` is 0 or the sequence of an event of this turn."""
    if not 0 <= after_sequence <= log.last_sequence:
        raise InvalidRequest.of(
            "after_sequence", f"must be from 0 to {log.last_sequence}, the turn's last sequence so far"
        )


async def follow(
    log: TurnLog, after_sequence: int, heartbeat_s: float, token_interval_s: float
) -> AsyncGenerator[LoggedEvent | Heartbeat, None]:
    """Every event after `after_sequence` once and in order, up to and including the final state, and a heartbeat
    after each `heartbeat_s` of silence. Nothing after the final state's own sequence. Raises Draining at the end of a
    log that is cut.

    A message costs the service many times what a token costs it, so tokens that come faster than one in
    `token_interval_s` come together in one event; nobody waits for the first, and no other event waits."""
    loop = asyncio.get_running_loop()
    next_tokens_at = loop.time()
    while not (log.final_state is not None and after_sequence == log.last_sequence):
        if not await log.wait(after_sequence, heartbeat_s):
            yield Heartbeat(time.time())
            continue
        if (early_s := next_tokens_at - loop.time()) > 0:
            await log.gather(after_sequence, early_s)
        logged = log.take(after_sequence, JOINED_MAX_CHARS)
        if logged is None and log.is_cut:
            raise Draining
        if logged is not None:
            yield logged
            after_sequence = logged.sequence
            if type(logged.event) is Token:
                next_tokens_at = loop.time() + token_interval_s


class ConnectedReaders:
    """Counts the readers and waiters of a turn and calls `abandon` when `on_disconnect` wants it ended.

    GRACE allows `grace_s` with nobody attached, counted from the turn's start too. CANCEL ends a turn when the
    last reader leaves; one that nobody has read yet gets the same grace, since its reader may be on its way."""

    def __init__(self, on_disconnect: OnDisconnect, grace_s: float, abandon: Callable[[], object]) -> None:
        self._on_disconnect = on_disconnect
        self._grace_s = grace_s
        self._abandon: Callable[[], object] | None = abandon
        self._attached = 0
        self._paused = False
        self._timer: asyncio.TimerHandle | None = None

    def open(self) -> None:
        """The turn has started, or goes on after a pause."""
        self._paused = False
        if self._attached == 0 and self._on_disconnect is not OnDisconnect.CONTINUE:
            self._start_grace()

    def pause(self) -> None:
        """The turn waits for a person: it may be left alone until it is opened again."""
        self._paused = True
        self._stop_grace()

    def close(self) -> None:
        """The turn has ended: who comes and goes no longer matters."""
        self._stop_grace()
        self._abandon = None

    @contextmanager
    def attached(self) -> Iterator[None]:
        """Counts somebody as attached."""
        self._attached += 1
        self._stop_grace()
        try:
            yield
        finally:
            self._attached -= 1
            if self._attached == 0:
                self._left_alone()

    def _left_alone(self) -> None:
        if self._abandon is None or self._paused:
            return
        if self._on_disconnect is OnDisconnect.CANCEL:
            self._abandon()
        elif self._on_disconnect is OnDisconnect.GRACE:
            self._start_grace()

    def _start_grace(self) -> None:
        self._stop_grace()
        if self._abandon is not None:
            self._timer = asyncio.get_running_loop().call_later(self._grace_s, self._abandon)

    def _stop_grace(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


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


class Retention:
    """Keeps ended turns for `ttl_s` and within `max_bytes` in all; calls `drop` with the id of each that has to go, the
    earliest ended first."""

    def __init__(self, ttl_s: float, max_bytes: int, drop: Callable[[str], object]) -> None:
        self._ttl_s = ttl_s
        self._max_bytes = max_bytes
        self._drop = drop
        self._kept: deque[tuple[float, str, int]] = deque()
        self._bytes = 0
        self._timer: asyncio.TimerHandle | None = None

    def keep(self, turn_id: str, size_bytes: int) -> None:
        """Takes charge of a turn that has just ended."""
        self._kept.append((asyncio.get_running_loop().time() + self._ttl_s, turn_id, size_bytes))
        self._bytes += size_bytes
        while self._bytes > self._max_bytes and len(self._kept) > 1:
            self._drop_earliest()
        self._arm()

    def close(self) -> None:
        """Drops everything."""
        while self._kept:
            self._drop_earliest()
        self._arm()

    def _sweep(self) -> None:
        now = asyncio.get_running_loop().time()
        while self._kept and self._kept[0][0] <= now:
            self._drop_earliest()
        self._arm()

    def _drop_earliest(self) -> None:
        _, turn_id, size_bytes = self._kept.popleft()
        self._bytes -= size_bytes
        self._drop(turn_id)

    def _arm(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = asyncio.get_running_loop().call_at(self._kept[0][0], self._sweep) if self._kept else None
