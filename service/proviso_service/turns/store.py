"""The store of turns: what of a turn outlives its process, and the leases that say whether its process is alive."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from proviso_service.concurrency import with_timeout
from proviso_service.context.model import ApprovedTool
from proviso_service.errors import NotReady
from proviso_service.identity import Caller
from proviso_service.language import ENGLISH
from proviso_service.turns.events import (
    ApprovalRequired,
    FinalState,
)
from proviso_service.turns.program import TurnOutcome, TurnRequest
from proviso_service.turns.records import Decision
from proviso_service.turns.suspension import SuspendedTurn


class TurnState(StrEnum):
    """Where a turn is."""

    RUNNING = "running"
    AWAITING_APPROVAL = "awaiting_approval"
    ENDED = "ended"


@dataclass(frozen=True, slots=True)
class TurnRecord:
    """A turn as the store knows it. `final_state` is set once the turn has ended. `language` is that of its message.
    `pending_approvals` is set while the turn waits in this process."""

    turn_id: str
    caller: Caller
    session_id: str
    state: TurnState
    last_sequence: int
    final_state: FinalState | None
    language: str = ENGLISH
    pending_approvals: tuple[ApprovalRequired, ...] = ()


@dataclass(frozen=True, slots=True)
class TurnBegun:
    """The turn that answers a request. `created` is False when an equal request with the same request_id began it
    earlier."""

    turn_id: str
    created: bool


class TurnStore(Protocol):
    """The stored turns, which all replicas share."""

    async def begin(
        self, caller: Caller, turn_id: str, request: TurnRequest, payload_sha256: str, owner: str, lease_s: float
    ) -> TurnBegun:
        """Registers a running turn in one transaction. When this caller has used the request_id before, the result is
        the earlier turn if the payload is equal; otherwise this raises RequestIdReused. Raises SessionBusy when the
        request's session runs a turn."""
        ...

    async def begun_before(self, caller: Caller, request_id: str, payload_sha256: str) -> str | None:
        """The id of the turn that this caller's request_id began; None when it began none. Raises RequestIdReused when
        it began one with another payload."""
        ...

    async def renew(self, owner: str, turn_ids: list[str], lease_s: float) -> None:
        """Extends the leases of running turns by `lease_s` seconds from now."""
        ...

    async def finish(
        self, caller: Caller, turn_id: str, session_id: str, last_sequence: int, outcome: TurnOutcome
    ) -> None:
        """Stores, in one transaction, the final state, the session's new messages and its matter context. An unknown
        session is made when there is something to keep. A turn that has ended already does not change."""
        ...

    async def suspend(self, caller: Caller, turn_id: str, last_sequence: int, suspended: SuspendedTurn) -> None:
        """Makes a running turn a waiting one. Raises TurnUnknown for a turn that does not run."""
        ...

    async def record_decision(
        self,
        caller: Caller,
        turn_id: str,
        session_id: str,
        positions: Sequence[int],
        decision: Decision,
        approved: ApprovedTool | None,
    ) -> None:
        """Stores, in one transaction, the decision on the calls at `positions` of a waiting turn and the tool, if any,
        that needs no further approval in the session. Raises TurnUnknown for a turn that does not wait."""
        ...

    async def resume(self, caller: Caller, turn_id: str, owner: str, lease_s: float) -> None:
        """Makes a waiting turn a running one and deletes what it was suspended with. Raises TurnUnknown for a turn that
        does not wait."""
        ...

    async def waiting(self, owner: str) -> Sequence[TurnRecord]:
        """The turns of an owner that wait for a person."""
        ...

    async def suspended(self, caller: Caller, turn_id: str) -> SuspendedTurn:
        """What a waiting turn was suspended with, including the decisions made since. Raises SuspensionUnreadable, and
        TurnUnknown for a turn that does not wait."""
        ...

    async def get(self, caller: Caller, turn_id: str) -> TurnRecord:
        """The record of a turn. Raises TurnUnknown, also for a turn of another caller."""
        ...

    async def close_interrupted(self, owner: str, living: str = "") -> int:
        """Ends in INTERNAL_ERROR, in the language of their messages, the running turns whose lease has expired and
        those of `owner`, which an earlier process of this owner has left; the empty text names nobody. Returns how
        many. Turns of `living` stay, because leases expire too where the clock was set; so do turns that wait for a
        person."""
        ...


_logger = logging.getLogger(__name__)

_RENEWALS_PER_LEASE = 3
_NOBODY = ""


def store_timeout() -> NotReady:
    """The error of a store call that took too long. Nobody knows then whether the store has done the work."""
    return NotReady("The store of turns does not answer in time")


class LeaseKeeper:
    """Renews the leases of this process's turns, three times in each lease. Once in each lease it ends the turns of
    owners that have stopped renewing theirs."""

    def __init__(self, store: TurnStore, owner: str, lease_s: float, running: Callable[[], list[str]]) -> None:
        self._store = store
        self._owner = owner
        self._lease_s = lease_s
        self._running = running
        self._task: asyncio.Task[None] | None = None

    async def open(self) -> None:
        """Ends the turns that an earlier process of this owner has left running, and begins to renew leases."""
        closing = self._close_interrupted(self._store.close_interrupted(self._owner))
        await with_timeout(self._lease_s, closing, late=store_timeout)
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
            await self._attempt(self._renew())
            renewals += 1
            if renewals % _RENEWALS_PER_LEASE == 0:
                others = self._store.close_interrupted(_NOBODY, self._owner)
                await self._attempt(self._close_interrupted(others))

    async def _attempt(self, work: Awaitable[None]) -> None:
        """Logs a failure, since the next round tries again."""
        try:
            await with_timeout(self._lease_s / _RENEWALS_PER_LEASE, work, late=store_timeout)
        except Exception:
            _logger.exception("turn leases could not be kept")

    async def _renew(self) -> None:
        if turn_ids := self._running():
            await self._store.renew(self._owner, turn_ids, self._lease_s)

    async def _close_interrupted(self, closing: Awaitable[int]) -> None:
        if closed := await closing:
            _logger.warning("closed %d turns whose process is gone", closed)
