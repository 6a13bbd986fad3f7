"""Turns whose program and store a test steers."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from proviso_service.context.model import ContextFill, ItemRef, ItemType, RequestContext
from proviso_service.errors import RequestIdReused, SessionBusy, TurnUnknown
from proviso_service.security.identity import Caller
from proviso_service.settings import TurnSettings
from proviso_service.turns.events import (
    Event,
    FinalState,
    Heartbeat,
    LoggedEvent,
    Token,
    ToolEnd,
    ToolStart,
    TurnStart,
)
from proviso_service.turns.exit_reasons import EXIT_SEMANTICS, ExitReason, Retryable
from proviso_service.turns.ports import (
    Approvals,
    AskedCall,
    Emit,
    TurnBegun,
    TurnExecution,
    TurnOutcome,
    TurnProgram,
    TurnRecord,
    TurnRequest,
    TurnState,
    TurnStore,
)
from proviso_service.turns.records import Decision, Usage
from proviso_service.turns.service import Turns
from proviso_service.turns.suspension import SuspendedTurn, decode, encode

ANN = Caller("firm", "ann")
BEN = Caller("firm", "ben")
QUESTION = TurnRequest(message="What is the notice period?")
ANSWER = "Thirty days."
USAGE_SO_FAR = Usage(input_tokens=7, output_tokens=1, model_calls=1)

TURN_START = TurnStart(
    RequestContext((), (), None, (), ContextFill(26, 12_000), datetime(2024, 5, 1, tzinfo=UTC)), "", "local"
)
TIME = ItemRef(ItemType.TOOL, "get_time", "time")
ASKED = AskedCall("call-1", "time__get_time", TIME, '{"zone": "CET"}')
TOOL_START = ToolStart("call-1", "isaacus_search", "proviso", '{"query": "notice"}')
TOOL_END = ToolEnd("call-1", "isaacus_search", "one match", "{}", False, "", 0.1)


def completed(message: str = ANSWER) -> TurnOutcome:
    return TurnOutcome(FinalState(ExitReason.COMPLETED, Retryable.NOT_APPLICABLE, True, message))


class NeverWaits:
    """Part of a TurnProgram that asks nobody."""

    async def resume(
        self, caller: Caller, turn_id: str, request: TurnRequest, emit: Emit, approvals: Approvals, state: str
    ) -> TurnExecution:
        raise AssertionError("this program has never waited for a person")


@dataclass
class ScriptedExecution:
    """A run of a script, which gets this object to emit and to ask with; `state` is that of an earlier life."""

    turn_id: str
    request: TurnRequest
    emit: Emit
    script: Callable[["ScriptedExecution"], Awaitable[TurnOutcome]]
    approvals: Approvals
    state: str = ""

    async def run(self) -> TurnOutcome:
        return await self.script(self)

    def interrupted(self, reason: ExitReason, retryable: Retryable) -> TurnOutcome:
        semantics = EXIT_SEMANTICS[reason]
        return TurnOutcome(
            FinalState(reason, retryable, semantics.display_message, semantics.message, usage=USAGE_SO_FAR)
        )

    def left(self) -> None:
        pass


Script = Callable[[ScriptedExecution], Awaitable[TurnOutcome]]


@dataclass
class Program:
    """A TurnProgram that follows a script, after a restart too."""

    script: Script
    execution: type[ScriptedExecution] = ScriptedExecution

    def start(
        self, caller: Caller, turn_id: str, request: TurnRequest, emit: Emit, approvals: Approvals
    ) -> ScriptedExecution:
        return self.execution(turn_id, request, emit, self.script, approvals)

    async def resume(
        self, caller: Caller, turn_id: str, request: TurnRequest, emit: Emit, approvals: Approvals, state: str
    ) -> ScriptedExecution:
        return self.execution(turn_id, request, emit, self.script, approvals, state)


def emits(*events: Event, message: str = ANSWER) -> Program:
    """A program that emits the events, each in a step of its own of the event loop, and completes."""

    async def script(execution: ScriptedExecution) -> TurnOutcome:
        for event in events:
            execution.emit(event)
            await asyncio.sleep(0)
        return completed(message)

    return Program(script)


@dataclass
class Gated(NeverWaits):
    """A program that emits `before`, waits for `gate`, emits `after` and completes."""

    before: tuple[Event, ...] = (TURN_START,)
    after: tuple[Event, ...] = ()
    gate: asyncio.Event = field(default_factory=asyncio.Event)
    waiting: asyncio.Event = field(default_factory=asyncio.Event)

    def start(
        self, caller: Caller, turn_id: str, request: TurnRequest, emit: Emit, approvals: Approvals
    ) -> ScriptedExecution:
        return ScriptedExecution(turn_id, request, emit, self._script, approvals)

    async def _script(self, execution: ScriptedExecution) -> TurnOutcome:
        for event in self.before:
            execution.emit(event)
        self.waiting.set()
        await self.gate.wait()
        for event in self.after:
            execution.emit(event)
        return completed()


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
        self.approved: list[ItemRef] = []
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
        record = TurnRecord(turn_id, caller, request.session_id, TurnState.RUNNING, 0, None)
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
        row.suspended = encode(suspended)

    async def record_decision(
        self,
        caller: Caller,
        turn_id: str,
        session_id: str,
        positions: Sequence[int],
        decision: Decision,
        approved: ItemRef | None,
    ) -> None:
        await self._enter("record_decision")
        row = self._waiting_row(caller, turn_id)
        suspended = decode(row.suspended)
        decisions = [decision if n in positions else known for n, known in enumerate(suspended.decisions)]
        row.suspended = encode(replace(suspended, decisions=tuple(decisions)))
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
        return decode(self._waiting_row(caller, turn_id).suspended)

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

    async def close_interrupted(self, owner: str) -> int:
        self.closed_for.append(owner)
        await self._enter("close_interrupted")
        return 0

    async def _enter(self, name: str) -> None:
        self.reached[name].set()
        if name in self.gates:
            await self.gates[name].wait()
        if self.failures.get(name):
            raise self.failures[name].pop(0)


@asynccontextmanager
async def running(
    program: TurnProgram,
    store: TurnStore | None = None,
    *,
    max_running: int = 1_000,
    kept_bytes: int = 64 * 1024 * 1024,
    unwind_s: float = 5.0,
    store_s: float = 5.0,
    **settings: float,
) -> AsyncIterator[Turns]:
    """Open turns; when closed, no task is left."""
    before = asyncio.all_tasks()
    turns = Turns(
        program,
        store or MemoryTurnStore(),
        TurnSettings.model_validate(settings),
        owner="replica-1",
        max_running=max_running,
        kept_bytes=kept_bytes,
        unwind_s=unwind_s,
        store_s=store_s,
    )
    await turns.open()
    try:
        yield turns
    finally:
        await turns.close()
    assert asyncio.all_tasks() == before


async def collect(turns: Turns, turn_id: str, after: int = 0, caller: Caller = ANN) -> list[LoggedEvent]:
    """All events after a sequence, without heartbeats."""
    async with aclosing(turns.read(caller, turn_id, after)) as items:
        return [item async for item in items if not isinstance(item, Heartbeat)]


async def read_to(turns: Turns, turn_id: str, sequence: int, after: int = 0) -> list[LoggedEvent]:
    """Events until `sequence` is covered; then the reader leaves."""
    events: list[LoggedEvent] = []
    async with aclosing(turns.read(ANN, turn_id, after)) as items:
        async for item in items:
            if not isinstance(item, Heartbeat):
                events.append(item)
                if item.sequence >= sequence:
                    break
    return events


def assert_gapless(events: list[LoggedEvent], after: int, last: int) -> None:
    """The events cover every sequence from `after` + 1 to `last` once and in order."""
    position = after
    for event in events:
        assert event.first_sequence == position + 1
        assert event.sequence >= event.first_sequence
        position = event.sequence
    assert position == last


def text_of(events: list[LoggedEvent]) -> str:
    return "".join(logged.event.text for logged in events if isinstance(logged.event, Token))


def final_of(events: list[LoggedEvent]) -> FinalState:
    """The final state, which is there once and last."""
    finals = [logged.event for logged in events if isinstance(logged.event, FinalState)]
    assert len(finals) == 1
    assert events[-1].event is finals[0]
    return finals[0]
