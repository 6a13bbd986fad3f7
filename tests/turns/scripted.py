"""Turns whose program a test steers."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime

from proviso_service.context.model import ContextFill, ItemRef, ItemType, RequestContext
from proviso_service.identity import Caller
from proviso_service.turns import (
    AskedCall,
    Emit,
    Event,
    ExitCause,
    ExitReason,
    FinalState,
    Heartbeat,
    LoggedEvent,
    Retryable,
    RunningTurn,
    Token,
    ToolEnd,
    ToolStart,
    TurnApprovals,
    TurnConfig,
    TurnExecution,
    TurnOutcome,
    TurnProgram,
    TurnRequest,
    Turns,
    TurnStart,
    TurnStore,
    Usage,
    semantics_of,
)
from tests.turns.memory_turn_store import MemoryTurnStore

ANN = Caller("firm", "ann")
BEN = Caller("firm", "ben")
QUESTION = TurnRequest(message="What is the notice period?")
ANSWER = "Thirty days."
USAGE_SO_FAR = Usage(input_tokens=7, output_tokens=1, model_calls=1)

TURN_START = TurnStart(
    RequestContext((), (), None, (), ContextFill(26, 12_000), datetime(2024, 5, 1, tzinfo=UTC)), "", "local"
)
TIME = ItemRef(ItemType.TOOL, "get_time", "time")
ASKED = AskedCall("call-1", "time__get_time", TIME, '{"zone": "CET"}', "what it is")
TOOL_START = ToolStart("call-1", "isaacus_search", "proviso", '{"query": "notice"}')
TOOL_END = ToolEnd("call-1", "isaacus_search", "one match", "{}", False, "", 0.1)


def completed(message: str = ANSWER) -> TurnOutcome:
    return TurnOutcome(FinalState(ExitReason.COMPLETED, Retryable.NOT_APPLICABLE, True, message))


class NeverWaits:
    """Part of a TurnProgram that asks nobody."""

    async def resume(self, turn: RunningTurn, state: str) -> TurnExecution:
        raise AssertionError("this program has never waited for a person")


@dataclass
class ScriptedExecution:
    """A run of a script, which gets this object to emit and to ask with; `state` is that of an earlier life."""

    turn_id: str
    request: TurnRequest
    emit: Emit
    script: Callable[["ScriptedExecution"], Awaitable[TurnOutcome]]
    approvals: TurnApprovals
    state: str = ""

    async def run(self) -> TurnOutcome:
        return await self.script(self)

    def interrupted(self, reason: ExitReason, cause: ExitCause | None = None) -> TurnOutcome:
        semantics = semantics_of(reason, cause)
        return TurnOutcome(
            FinalState(
                reason,
                semantics.retryable,
                semantics.display_message,
                semantics.message,
                usage=USAGE_SO_FAR,
                exit_cause=cause,
            )
        )

    def release(self) -> None:
        pass


Script = Callable[[ScriptedExecution], Awaitable[TurnOutcome]]


@dataclass
class Program:
    """A TurnProgram that follows a script, after a restart too."""

    script: Script
    execution: type[ScriptedExecution] = ScriptedExecution

    def start(self, turn: RunningTurn) -> ScriptedExecution:
        return self.execution(turn.turn_id, turn.request, turn.emit, self.script, turn.approvals)

    async def resume(self, turn: RunningTurn, state: str) -> ScriptedExecution:
        return self.execution(turn.turn_id, turn.request, turn.emit, self.script, turn.approvals, state)


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

    def start(self, turn: RunningTurn) -> ScriptedExecution:
        return ScriptedExecution(turn.turn_id, turn.request, turn.emit, self._script, turn.approvals)

    async def _script(self, execution: ScriptedExecution) -> TurnOutcome:
        for event in self.before:
            execution.emit(event)
        self.waiting.set()
        await self.gate.wait()
        for event in self.after:
            execution.emit(event)
        return completed()


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
        TurnConfig.model_validate(settings),
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
