"""A turn as its readers know it: how they follow its log, what happens when nobody reads it, and how long the log is
kept."""

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
"""The most code points of text in one joined token event: at most 256 KiB of UTF-8, well below the size of a gRPC
message."""


def check_position(last_sequence: int, after_sequence: int) -> None:
    """Raises InvalidRequest unless `after_sequence` is 0 or the sequence of an event of this turn."""
    if not 0 <= after_sequence <= last_sequence:
        raise InvalidRequest.of("after_sequence", f"must be from 0 to {last_sequence}, the turn's last sequence so far")


async def follow(
    log: TurnLog, after_sequence: int, heartbeat_s: float, token_interval_s: float
) -> AsyncGenerator[LoggedEvent | Heartbeat, None]:
    """Yields every event after `after_sequence`, each once and in order, up to and including the final state, and a
    heartbeat after each `heartbeat_s` seconds of silence. Yields nothing when `after_sequence` is that of the final
    state. Raises Draining at the end of a log whose turn was handed over to the next process.

    A message costs the service many times what a token costs it. Tokens that arrive faster than one in
    `token_interval_s` seconds are therefore joined into one event. The first token is sent without delay, and so is
    every event of another kind."""
    loop = asyncio.get_running_loop()
    next_tokens_at = loop.time()
    while not (log.final_state is not None and after_sequence == log.last_sequence):
        if not await log.wait(after_sequence, heartbeat_s):
            yield Heartbeat(time.time())
            continue
        if (early_s := next_tokens_at - loop.time()) > 0:
            await log.gather(after_sequence, early_s)
        logged = log.take(after_sequence, JOINED_MAX_CHARS)
        if logged is None and log.is_handed_over:
            raise Draining
        if logged is not None:
            yield logged
            after_sequence = logged.sequence
            if type(logged.event) is Token:
                next_tokens_at = loop.time() + token_interval_s


class ConnectedReaders:
    """Counts the readers of a turn and calls `abandon` when `on_disconnect` says that a turn without readers has to
    end.

    With GRACE a turn may be without readers for `grace_s` seconds, also at its start. With CANCEL it ends when the last
    reader disconnects; before the first reader it gets the same grace, since that reader may be on its way. With
    CONTINUE it never ends for lack of readers."""

    def __init__(self, on_disconnect: OnDisconnect, grace_s: float, abandon: Callable[[], object]) -> None:
        self._on_disconnect = on_disconnect
        self._grace_s = grace_s
        self._abandon: Callable[[], object] | None = abandon
        self._connected = 0
        self._paused = False
        self._timer: asyncio.TimerHandle | None = None

    def start(self) -> None:
        """Begins to watch, when the turn starts or goes on after a pause."""
        self._paused = False
        if self._connected == 0 and self._on_disconnect is not OnDisconnect.CONTINUE:
            self._start_grace()

    def pause(self) -> None:
        """Stops watching until the next `start`: a turn that waits for a person may be without readers."""
        self._paused = True
        self._stop_grace()

    def stop(self) -> None:
        """Stops watching for good, because the turn has ended."""
        self._stop_grace()
        self._abandon = None

    @contextmanager
    def connected(self) -> Iterator[None]:
        """Counts one more reader while the context is open."""
        self._connected += 1
        self._stop_grace()
        try:
            yield
        finally:
            self._connected -= 1
            if self._connected == 0:
                self._on_no_readers()

    def _on_no_readers(self) -> None:
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
    """The time limits of a turn in seconds: how long its program may run, how long the program may clean up after an
    interruption, how long one call of the store may take, how long a lease holds, and how long the turn waits for a
    person's decisions."""

    program_s: float
    unwind_s: float
    store_s: float
    lease_s: float
    approval_s: float


@dataclass(frozen=True, slots=True)
class Turn:
    """What readers need of a turn. It is kept after the turn's runner is gone.

    `decisions` are what persons decided on its calls, by call id. `ended` is set once the log holds the final state, or
    once the turn was handed over to the next process."""

    turn_id: str
    caller: Caller
    log: TurnLog
    readers: ConnectedReaders
    decisions: dict[str, Decision] = field(default_factory=dict)
    ended: asyncio.Event = field(default_factory=asyncio.Event)


class Retention:
    """Decides how long ended turns are kept for readers that come back: for `ttl_s` seconds, and no more than
    `max_bytes` in all. It calls `drop` with the id of each turn that has to go, beginning with the one that ended
    first."""

    def __init__(self, ttl_s: float, max_bytes: int, drop: Callable[[str], object]) -> None:
        self._ttl_s = ttl_s
        self._max_bytes = max_bytes
        self._drop = drop
        self._kept: deque[tuple[float, str, int]] = deque()
        self._bytes = 0
        self._timer: asyncio.TimerHandle | None = None

    def keep(self, turn_id: str, size_bytes: int) -> None:
        """Takes charge of a turn that has just ended and whose log takes `size_bytes` of memory."""
        self._kept.append((asyncio.get_running_loop().time() + self._ttl_s, turn_id, size_bytes))
        self._bytes += size_bytes
        while self._bytes > self._max_bytes and len(self._kept) > 1:
            self._drop_earliest()
        self._arm()

    def close(self) -> None:
        """Drops all turns."""
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
