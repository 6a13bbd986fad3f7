"""The service as a process: killed, told to stop, busy."""

import asyncio
from pathlib import Path

import grpc
import pytest
from grpc_health.v1 import health_pb2

from proviso_client import AsyncClient, RetryPolicy
from proviso_client.v1 import chat_pb2, matters_pb2, turns_pb2
from tests.support.endless_process import endless_service
from tests.support.running import AGREEMENT, RunningService, final_of, running_service
from tests.support.scripted_model import text

UNCACHED = chat_pb2.ChatOptions(disable_cache=True)


async def test_a_turn_cut_off_by_kill_9_goes_on_at_the_next_start(tmp_path: Path, models_dir: Path) -> None:
    async with endless_service(tmp_path / "data", models_dir) as doomed:
        _, first = await doomed.begin_turn("s", "Hallo, welches Recht gilt?")
        doomed.process.kill()
        await doomed.process.wait()
    async with running_service(tmp_path / "data", models_dir, text("Welches ", "meinen Sie?")) as service:
        resumed = service.chat.ResumeChat(
            chat_pb2.ResumeChatRequest(turn_id=first.turn_id, after_sequence=first.sequence)
        )
        final = final_of([first, *[event async for event in resumed]])
        assert final.exit_reason == turns_pb2.EXIT_REASON_COMPLETED
        turn = await service.chat.GetTurn(chat_pb2.GetTurnRequest(turn_id=first.turn_id))
        assert (turn.state, turn.final_state) == (chat_pb2.TURN_STATE_ENDED, final)
        # The session is free again.
        final_of(await service.ask("Hi", turn.final_state.request_context.matter_context.matter_id, session_id="s"))


async def test_sigterm_hands_running_turns_over_and_exits_cleanly(tmp_path: Path, models_dir: Path) -> None:
    async with endless_service(tmp_path / "data", models_dir) as stopping:
        call, first = await stopping.begin_turn()
        watch_health = stopping.channel.unary_stream(
            "/grpc.health.v1.Health/Watch",
            request_serializer=health_pb2.HealthCheckRequest.SerializeToString,
            response_deserializer=health_pb2.HealthCheckResponse.FromString,
        )
        watch = watch_health(health_pb2.HealthCheckRequest(service="proviso.v1.ChatService"))
        seen = [(await anext(aiter(watch))).status]
        stopping.process.terminate()
        seen.append((await anext(aiter(watch))).status)
        with pytest.raises(grpc.aio.AioRpcError) as handed_over:
            [event async for event in call]
        assert handed_over.value.code() is grpc.StatusCode.UNAVAILABLE
        assert seen == [health_pb2.HealthCheckResponse.SERVING, health_pb2.HealthCheckResponse.NOT_SERVING]
        assert await asyncio.wait_for(stopping.process.wait(), 20) == 0
    async with running_service(tmp_path / "data", models_dir, text("You are welcome.")) as service:
        resumed = service.chat.ResumeChat(
            chat_pb2.ResumeChatRequest(turn_id=first.turn_id, after_sequence=first.sequence)
        )
        assert final_of([first, *[event async for event in resumed]]).message == "You are welcome."


async def test_the_event_loop_stays_free_while_documents_are_ingested(service: RunningService) -> None:
    loop = asyncio.get_running_loop()
    delays: list[float] = []

    async def tick() -> None:
        while True:
            due = loop.time() + 0.01
            await asyncio.sleep(0.01)
            delays.append(loop.time() - due)

    ticking = asyncio.create_task(tick())
    created = await service.matters.CreateMatter(matters_pb2.CreateMatterRequest(name="Big"))
    for number in range(4):
        sections = (f"## {n}. Clause {n} of {number}\n\n{AGREEMENT}" for n in range(60))
        await service.upload(created.matter.matter_id, f"big {number}.md", "\n\n".join(sections).encode())
    await service.wait_until_ready(created.matter.matter_id)
    ticking.cancel()
    assert len(delays) > 20
    # The machine may be busy with other things, and stand still for a moment: parsing or embedding on the loop would
    # take seconds here, for each of the documents.
    assert sorted(delays)[len(delays) // 2] < 0.05
    assert sorted(delays)[-4] < 0.6


async def test_two_hundred_turns_at_once_each_end_once(tmp_path: Path, models_dir: Path) -> None:
    tokens = ["How ", "can ", "I ", "help ", "you?"]
    async with running_service(tmp_path / "data", models_dir, *[text(*tokens)] * 200) as service:
        matter_id = await service.create_matter()
        # A busy machine refuses some of them for a moment: the client asks again as often as it is told to.
        async with AsyncClient(f"127.0.0.1:{service.app.port}", retries=RetryPolicy(max_attempts=100)) as client:
            turns = [client.chat("Hi", matter_id=matter_id, options=UNCACHED) for _ in range(200)]
            finals = await asyncio.gather(*(turn.result() for turn in turns))
        assert len({turn.turn_id for turn in turns}) == 200
        assert {final.message for final in finals} == {"".join(tokens)}
