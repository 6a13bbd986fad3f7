"""A turn in the turn engine whose model and tools play what `turn_oracle` reads, at a pace that the test sets."""

import asyncio
import json
from collections import Counter
from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from random import Random
from typing import Any

import httpx
from langchain_core.messages import BaseMessage

from proviso_service.agent.caching import Caches
from proviso_service.context.model import MatterContext
from proviso_service.errors import NoReadyDocuments
from proviso_service.tools.base import Number, Rendered, SourcePassage, ToolArgs, ToolScope
from proviso_service.tools.rendering import to_json
from proviso_service.turns import (
    Event,
    FinalState,
    Heartbeat,
    TextDiscarded,
    Token,
    TurnConfig,
    TurnOptions,
    TurnOutcome,
    TurnRequest,
    Turns,
)
from tests.support.agent_world import CALLER, MATTER_ID, PASSAGE, AgentWorld, Found, LookupArgs, agent_world
from tests.support.memory_caches import memory_caches
from tests.support.scripted_model import Call, Step
from tests.support.turn_oracle import Failure, Limits, Lookup, Reply
from tests.turns.memory_turn_store import MemoryTurnStore
from tests.turns.scripted import running

QUESTION = "Which law?"
DETAIL = "detail-4711"
"""What exceptions say, and nobody outside may read."""
HUGE = SourcePassage("d-huge", "Long.md", 40, PASSAGE.text + " word" * 2_000)
INSTANT = TurnConfig(retry_base_s=0.0001, retry_max_s=0.0002)

_STEPS_BETWEEN = 3
"""Of the event loop, between one gate and the next: enough for a turn to come to its next wait."""


@dataclass
class Stage:
    """The gates at which the model and the tools wait, and what the tools have done."""

    gates: dict[str, asyncio.Event] = field(default_factory=dict)
    runs: Counter[str] = field(default_factory=Counter)

    def gate(self, name: str) -> asyncio.Event:
        return self.gates.setdefault(name, asyncio.Event())


@dataclass(frozen=True)
class PlayedLookup:
    """A retrieval tool; its query says what it comes to."""

    stage: Stage
    name: str = "lookup"
    description: str = "Looks something up."
    args: type[ToolArgs] = LookupArgs
    needs_matter: bool = True
    is_retrieval: bool = True

    async def run(self, scope: ToolScope, args: LookupArgs) -> Found:
        self.stage.runs[args.query] += 1
        await self.stage.gate(args.query).wait()
        match Lookup[args.query.split("-")[0]]:
            case Lookup.EMPTY:
                return Found([])
            case Lookup.HUGE:
                return Found([HUGE])
            case Lookup.REFUSED:
                raise NoReadyDocuments
            case Lookup.CRASHED:
                raise RuntimeError(DETAIL)
            case Lookup.AWAY:
                raise TimeoutError(DETAIL)
            case Lookup.FLAKY if self.stage.runs[args.query] <= INSTANT.tool_retries:
                raise ConnectionError(DETAIL)
        return Found([PASSAGE])


@dataclass(frozen=True)
class Names:
    found: bool = True

    def data(self) -> dict[str, Any]:
        return {"names": ["Services Agreement.md"]}

    def render(self, number: Number, max_chars: int) -> Rendered:
        return Rendered(to_json(self.data()), False)


@dataclass(frozen=True)
class PlayedNames:
    """A tool that returns no passage."""

    stage: Stage
    name: str = "names"
    description: str = "Lists names."
    args: type[ToolArgs] = LookupArgs
    needs_matter: bool = True
    is_retrieval: bool = False

    async def run(self, scope: ToolScope, args: LookupArgs) -> Names:
        await self.stage.gate(args.query).wait()
        return Names()


@dataclass(frozen=True)
class PlayedTurn:
    """What a turn left: its events, its end, what was stored, and what its model was sent, call by call, with which
    tools. `was_cancelled`: by the test, in time."""

    events: Sequence[Event]
    final: FinalState
    stored: Sequence[TurnOutcome]
    payloads: Sequence[list[BaseMessage]]
    tool_choices: Sequence[str | None]
    was_cancelled: bool

    def of_kind(self, kind: type) -> list[Any]:
        return [event for event in self.events if isinstance(event, kind)]

    @property
    def standing_text(self) -> str:
        """What a reader holds who follows the events."""
        texts: dict[str, str] = {}
        for event in self.events:
            if isinstance(event, Token):
                texts[event.text_id] = texts.get(event.text_id, "") + event.text
            elif isinstance(event, TextDiscarded):
                assert texts.pop(event.text_id), "only text that stands is voided"
                assert len(texts) == 0
        assert len(texts) <= 1
        return "".join(texts.values())


