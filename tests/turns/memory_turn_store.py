"""A store of turns in memory, which a test can halt and let fail."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace

from proviso_service.context.model import ApprovedTool
from proviso_service.errors import RequestIdReused, SessionBusy, TurnUnknown
from proviso_service.identity import Caller
from proviso_service.turns import (
    Decision,
    SuspendedTurn,
    TurnBegun,
    TurnOutcome,
    TurnRecord,
    TurnRequest,
    TurnState,
    suspended_from_json,
    suspended_to_json,
)


@dataclass
class Row:
    record: TurnRecord
    request_id: str
    payload_sha256: str
    owner: str
    renewals: int = 0
    suspended: str = ""


class MemoryTurnStore:
    """Rows of turns in a dictionary. A call sets its `reached`, waits for its gate if there is one, and raises the next
    of its `failures`; all three go by the method's name."""

    def __init__(self) -> None:
        self.rows: dict[str, Row] = {}
        self.finished: list[TurnOutcome] = []
        self.approved: list[ApprovedTool] = []
        self.closed_for: list[str] = []
        self.failures: dict[str, list[Exception]] = {}
        self.gates: dict[str, asyncio.Event] = {}
        self.reached: dict[str, asyncio.Event] = {
            name: asyncio.Event()
            for name in (
                *("begin", "begun_before", "finish", "renew", "get", "close_interrupted"),
                *("suspend", "record_decision", "resume", "waiting", "suspended"),
            )
        }

    async def calls(self, name: str, count: int) -> None:
        """Returns when a method has been called `count` more times."""
        for _ in range(count):
            self.reached[name].clear()
            await self.reached[name].wait()

    async def begin(
        self, caller: Caller, turn_id: str, request: TurnRequest, payload_sha256: str, owner: str, lease_s: float
    ) -> TurnBegun:
        await self._enter("begin")
        if request.request_id and (earlier := self._begun_before(caller, request.request_id, payload_sha256)):
            return TurnBegun(earlier, False)
        for row in self.rows.values():
            same_session = (row.record.caller, row.record.session_id) == (caller, request.session_id)
            if request.session_id and same_session and row.record.state is not TurnState.ENDED:
                raise SessionBusy(request.session_id, row.record.turn_id)
        record = TurnRecord(turn_id, caller, request.session_id, TurnState.RUNNING, 0, None, request.language)
        self.rows[turn_id] = Row(record, request.request_id, payload_sha256, owner)
        return TurnBegun(turn_id, True)

    async def begun_before(self, caller: Caller, request_id: str, payload_sha256: str) -> str | None:
        await self._enter("begun_before")
        return self._begun_before(caller, request_id, payload_sha256)

    def _begun_before(self, caller: Caller, request_id: str, payload_sha256: str) -> str | None:
        for row in self.rows.values():
            if (row.record.caller, row.request_id) == (caller, request_id):
                if row.payload_sha256 != payload_sha256:
                    raise RequestIdReused(request_id)
                return row.record.turn_id
        return None

    async def renew(self, owner: str, turn_ids: list[str], lease_s: float) -> None:
        await self._enter("renew")
        for turn_id in turn_ids:
            self.rows[turn_id].renewals += 1

    async def finish(
        self, caller: Caller, turn_id: str, session_id: str, last_sequence: int, outcome: TurnOutcome
    ) -> None:
        await self._enter("finish")
        row = self.rows[turn_id]
        assert row.record.state is not TurnState.ENDED, "a turn is finished once"
        row.record = replace(
            row.record, state=TurnState.ENDED, last_sequence=last_sequence, final_state=outcome.final_state
        )
        self.finished.append(outcome)

    async def suspend(self, caller: Caller, turn_id: str, last_sequence: int, suspended: SuspendedTurn) -> None:
        await self._enter("suspend")
        row = self.rows[turn_id]
        assert row.record.state is TurnState.RUNNING
        row.record = replace(row.record, state=TurnState.AWAITING_APPROVAL, last_sequence=last_sequence)
        row.suspended = suspended_to_json(suspended)

    async def record_decision(
        self,
        caller: Caller,
        turn_id: str,
        session_id: str,
        positions: Sequence[int],
        decision: Decision,
        approved: ApprovedTool | None,
    ) -> None:
        await self._enter("record_decision")
        row = self._waiting_row(caller, turn_id)
        suspended = suspended_from_json(row.suspended)
        decisions = [decision if n in positions else known for n, known in enumerate(suspended.decisions)]
        row.suspended = suspended_to_json(replace(suspended, decisions=tuple(decisions)))
        self.approved += [approved] if approved else []

    async def resume(self, caller: Caller, turn_id: str, owner: str, lease_s: float) -> None:
        await self._enter("resume")
        row = self._waiting_row(caller, turn_id)
        row.record = replace(row.record, state=TurnState.RUNNING)
        row.suspended = ""

    async def waiting(self, owner: str) -> list[TurnRecord]:
        await self._enter("waiting")
        awaiting = TurnState.AWAITING_APPROVAL
        return [row.record for row in self.rows.values() if (row.owner, row.record.state) == (owner, awaiting)]

    async def suspended(self, caller: Caller, turn_id: str) -> SuspendedTurn:
        await self._enter("suspended")
        return suspended_from_json(self._waiting_row(caller, turn_id).suspended)

    def _waiting_row(self, caller: Caller, turn_id: str) -> Row:
        row = self.rows.get(turn_id)
        if row is None or row.record.caller != caller or row.record.state is not TurnState.AWAITING_APPROVAL:
            raise TurnUnknown(turn_id)
        return row

    async def get(self, caller: Caller, turn_id: str) -> TurnRecord:
        await self._enter("get")
        row = self.rows.get(turn_id)
        if row is None or row.record.caller != caller:
            raise TurnUnknown(turn_id)
        return row.record

    async def close_interrupted(self, owner: str, living: str = "") -> int:
        self.closed_for.append(owner)
        await self._enter("close_interrupted")
        return 0

    async def _enter(self, name: str) -> None:
        self.reached[name].set()
        if name in self.gates:
            await self.gates[name].wait()
        if self.failures.get(name):
            raise self.failures[name].pop(0)
