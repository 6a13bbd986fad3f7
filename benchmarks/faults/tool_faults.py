"""Faults of what the tools depend on: Isaacus's models, and documents of any size."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

from benchmarks.faults.fault import Fault, Lasting
from benchmarks.faults.world import World
from tests.support.gemini_replies import Reply, calls, says
from tests.support.hosted_api import Fault as ApiFault
from tests.support.hosted_api import changed
from tests.support.hosted_api import says as api_says
from tests.support.isaacus_server import problem

BYTES_5_MB = 5 * 1024 * 1024
_LONGEST_TEXT_CHARS = 700_000
_SORRY = says("I could not look that up.")
_LAW = says("It is governed by ", "“the laws of the State of Oregon” [1].")
_WHICH = says("Which part of it ", "do you mean?")


def query(world: World, answer: Reply) -> Sequence[Reply]:
    """A script in which the model calls isaacus_iql with a statement that has not been scored yet, and then answers."""
    statement = f"governed by the laws of the State of Oregon {next(world.numbers)}"
    return calls(("isaacus_iql", {"query": f"{{{statement}}}"})), answer


def answers(world: World) -> Sequence[Reply]:
    return query(world, _LAW)


def fails(world: World) -> Sequence[Reply]:
    return query(world, _SORRY)


def long_text(_world: World) -> Sequence[Reply]:
    """A script with two calls at once, each of which returns 2.8 MB."""
    wanted: tuple[str, dict[str, Any]] = (
        "get_document_text",
        {"filename": "schedule.txt", "max_length": _LONGEST_TEXT_CHARS},
    )
    return calls(wanted, wanted), _WHICH


@asynccontextmanager
async def _api_faults(faults: Sequence[ApiFault], world: World) -> AsyncIterator[None]:
    world.isaacus.then(*faults)
    yield


def api(*faults: ApiFault) -> Lasting:
    """Isaacus's answers to the next requests, one for each."""
    return partial(_api_faults, faults)


@asynccontextmanager
async def hangs(world: World) -> AsyncIterator[None]:
    """Isaacus accepts requests and answers none of them."""
    world.isaacus.shut()
    try:
        yield
    finally:
        world.isaacus.open()


_UNAVAILABLE = problem(503, "Service unavailable")
_PADDED = changed(lambda answer: answer.update(notes="x" * BYTES_5_MB))
_NOISE = api_says(b"x" * BYTES_5_MB)

TOOL_FAULTS = (
    Fault("Isaacus fails twice (503), then well", answers, api(*[_UNAVAILABLE] * 2), answers),
    Fault("Isaacus fails at every try (503)", fails, api(*[_UNAVAILABLE] * 3), answers),
    Fault("Isaacus hangs", fails, hangs, answers),
    Fault("Isaacus answers well, with 5 MB beside it", answers, api(_PADDED), answers, weighs=True),
    Fault("Isaacus answers with 5 MB that are no answer", fails, api(_NOISE), answers, weighs=True),
    Fault("two get_document_text of 2.8 MB each", long_text, after=long_text, large=True, weighs=True),
)
