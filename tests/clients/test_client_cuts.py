"""A connection that breaks anywhere: every event arrives once and in order all the same."""

import asyncio
import random
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import BaseMessage
from langchain_core.outputs import ChatGenerationChunk

from proviso_client import AsyncTurn, RetryPolicy
from proviso_client.v1 import turns_pb2
from proviso_service.agent.chat_models import ChatModels, NamedChatModel
from tests.support.client_kinds import Connect, events_until
from tests.support.cutting_proxy import cutting_proxy
from tests.support.running import final_of, running_service, text_of
from tests.support.scripted_model import Call, ScriptedChatModel, calls, text

ROUNDS = 50
PACE_S = 0.0005
WORDS = tuple(f"Hello {word}.\n" for word in ("we", "supply", "all", "the", "goods", "within", "agreed", "terms") * 6)
"""Each is a sentence that needs no source, so that it is sent at once."""
LIST = Call("list_matter_documents")
OWN_CONNECTION = [("grpc.use_local_subchannel_pool", 1)]
"""Without it a client may be given the connection of one that was closed just before."""
QUICK = RetryPolicy(max_attempts=1_000, first_wait_s=0.001, longest_wait_s=0.02, give_up_after_s=120.0)


class PacedModel(ScriptedChatModel):
    """Takes a time for each token, so that connections break while the turn is under way."""

    async def _astream(
        self, messages: list[BaseMessage], stop: Any = None, run_manager: Any = None, **kwargs: Any
    ) -> AsyncIterator[ChatGenerationChunk]:
        async for chunk in super()._astream(messages, stop, run_manager, **kwargs):
            yield chunk
            await asyncio.sleep(PACE_S)


async def read(turn: AsyncTurn) -> None:
    """Reads a turn to its end, and checks that its events are all there."""
    events = await events_until(turn)
    final = final_of(events)
    assert final == turn.final
    assert final.exit_reason == turns_pb2.EXIT_REASON_COMPLETED
    assert final.message == turn.text == text_of(events) == "".join(WORDS)
    assert not turn.events_missed


@pytest.mark.timeout(300)  # of fifty turns, on a busy machine
async def test_every_event_arrives_once_and_in_order_in_fifty_turns_that_are_cut(
    connect: Connect, tmp_path: Path, models_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("proviso_service.turns.turn.JOINED_MAX_CHARS", 1)  # a turn has as many bytes as the next
    chance = random.Random(7)  # noqa: S311
    model = PacedModel(script=[calls(LIST), text(*WORDS)] * (ROUNDS + 1))
    models = ChatModels(NamedChatModel("paced", model))
    turns = {"token_interval_s": 0.0}
    async with running_service(tmp_path / "data", models_dir, chat_models=models, turns=turns) as service:
        matter_id = await service.create_matter()
        async with cutting_proxy(service.app.port) as proxy:

            async def ask() -> None:
                async with connect(proxy.target, retries=QUICK, options=OWN_CONNECTION) as client:
                    await read(client.chat("What do you supply?", matter_id=matter_id, options={"disable_cache": True}))

            await ask()
            whole_bytes = proxy.answered_bytes
            for _ in range(ROUNDS):
                proxy.cut_after(chance.randrange(whole_bytes // 2) for _ in range(3))
                await ask()
        assert proxy.cuts_made >= ROUNDS
    assert len(model.payloads) == 2 * (ROUNDS + 1), "no turn was begun twice"


async def test_a_matter_and_a_session_are_made_once_however_often_the_answer_is_lost(
    connect: Connect, tmp_path: Path, models_dir: Path
) -> None:
    async with running_service(tmp_path / "data", models_dir) as service, cutting_proxy(service.app.port) as proxy:
        for cut in range(20, 200, 20):
            proxy.cut_after([cut, cut + 40])
            async with connect(proxy.target, retries=QUICK, options=OWN_CONNECTION) as client:
                await client.matters.create("Lease")
                await client.sessions.create(f"after {cut}")
        cuts_made = proxy.cuts_made
        async with connect(proxy.target, options=OWN_CONNECTION) as client:
            made = [matter async for matter in client.matters.list()]
    assert cuts_made > 9
    assert len(made) == 9