async def play(
    replies: Sequence[Reply], limits: Limits, pace: Random, *, same_ids: bool = False, cancel_at: int | None = None
) -> PlayedTurn:
    """Plays a turn, opening the gates in an order that `pace` draws; cancels it before gate `cancel_at`, if given."""
    stage = Stage()
    return await _turn(_world(stage, replies, same_ids=same_ids), stage, limits, pace, cancel_at)


async def play_twice(replies: Sequence[Reply], limits: Limits, pace: Random) -> tuple[PlayedTurn, PlayedTurn]:
    """Plays the same turn twice, with caches; the second goes on in the script where the first has ended."""
    stage = Stage()
    world = _world(stage, replies, caches=memory_caches())
    return await _turn(world, stage, limits, pace), await _turn(world, stage, limits, pace)


def _world(
    stage: Stage, replies: Sequence[Reply], *, same_ids: bool = False, caches: Caches | None = None
) -> AgentWorld:
    steps = [_step(stage, number, reply, same_ids) for number, reply in enumerate(replies)]
    return agent_world(*steps, tools=[PlayedLookup(stage), PlayedNames(stage)], turns=INSTANT, caches=caches)


async def _turn(
    world: AgentWorld, stage: Stage, limits: Limits, pace: Random, cancel_at: int | None = None
) -> PlayedTurn:
    store, before = MemoryTurnStore(), len(world.model.payloads)
    options = TurnOptions(
        max_turns=limits.turns, max_tool_calls=limits.tool_calls, max_context_chars=limits.context_chars
    )
    request = TurnRequest(QUESTION, MatterContext(MATTER_ID), session_id="s", options=options)
    async with running(world.agent, store) as turns:
        turn_id = await turns.start(CALLER, request)
        reader = asyncio.create_task(_read(turns, turn_id))
        was_cancelled = await _open_gates(list(stage.gates.values()), pace, turns, turn_id, cancel_at)
        events = await reader
    final = events[-1]
    assert isinstance(final, FinalState)
    sent, tools = world.model.payloads[before:], world.model.tool_choices[before:]
    return PlayedTurn(events, final, store.finished, sent, tools, was_cancelled)


async def _open_gates(
    gates: list[asyncio.Event], pace: Random, turns: Turns, turn_id: str, cancel_at: int | None
) -> bool:
    """Whether the turn was cancelled."""
    pace.shuffle(gates)
    for number, gate in enumerate(gates):
        if number == cancel_at:
            return await turns.cancel(CALLER, turn_id)
        gate.set()
        for _ in range(_STEPS_BETWEEN):
            await asyncio.sleep(0)
    return False


async def _read(turns: Turns, turn_id: str) -> list[Event]:
    async with aclosing(turns.read(CALLER, turn_id, 0)) as items:
        return [item.event async for item in items if not isinstance(item, Heartbeat)]


def _step(stage: Stage, number: int, reply: Reply, same_ids: bool) -> Step:
    called = [_call(stage, f"{number}.{i}", lookup, same_ids) for i, lookup in enumerate(reply.lookups)]
    words = reply.words.value
    tokens = [words[:5], words[5:]] if words else []
    return Step(tokens, called, _error(reply.failure), hold=stage.gate(f"model-{number}"))


def _call(stage: Stage, place: str, lookup: Lookup, same_ids: bool) -> Call:
    call_id = "same" if same_ids else ""
    match lookup:
        case Lookup.UNKNOWN:
            return Call("no_such_tool", "{}", call_id)
        case Lookup.MISFIT:
            return Call("lookup", '{"limit": 3}', call_id)
        case Lookup.NO_JSON:
            return Call("lookup", "query=law", call_id)
    query = f"{lookup.name}-{place}"
    stage.gate(query)
    return Call("names" if lookup is Lookup.NAMES else "lookup", json.dumps({"query": query}), call_id)


def _error(failure: Failure | None) -> Exception | None:
    """Made anew for every step: an exception keeps the tracebacks of all its raisings."""
    match failure:
        case Failure.TRANSIENT:
            return ConnectionError(DETAIL)
        case Failure.FINAL:
            return ValueError(DETAIL)
        case Failure.RATE_LIMIT:
            request = httpx.Request("POST", "http://model.invalid/")
            return httpx.HTTPStatusError(DETAIL, request=request, response=httpx.Response(429))
    return None
