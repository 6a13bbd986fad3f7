"""Approvals: a turn's program asks persons about tool calls, and persons answer."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from datetime import UTC, datetime, timedelta

from proviso_service.concurrency import with_timeout
from proviso_service.context.model import ApprovedTool
from proviso_service.errors import Draining, TurnNotWaiting
from proviso_service.turns.events import ApprovalRequired, LoggedEvent
from proviso_service.turns.program import AskedCall, TurnClock, TurnRequest
from proviso_service.turns.records import Decision
from proviso_service.turns.restoring import Restored
from proviso_service.turns.store import TurnLost, TurnStore, store_timeout
from proviso_service.turns.suspension import SuspendedTurn
from proviso_service.turns.turn import Turn, TurnLimits

Stored = Callable[[Callable[[], Awaitable[None]]], Awaitable[None]]
"""Does work of the store."""


class PendingCalls:
    """The tool calls that a turn asks persons about, and what they have decided on them so far.

    The calls are known by their positions, because the model chooses their ids. `all_decided` is set once every call is
    decided."""

    def __init__(
        self, calls: Sequence[AskedCall], expire_time: datetime, decisions: Sequence[Decision | None] = ()
    ) -> None:
        self.calls = tuple(calls)
        self.expire_time = expire_time
        self.all_decided = asyncio.Event()
        self._decisions = list(decisions) or [None] * len(self.calls)
        self._settle()

    @property
    def decisions(self) -> dict[str, Decision | None]:
        """The decisions by call id; None where nobody has decided yet."""
        return {call.call_id: decision for call, decision in zip(self.calls, self._decisions, strict=True)}

    @property
    def made(self) -> tuple[tuple[AskedCall, Decision], ...]:
        """The calls that are decided, each with its decision."""
        known = zip(self.calls, self._decisions, strict=True)
        return tuple((call, decision) for call, decision in known if decision is not None)

    @property
    def asked(self) -> tuple[ApprovalRequired, ...]:
        """The events that ask a person, one for each call that is not decided yet."""
        return tuple(self._question(call) for call in self.calls if self.decisions[call.call_id] is None)

    def decided_by(self, call_id: str, decision: Decision) -> tuple[int, ...]:
        """The positions of the calls that a decision on the call `call_id` decides. That is the call itself. An
        approval for the session also decides the other undecided calls of the same tool. Empty where the call is not
        waiting for a decision."""
        waiting = {position: call for position, call in enumerate(self.calls) if self._decisions[position] is None}
        own = next((call for call in waiting.values() if call.call_id == call_id), None)
        if own is None:
            return ()
        for_all = decision is Decision.APPROVE_FOR_SESSION
        return tuple(position for position, call in waiting.items() if call is own or (for_all and call.ref == own.ref))

    def record(self, positions: Sequence[int], decision: Decision) -> None:
        for position in positions:
            self._decisions[position] = decision
        self._settle()

    def _settle(self) -> None:
        if None not in self._decisions:
            self.all_decided.set()

    def _question(self, call: AskedCall) -> ApprovalRequired:
        return ApprovalRequired(call.call_id, call.tool, call.ref.server_name, call.input_json, self.expire_time)


class PendingApprovals:
    """The implementation of TurnApprovals for one turn.

    While the turn waits, everything that it goes on from is in the store. `idle` is set while the turn waits, and by
    the runner once the turn has ended."""

    def __init__(
        self,
        turn: Turn,
        request: TurnRequest,
        clock: TurnClock,
        store: TurnStore,
        owner: str,
        limits: TurnLimits,
        pause_time: Callable[[], AbstractContextManager[None]],
        stored: Stored,
        restored: Restored | None = None,
    ) -> None:
        """While the context that `pause_time` opens is open, the turn's clock stands still and readers may be away.
        `stored` does work of the store for the turn's program. A turn that is `restored` after a restart knows what it
        has asked and what was decided."""
        self.idle = asyncio.Event()
        self._turn = turn
        self._request = request
        self._clock = clock
        self._store = store
        self._owner = owner
        self._limits = limits
        self._pause_time = pause_time
        self._stored = stored
        self._answers: dict[str, Decision | None] = {}
        self._pending: PendingCalls | None = None
        self._latest: PendingCalls | None = None
        self._recording = asyncio.Lock()
        self._recordings: set[asyncio.Task[None]] = set()
        self._handed_over = False
        if restored is not None and (expire_time := restored.suspended.expire_time) is not None:
            self._latest = PendingCalls(restored.suspended.calls, expire_time, restored.suspended.decisions)
            if restored.waits:
                self._begin_waiting(self._latest)
            else:
                self._answers |= self._latest.decisions

    @property
    def is_waiting(self) -> bool:
        return self._pending is not None

    @property
    def asked(self) -> tuple[ApprovalRequired, ...]:
        """The events that ask a person, one for each call that is not decided yet."""
        return self._pending.asked if self._pending else ()

    @property
    def made(self) -> tuple[tuple[AskedCall, Decision], ...]:
        return self._latest.made if self._latest else ()

    async def decide(
        self, calls: Sequence[AskedCall], suspend: Callable[[], Awaitable[str]]
    ) -> Mapping[str, Decision | None]:
        if any(call.call_id not in self._answers for call in calls):
            await self._suspend(calls, await suspend())
            await self.settle()
        return {call.call_id: self._answers[call.call_id] for call in calls}

    async def settle(self) -> None:
        """Returns once the turn no longer waits and the store knows that it runs again."""
        pending = self._pending
        if pending is None:
            return
        with self._pause_time():
            try:
                await self._wait(pending)
            finally:
                self._pending = None
                self.idle.clear()
        self._answers |= pending.decisions
        turn, limits = self._turn, self._limits
        await self._stored(lambda: self._store.resume(turn.caller, turn.turn_id, self._owner, limits.lease_s))

    async def answer(self, call_id: str, decision: Decision) -> None:
        """Stores a person's decision. It is stored or fails even where the caller does not wait for the result. Raises
        TurnNotWaiting, and Draining once the turn was handed over to the next process."""
        recording = asyncio.create_task(self._record(call_id, decision))
        self._recordings.add(recording)
        recording.add_done_callback(self._recorded)
        await asyncio.shield(recording)

    def hand_over(self) -> None:
        """Refuses further decisions: the next process takes them. A decision that is being stored now still counts."""
        self._handed_over = True

    async def close(self) -> None:
        """Returns once every decision that was being stored is stored, or has failed."""
        if self._recordings:
            await asyncio.wait(self._recordings)

    async def _suspend(self, calls: Sequence[AskedCall], state: str) -> None:
        turn, now = self._turn, datetime.now(UTC)
        pending = PendingCalls(calls, now + timedelta(seconds=self._limits.approval_s))
        events = list(turn.log.history())
        for sequence, event in enumerate(pending.asked, turn.log.last_sequence + 1):
            events.append(LoggedEvent(sequence, sequence, now.timestamp(), event))
        suspended = SuspendedTurn(
            request=self._request,
            state=state,
            calls=pending.calls,
            decisions=(None,) * len(pending.calls),
            expire_time=pending.expire_time,
            used_s=self._clock.used_s,
            earlier_decisions=dict(turn.decisions),
            events=tuple(events),
        )
        last_sequence = turn.log.last_sequence + len(pending.asked)
        await self._stored(
            lambda: self._store.suspend(turn.caller, turn.turn_id, last_sequence, suspended, self._owner)
        )
        for event in pending.asked:
            turn.log.append(event)
        # This follows the events in the same step of the event loop, so that no answer can come before it.
        self._begin_waiting(pending)

    async def _wait(self, pending: PendingCalls) -> None:
        left_s = (pending.expire_time - datetime.now(UTC)).total_seconds()
        with suppress(TimeoutError):
            await with_timeout(max(0.0, left_s), pending.all_decided.wait())
        async with self._recording:  # waits for a decision that is being stored, which still counts
            pass

    def _begin_waiting(self, pending: PendingCalls) -> None:
        self._pending = self._latest = pending
        self.idle.set()

    async def _record(self, call_id: str, decision: Decision) -> None:
        turn = self._turn
        async with self._recording:
            if turn.decisions.get(call_id) is decision:
                return
            if self._handed_over:
                raise Draining
            pending = self._pending
            positions = pending.decided_by(call_id, decision) if pending else ()
            if pending is None or not positions:
                raise TurnNotWaiting(turn.turn_id, call_id)
            call = pending.calls[positions[0]]
            for_session = decision is Decision.APPROVE_FOR_SESSION
            approved = ApprovedTool.of(call.ref, call.sha256) if for_session else None
            stored = self._store.record_decision(
                turn.caller, turn.turn_id, self._request.session_id, positions, decision, approved, self._owner
            )
            try:
                await with_timeout(self._limits.store_s, stored, late=store_timeout)
            except TurnLost:
                raise Draining from None
            turn.decisions.update({pending.calls[position].call_id: decision for position in positions})
            pending.record(positions, decision)

    def _recorded(self, recording: asyncio.Task[None]) -> None:
        self._recordings.discard(recording)
        if not recording.cancelled():
            recording.exception()  # asyncio would warn of a failure that nobody has looked at
