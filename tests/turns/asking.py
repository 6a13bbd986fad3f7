"""A program that asks persons about its tool calls, and turns that wait for them."""

import asyncio
from dataclasses import dataclass, field, replace

from proviso_service.context.model import ItemRef, ItemType
from proviso_service.turns import AskedCall, Decision, Event, Token, TurnOutcome, TurnRequest, Turns
from tests.turns.scripted import (
    ANN,
    ASKED,
    QUESTION,
    TOOL_END,
    TOOL_START,
    TURN_START,
    Program,
    ScriptedExecution,
    completed,
    read_to,
)

SAME_TOOL = replace(ASKED, call_id="call-2")
OTHER_TOOL = AskedCall("call-3", "send", ItemRef(ItemType.TOOL, "send", "mail"), "{}")
IN_SESSION = replace(QUESTION, session_id="lease")
SHORT_S = 0.02
ONCE, FOR_SESSION, DENY = Decision.APPROVE_ONCE, Decision.APPROVE_FOR_SESSION, Decision.DENY


@dataclass
class Asking:
    """A script that emits `before`, asks about each batch of `calls`, waits for `gate`, and completes with the
    decisions in words. A run that goes on after a restart asks again about the batch that its state names."""

    calls: tuple[tuple[AskedCall, ...], ...] = ((ASKED,),)
    before: tuple[Event, ...] = (TURN_START, Token("t1", "Let me "), Token("t1", "look."))
    gate: asyncio.Event = field(default_factory=asyncio.Event)
    resumed: asyncio.Event = field(default_factory=asyncio.Event)
    states: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.gate.set()

    @property
    def program(self) -> Program:
        return Program(self._script)

    async def _script(self, execution: ScriptedExecution) -> TurnOutcome:
        self.states.append(execution.state)
        if not execution.state:
            for event in self.before:
                execution.emit(event)
        words = []
        for number, batch in enumerate(self.calls):
            if number >= int(execution.state or 0):
                words.append(await self._ask(execution, batch, number))
        self.resumed.set()
        execution.emit(TOOL_START)
        await self.gate.wait()
        execution.emit(TOOL_END)
        return completed("; ".join(words))

    async def _ask(self, execution: ScriptedExecution, batch: tuple[AskedCall, ...], number: int) -> str:
        async def suspend() -> str:
            return str(number)

        decisions = await execution.approvals.decide(batch, suspend)
        return ", ".join(f"{call_id} {decision}" for call_id, decision in decisions.items())


async def waiting(turns: Turns, request: TurnRequest = QUESTION, sequence: int = 4) -> str:
    """A turn that has asked with its event `sequence`; nobody reads it any more."""
    turn_id = await turns.start(ANN, request)
    await read_to(turns, turn_id, sequence)
    return turn_id


async def message_of(turns: Turns, turn_id: str) -> str:
    return (await turns.wait(ANN, turn_id)).message
