"""The service as a process: killed, told to stop, busy."""

import asyncio
from pathlib import Path

from grpc_health.v1 import health_pb2

from proviso_client.v1 import chat_pb2, matters_pb2, turns_pb2
from proviso_service.turns import EXIT_SEMANTICS, ExitReason
from tests.support.endless_process import endless_service
from tests.support.running import AGREEMENT, RunningService, final_of, running_service
from tests.support.scripted_model import text


async def test_a_turn_cut_off_by_kill_9_is_closed_at_the_next_start(tmp_path: Path, models_dir: Path) -> None:
    async with endless_service(tmp_path / "data", models_dir) as doomed:
        _, first = await doomed.begin_turn("s", "Hallo, welches Recht gilt?")
        doomed.process.kill()
        await doomed.process.wait()
    async with running_service(tmp_path / "data", models_dir) as service:
        turn = await service.chat.GetTurn(chat_pb2.GetTurnRequest(turn_id=first.turn_id))
        assert turn.state == chat_pb2.TURN_STATE_ENDED
        assert turn.final_state.exit_reason == turns_pb2.EXIT_REASON_INTERNAL_ERROR
        assert turn.final_state.retryable == chat_pb2.RETRYABLE_MAYBE
        assert turn.final_state.message == EXIT_SEMANTICS[ExitReason.INTERNAL_ERROR].text("de")
        resumed = service.chat.ResumeChat(chat_pb2.ResumeChatRequest(turn_id=first.turn_id))
        assert [event.final_state async for event in resumed] == [turn.final_state]
        # The session is free again.
        final_of(await service.ask("Hi", turn.final_state.request_context.matter_context.matter_id, session_id="s"))


async def test_sigterm_drains_running_turns_and_exits_cleanly(tmp_path: Path, models_dir: Path) -> None:
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
        final = final_of([first, *[event async for event in call]])
        assert final.exit_reason == turns_pb2.EXIT_REASON_CANCELLED
        assert final.retryable == chat_pb2.RETRYABLE_YES
        assert seen == [health_pb2.HealthCheckResponse.SERVING, health_pb2.HealthCheckResponse.NOT_SERVING]
        assert await asyncio.wait_for(stopping.process.wait(), 20) == 0


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
    # The machine may be busy with other things, so the bound is generous; parsing or embedding on the loop would
    # take seconds here.
    assert sorted(delays)[len(delays) // 2] < 0.05
    assert max(delays) < 0.6


async def test_two_hundred_turns_at_once_each_end_once(tmp_path: Path, models_dir: Path) -> None:
    tokens = ["How ", "can ", "I ", "help ", "you?"]
    async with running_service(tmp_path / "data", models_dir, *[text(*tokens)] * 200) as service:
        matter_id = await service.create_matter()
        each = chat_pb2.ChatOptions(disable_cache=True)
        turns = await asyncio.gather(*(service.ask("Hi", matter_id, options=each) for _ in range(200)))
        assert len({events[0].turn_id for events in turns}) == 200
        assert {final_of(events).message for events in turns} == {"".join(tokens)}
