"""Faults of the chat model's provider."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from functools import partial

from benchmarks.faults.fault import Fault, Lasting
from benchmarks.faults.world import FINE, World
from proviso_service.agent.chat_models import ChatModelConfig
from proviso_service.turns import TurnConfig
from tests.support.gemini_replies import Ending, Refused, Reply, Streamed, cut, refuses, retry_info

SLOW_S = 20.0
"""Longer than the silence after which a heartbeat is sent, shorter than that after which a call has failed."""

SHORT_SILENCE_S = 5.0

TURNS_AT_ONCE = 20
_GATE = ChatModelConfig()
_OPENING_TURNS = 1 + _GATE.failures_in_a_row // (1 + TurnConfig().model_retries)
_CUT_TEXT = ("Is it about ", "the lea")
_UNAVAILABLE = refuses(503, "UNAVAILABLE")


def limited(delay: str = "") -> Refused:
    """An answer with status 429; `delay` is the wait that Google asks for."""
    return refuses(429, "RESOURCE_EXHAUSTED", *([retry_info(delay)] if delay else []))


@asynccontextmanager
async def _answers(reply: Reply, world: World) -> AsyncIterator[None]:
    world.gemini.always = reply
    try:
        yield
    finally:
        world.gemini.always = None


def for_ever(reply: Reply) -> Lasting:
    """Every request gets this answer."""
    return partial(_answers, reply)


@asynccontextmanager
async def away(world: World) -> AsyncIterator[None]:
    """Nothing listens at the provider's address."""
    await world.gemini.leave()
    try:
        yield
    finally:
        await world.gemini.listen()


@asynccontextmanager
async def gate_open(world: World) -> AsyncIterator[None]:
    """The provider answers every request with 503. So many turns have failed before that the service has stopped
    calling it."""
    async with for_ever(_UNAVAILABLE)(world):
        for _ in range(_OPENING_TURNS):
            await world.turn()
        yield


def slow_first_token(_world: World) -> Sequence[Reply]:
    held = asyncio.Event()
    asyncio.get_running_loop().call_later(SLOW_S, held.set)
    return (Streamed(FINE.chunks, held=held),)


MODEL_FAULTS = (
    Fault("429 for ever", lasting=for_ever(limited())),
    Fault("429 for ever, asking for 2 s", lasting=for_ever(limited("2s"))),
    Fault("429 for ever, asking for an hour", lasting=for_ever(limited("3600s"))),
    Fault("429 twice, then fine", lambda _: (limited(), limited(), FINE)),
    Fault("503 for ever", lasting=for_ever(_UNAVAILABLE)),
    Fault("503 once, then fine", lambda _: (_UNAVAILABLE, FINE)),
    Fault("connection refused", lasting=away),
    Fault("stream stalls in its middle, then fine", lambda _: (cut(*_CUT_TEXT, ending=Ending.STALLS), FINE)),
    Fault("stream cut in its middle, then fine", lambda _: (cut(*_CUT_TEXT), FINE)),
    Fault("stream cut in its middle for ever", lasting=for_ever(cut(*_CUT_TEXT))),
    Fault(f"first token after {SLOW_S:g} s", slow_first_token),
)

OUTAGES = (
    Fault(
        f"gate open, after {_GATE.failures_in_a_row} calls in a row got 503", lasting=gate_open, pause_s=_GATE.pause_s
    ),
    Fault(
        f"503 for {TURNS_AT_ONCE} turns at once",
        lasting=for_ever(_UNAVAILABLE),
        turns=TURNS_AT_ONCE,
        pause_s=_GATE.pause_s,
    ),
    Fault(
        f"connection refused for {TURNS_AT_ONCE} turns at once",
        lasting=away,
        turns=TURNS_AT_ONCE,
        pause_s=_GATE.pause_s,
    ),
)
"""Each opens the gate, so that the turn after it comes when the pause is over."""

SHORT_SILENCE = (
    Fault(
        f"stream stalls for ever (silence_s {SHORT_SILENCE_S:g}, not {_GATE.silence_s:g})",
        lasting=for_ever(cut(*_CUT_TEXT, ending=Ending.STALLS)),
    ),
    Fault(
        f"no answer for ever (silence_s {SHORT_SILENCE_S:g}, not {_GATE.silence_s:g})",
        lasting=for_ever(cut(ending=Ending.STALLS)),
    ),
)
"""With the default these take over a minute and a half."""
