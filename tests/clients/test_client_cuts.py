"""A connection that breaks anywhere: every event arrives once and in order all the same."""

import asyncio
import random
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import BaseMessage
from langchain_core.outputs import ChatGenerationChunk

from proviso import AsyncTurn, RetryPolicy
from proviso.steps import Token
from proviso.v1 import chat_pb2, turns_pb2
from proviso_service.agent.chat_models import ChatModels, NamedChatModel
from tests.support.client_kinds import Connect
from tests.support.cutting_proxy import cutting_proxy
from tests.support.running import running_service
from tests.support.scripted_model import ScriptedChatModel, text

ROUNDS = 50
PACE_S = 0.0005
WORDS = tuple(f"{word} " for word in ("we", "supply", "all", "the", "goods", "within", "agreed", "terms") * 6)
QUICK = RetryPolicy(max_attempts=30, first_wait_s=0.001, longest_wait_s=0.02)


class PacedModel(ScriptedChatModel):
    """Takes a time for each token, so that a turn has many events."""

    async def _astream(
        self, messages: list[BaseMessage], stop: Any = None, run_manager: Any = None, **kwargs: Any
    ) -> AsyncIterator[ChatGenerationChunk]:
        async for chunk in super()._astream(messages, stop, run_manager, **kwargs):
            yield chunk
            await asyncio.sleep(PACE_S)


def covered(events: list[chat_pb2.AgentEvent]) -> list[int]:
    """The sequences that events cover, in the order in which they came."""
    spans = ((e.token.first_sequence if e.HasField("token") else e.sequence, e.sequence) for e in events)
    return [number for first, last in spans for number in range(first, last + 1)]


async def read(turn: AsyncTurn) -> None:
    """The events of a turn, after checking that they are all there."""
    events, pieces = [], []
    async for step in turn:
        assert turn.last_event is not None
        events.append(turn.last_event)
        pieces += [step.text] if isinstance(step, Token) else []
    assert turn.final is not None
    assert turn.final.exit_reason == turns_pb2.EXIT_REASON_COMPLETED
    assert covered(events) == list(range(1, turn.sequence + 1))
    assert "".join(pieces) == turn.text == "".join(WORDS)
    assert not turn.events_missed


@pytest.mark.timeout(60)
async def test_every_event_arrives_once_and_in_order_in_fifty_turns_that_are_cut(
    connect: Connect, tmp_path: Path, models_dir: Path
) -> None:
    chance = random.Random(7)  # noqa: S311
    model = PacedModel(script=[text(*WORDS)] * (ROUNDS + 1))
    models = ChatModels(NamedChatModel("paced", model))
    turns = {"token_interval_s": 0.0}
    async with running_service(tmp_path / "data", models_dir, chat_models=models, turns=turns) as service:
        matter_id = await service.create_matter()
        async with cutting_proxy(service.app.port) as proxy:

            async def ask() -> None:
                async with connect(proxy.target, retries=QUICK) as client:
                    await read(client.chat("What do you supply?", matter_id=matter_id, options={"disable_cache": True}))

            await ask()
            whole_bytes = proxy.answered_bytes
            for _ in range(ROUNDS):
                proxy.cut_after(chance.randrange(whole_bytes // 2) for _ in range(3))
                await ask()
        assert proxy.broken > ROUNDS
    assert len(model.payloads) == ROUNDS + 1, "no turn was begun twice"
