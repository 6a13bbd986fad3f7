"""The store of turns: what of a turn outlives its process, and the leases that say whether its process is alive."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol, TypeVar

from proviso_service.concurrency import with_timeout
from proviso_service.context.model import ApprovedTool
from proviso_service.errors import NotReady, StorageFailed, TooBusy
from proviso_service.identity import Caller
from proviso_service.language import ENGLISH
from proviso_service.turns.events import (
    ApprovalRequired,
    FinalState,
)
from proviso_service.turns.program import TurnOutcome, TurnRequest
from proviso_service.turns.records import Decision
from proviso_service.turns.suspension import SuspendedTurn

T = TypeVar("T")

RELEASED = ""
"""The owner of a turn that its process has handed over."""


class TurnLost(Exception):
    """This process does not run the turn any more: it did not renew its lease in time, and another process has taken
    the turn over."""


class TurnState(StrEnum):
    """Where a turn is."""

    RUNNING = "running"
    AWAITING_APPROVAL = "awaiting_approval"
    ENDED = "ended"


@dataclass(frozen=True, slots=True)
class TurnRecord:
    """A turn as the store knows it. `final_state` is set once the turn has ended. `language` is that of its message.
    `owner` names the process that runs it, or ran it last. `pending_approvals` is set while the turn waits, where its
    process was asked. `take_overs` counts how often a process ended while it was at work on the turn."""

    turn_id: str
    caller: Caller
    session_id: str
    state: TurnState
    last_sequence: int
    final_state: FinalState | None
    language: str = ENGLISH
    pending_approvals: tuple[ApprovalRequired, ...] = ()
    owner: str = ""
    take_overs: int = 0

    def was_decided(self, call_id: str, decision: Decision) -> bool:
        """Whether the turn has ended and its records say that a person made this decision on the call."""
        calls = self.final_state.tool_call_records if self.final_state else ()
        return any((call.call_id, call.decision) == (call_id, decision) for call in calls)


@dataclass(frozen=True, slots=True)
class TurnBegun:
    """The turn that answers a request. `created` is False when an equal request with the same request_id began it
    earlier."""

    turn_id: str
    created: bool


class TurnStore(Protocol):
    """The stored turns, which all replicas share.

    Every method with an `owner` that changes one turn raises TurnLost where the turn is another owner's, or has been
    ended by one. Doing the same again changes nothing, so that a call whose result is not known can be repeated."""

    async def begin(
        self, caller: Caller, turn_id: str, request: TurnRequest, payload_sha256: str, owner: str, lease_s: float
    ) -> TurnBegun:
        """Registers a running turn, with its request, in one transaction. When this caller has used the request_id
        before, the result is the earlier turn if the payload is equal; otherwise this raises RequestIdReused. Raises
        SessionBusy when the request's session runs a turn."""
        ...

    async def begun_before(self, caller: Caller, request_id: str, payload_sha256: str) -> str | None:
        """The id of the turn that this caller's request_id began; None when it began none. Raises RequestIdReused when
        it began one with another payload."""
        ...

    async def renew(self, owner: str, turn_ids: list[str], lease_s: float) -> Sequence[str]:
        """Extends the leases of the owner's open turns by `lease_s` seconds from now. Returns which of the turns are
        another owner's."""
        ...

    async def checkpoint(
        self, caller: Caller, turn_id: str, last_sequence: int, suspended: SuspendedTurn, owner: str
    ) -> None:
        """Stores what another process goes on from, should this one end."""
        ...

    async def finish(
        self, caller: Caller, turn_id: str, session_id: str, last_sequence: int, outcome: TurnOutcome, owner: str
    ) -> None:
        """Stores, in one transaction, the final state, the session's new messages and its matter context. An unknown
        session is made when there is something to keep. A turn that this owner has ended already does not change."""
        ...

    async def suspend(
        self, caller: Caller, turn_id: str, last_sequence: int, suspended: SuspendedTurn, owner: str
    ) -> None:
        """Makes an open turn a waiting one."""
        ...

    async def record_decision(
        self,
        caller: Caller,
        turn_id: str,
        session_id: str,
        positions: Sequence[int],
        decision: Decision,
        approved: ApprovedTool | None,
        owner: str,
    ) -> None:
        """Stores, in one transaction, the decision on the calls at `positions` of a waiting turn and the tool, if any,
        that needs no further approval in the session."""
        ...

    async def resume(self, caller: Caller, turn_id: str, owner: str, lease_s: float) -> None:
        """Makes an open turn a running one. What it was suspended with stays until it has ended."""
        ...

    async def suspended(self, caller: Caller, turn_id: str) -> SuspendedTurn:
        """What an open turn goes on from, including the decisions made since. Raises SuspensionUnreadable, and
        TurnUnknown for a turn that is not open."""
        ...

    async def get(self, caller: Caller, turn_id: str) -> TurnRecord:
        """The record of a turn. Raises TurnUnknown, also for a turn of another caller."""
        ...

    async def take_over(
        self,
        owner: str,
        lease_s: float,
        limit: int,
        lost: int,
        *,
        is_new: bool = False,
        running: Collection[str] = (),
    ) -> Sequence[TurnRecord]:
        """Gives the owner at most `limit` open turns that nobody runs, the oldest first: those that were released, and
        those whose lease has expired, but for the `running` ones of the owner, whose leases expire too where the clock
        was set. An owner that `is_new` also gets at once what an earlier process of its name has left.

        A turn that was not released and did not wait for a person counts one more of its `take_overs`, and its
        `last_sequence` is greater by `lost`: readers may have had so many events that are not stored."""
        ...

    async def release(self, owner: str, turns: Mapping[str, int]) -> None:
        """Hands open turns of the owner over to whoever takes them, each with the sequence of its last event."""
        ...


