"""A store of turns in memory, which a test can halt and let fail."""

import asyncio
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from proviso_service.context.model import ApprovedTool
from proviso_service.errors import RequestIdReused, SessionBusy, TurnUnknown
from proviso_service.identity import Caller
from proviso_service.turns import (
    RELEASED,
    Decision,
    SuspendedTurn,
    TurnBegun,
    TurnLost,
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
    suspended: str
    renewals: int = 0
    is_abandoned: bool = False
    """Whether its lease has expired."""


class MemoryTurnStore:
    """Rows of turns in a dictionary. A call sets its `reached`, waits for its gate if there is one, and raises the next
    of its `failures`; all three go by the method's name."""

    def __init__(self) -> None:
        self.rows: dict[str, Row] = {}
        self.finished: list[TurnOutcome] = []
        self.approved: list[ApprovedTool] = []
        self.asked_for: list[tuple[str, bool]] = []
        """Who has taken turns over, and whether as a new owner."""
        self.failures: dict[str, list[Exception]] = {}
        self.gates: dict[str, asyncio.Event] = {}
        self.reached: dict[str, asyncio.Event] = {
            name: asyncio.Event()
            for name in (
                *("begin", "begun_before", "finish", "renew", "get", "take_over", "release"),
                *("checkpoint", "suspend", "record_decision", "resume", "suspended"),
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
        record = TurnRecord(
            turn_id, caller, request.session_id, TurnState.RUNNING, 0, None, request.language, owner=owner
        )
        stored = suspended_to_json(SuspendedTurn.at_start(request))
        self.rows[turn_id] = Row(record, request.request_id, payload_sha256, stored)
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

    async def renew(self, owner: str, turn_ids: list[str], lease_s: float) -> list[str]:
        await self._enter("renew")
        own = [turn_id for turn_id in turn_ids if self.rows[turn_id].record.owner == owner]
        for turn_id in own:
            self.rows[turn_id].renewals += 1
        return [turn_id for turn_id in turn_ids if turn_id not in own]

    async def checkpoint(
        self, caller: Caller, turn_id: str, last_sequence: int, suspended: SuspendedTurn, owner: str
    ) -> None:
        await self._enter("checkpoint")
        row = self._open_row(turn_id, owner)
        row.record = replace(row.record, last_sequence=last_sequence)
        row.suspended = suspended_to_json(suspended)

    async def finish(
        self, caller: Caller, turn_id: str, session_id: str, last_sequence: int, outcome: TurnOutcome, owner: str
    ) -> None:
        await self._enter("finish")
        row = self._open_row(turn_id, owner)
        row.record = replace(
            row.record, state=TurnState.ENDED, last_sequence=last_sequence, final_state=outcome.final_state
        )
        self.finished.append(outcome)

    async def suspend(
        self, caller: Caller, turn_id: str, last_sequence: int, suspended: SuspendedTurn, owner: str
    ) -> None:
        await self._enter("suspend")
        row = self._open_row(turn_id, owner)
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
        owner: str,
    ) -> None:
        await self._enter("record_decision")
        row = self._open_row(turn_id, owner)
        if row.record.state is not TurnState.AWAITING_APPROVAL:
            raise TurnUnknown(turn_id)
        suspended = suspended_from_json(row.suspended)
        decisions = [decision if n in positions else known for n, known in enumerate(suspended.decisions)]
        row.suspended = suspended_to_json(replace(suspended, decisions=tuple(decisions)))
        self.approved += [approved] if approved else []

    async def resume(self, caller: Caller, turn_id: str, owner: str, lease_s: float) -> None:
        await self._enter("resume")
        row = self._open_row(turn_id, owner)
        row.record = replace(row.record, state=TurnState.RUNNING)

    async def suspended(self, caller: Caller, turn_id: str) -> SuspendedTurn:
        await self._enter("suspended")
        return suspended_from_json(self.rows[turn_id].suspended)

    def _open_row(self, turn_id: str, owner: str) -> Row:
        row = self.rows[turn_id]
        if row.record.owner != owner:
            raise TurnLost(turn_id)
        assert row.record.state is not TurnState.ENDED, "a turn is finished once"
        return row

    async def take_over(
        self,
        owner: str,
        lease_s: float,
        limit: int,
        lost: int,
        *,
        is_new: bool = False,
        running: Collection[str] = (),
    ) -> list[TurnRecord]:
        self.asked_for.append((owner, is_new))
        await self._enter("take_over")
        taken: list[TurnRecord] = []
        for row in self.rows.values():
            was = row.record
            is_nobodys = row.is_abandoned or was.owner == RELEASED or (is_new and was.owner == owner)
            is_open = was.state is not TurnState.ENDED
            if is_open and is_nobodys and was.turn_id not in running and len(taken) < limit:
                was_at_work = was.state is TurnState.RUNNING and was.owner != RELEASED
                row.is_abandoned = False
                row.record = replace(
                    was,
                    owner=owner,
                    last_sequence=was.last_sequence + lost * was_at_work,
                    take_overs=was.take_overs + was_at_work,
                )
                taken.append(row.record)
        return taken

    async def release(self, owner: str, last_sequences: Mapping[str, int]) -> None:
        await self._enter("release")
        for turn_id, last_sequence in last_sequences.items():
            row = self._open_row(turn_id, owner)
            row.record = replace(row.record, owner=RELEASED, last_sequence=last_sequence)

    async def get(self, caller: Caller, turn_id: str) -> TurnRecord:
        await self._enter("get")
        row = self.rows.get(turn_id)
        if row is None or row.record.caller != caller:
            raise TurnUnknown(turn_id)
        return row.record

    async def _enter(self, name: str) -> None:
        self.reached[name].set()
        if name in self.gates:
            await self.gates[name].wait()
        if self.failures.get(name):
            raise self.failures[name].pop(0)
