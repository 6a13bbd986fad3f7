"""A fault, and the measurement of a turn that meets it."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass

from benchmarks.faults.memory import Memory, MemoryWatch
from benchmarks.faults.turn import Turn
from benchmarks.faults.world import FINE, World
from tests.support.gemini_replies import Reply

Script = Callable[[World], Sequence[Reply]]
Lasting = Callable[[World], AbstractAsyncContextManager[None]]


@asynccontextmanager
async def nothing(_world: World) -> AsyncIterator[None]:
    """A context without a fault of its own: the script alone is the fault."""
    yield


@dataclass(frozen=True)
class Fault:
    """A fault. `script` holds Gemini's answers, and `lasting` is the context in which the turn runs. `after` is the
    script of the next turn, which asks the same and begins `pause_s` seconds later. With `large` both turns run in the
    matter with the large document. With `weighs` the memory is measured, too."""

    name: str
    script: Script = lambda _: ()
    lasting: Lasting = nothing
    after: Script = lambda _: (FINE,)
    large: bool = False
    weighs: bool = False
    turns: int = 1
    pause_s: float = 0.0


@dataclass(frozen=True, slots=True)
class Row:
    """One row of the table. Of several turns at once it has the time of the slowest and the model calls of all. It
    counts the requests of these turns that reached the stand-ins."""

    fault: str
    turn: Turn
    gemini_requests: int
    isaacus_requests: int
    memory: Memory | None
    pause_s: float
    next_turn: Turn


async def measure(world: World, fault: Fault) -> Row:
    async with fault.lasting(world):
        gemini, isaacus = world.requests
        watch = MemoryWatch(world.service.process.pid) if fault.weighs else None
        turn = await _turns(world, fault)
        reached_gemini, reached_isaacus = world.requests
        memory = watch.grown() if watch else None
    assert world.gemini.left == 0, f"{fault.name}: the service asked less often than the fault provides for"
    await asyncio.sleep(fault.pause_s)
    return Row(
        fault.name,
        turn,
        reached_gemini - gemini,
        reached_isaacus - isaacus,
        memory,
        fault.pause_s,
        await world.turn(*fault.after(world), large=fault.large),
    )


async def _turns(world: World, fault: Fault) -> Turn:
    world.gemini.then(*fault.script(world))
    turns = await asyncio.gather(*(world.turn(large=fault.large) for _ in range(fault.turns)))
    assert len({turn.exit_reason for turn in turns}) == 1, f"{fault.name}: turns at once end differently"
    slowest = max(turns, key=lambda turn: turn.seconds)
    return slowest.with_model_calls(sum(turn.model_calls for turn in turns))