_logger = logging.getLogger(__name__)

_RENEWALS_PER_LEASE = 3
_FIRST_WAIT_S, _LONGEST_WAIT_S = 0.1, 1.0


def store_timeout() -> NotReady:
    """The error of a store call that took too long. Nobody knows then whether the store has done the work."""
    return NotReady("The store of turns does not answer in time")


async def patiently(limit_s: float, work: Callable[[], Awaitable[T]]) -> T:
    """Does work of the store, and again while the store is away or busy, for `limit_s` seconds in all. Raises what it
    raised last, and NotReady where it hung."""
    loop = asyncio.get_running_loop()
    latest, wait_s = loop.time() + limit_s, _FIRST_WAIT_S
    while True:
        try:
            return await with_timeout(max(0.0, latest - loop.time()), work(), late=store_timeout)
        except (NotReady, StorageFailed, TooBusy):
            if loop.time() + wait_s > latest:
                raise
        await asyncio.sleep(wait_s)
        wait_s = min(2 * wait_s, _LONGEST_WAIT_S)


class LeaseKeeper:
    """Renews the leases of this process's turns, three times in each lease, and tells of turns that another process has
    taken. Once in each lease it takes over turns that nobody runs, as many as there is room for."""

    def __init__(
        self,
        store: TurnStore,
        owner: str,
        lease_s: float,
        running: Callable[[], list[str]],
        *,
        room: Callable[[], int],
        max_events: int,
        go_on: Callable[[TurnRecord], Awaitable[None]],
        lose: Callable[[str], object],
    ) -> None:
        """`max_events` is the most events of a turn, all of which may be lost with its process. `go_on` goes on with a
        turn that was taken over. What it cannot go on with now is taken over again once its lease has expired. `lose`
        is told the id of a turn that is another process's."""
        self._store = store
        self._owner = owner
        self._lease_s = lease_s
        self._running = running
        self._room = room
        self._max_events = max_events
        self._go_on = go_on
        self._lose = lose
        self._task: asyncio.Task[None] | None = None
        self.taken_over = 0
        """How many turns whose process was gone were taken over so far."""

    async def open(self) -> None:
        """Takes over what an earlier process of this owner has left, and begins to renew leases."""
        await self._take_over(self._lease_s, is_new=True)
        self._task = asyncio.create_task(self._keep(), name="turn leases")

    async def close(self) -> None:
        """Stops renewing."""
        if self._task is not None:
            self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task
            self._task = None

    async def _keep(self) -> None:
        loop = asyncio.get_running_loop()
        period_s = self._lease_s / _RENEWALS_PER_LEASE
        due, renewals = loop.time(), 0
        while True:
            due = max(due + period_s, loop.time())
            await asyncio.sleep(due - loop.time())
            await self._attempt(self._renew(period_s))
            renewals += 1
            if renewals % _RENEWALS_PER_LEASE == 0:
                await self._attempt(self._take_over(period_s, is_new=False))

    async def _attempt(self, work: Awaitable[None]) -> None:
        """Logs a failure, since the next round tries again."""
        try:
            await work
        except Exception:
            _logger.exception("turn leases could not be kept")

    async def _renew(self, limit_s: float) -> None:
        if turn_ids := self._running():
            renewing = self._store.renew(self._owner, turn_ids, self._lease_s)
            for turn_id in await with_timeout(limit_s, renewing, late=store_timeout):
                _logger.warning("turn %s: another process has taken it over", turn_id)
                self._lose(turn_id)

    async def _take_over(self, limit_s: float, *, is_new: bool) -> None:
        room = self._room()
        if room <= 0:
            return
        taking = self._store.take_over(
            self._owner, self._lease_s, room, self._max_events, is_new=is_new, running=self._running()
        )
        taken = await with_timeout(limit_s, taking, late=store_timeout)
        self.taken_over += len(taken)
        if taken:
            _logger.warning("took over %d turns whose process is gone", len(taken))
        for record in taken:
            await self._go_on(record)
