"""Two services that share a state, uploaded files and a Redis: what one of them does, the other one knows."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc

from proviso_client.v1 import access_pb2, catalog_pb2, chat_pb2, matters_pb2, sessions_pb2
from proviso_client.v1.catalog_pb2_grpc import CatalogServiceStub
from proviso_service.matters.pipeline import Pipeline
from proviso_service.matters.progress import DocumentWatch
from proviso_service.turns import ExitCause
from tests.api.serving import refused_with
from tests.support.catalogs import RULE, write
from tests.support.postgres_server import PostgresServer
from tests.support.redis_server import RedisServer
from tests.support.running import RunningService, cause_of, chat_request, final_of
from tests.support.scripted_model import Call, Step, calls, text
from tests.support.sharing_services import SharingServices, shared_storage

SERVING = health_pb2.HealthCheckResponse.SERVING
NOT_SERVING = health_pb2.HealthCheckResponse.NOT_SERVING
READY = matters_pb2.DOCUMENT_STATUS_READY
LONG_S = 3_600.0


@pytest.fixture
def sharing(
    tmp_path: Path, models_dir: Path, postgres_server: PostgresServer, own_redis: RedisServer, s3_port: int
) -> Iterator[SharingServices]:
    with shared_storage(postgres_server, own_redis, s3_port) as storage:
        yield SharingServices(tmp_path, models_dir, own_redis, storage)


async def until(found: Callable[[], Awaitable[bool]]) -> None:
    async with asyncio.timeout(60):
        while not await found():  # noqa: ASYNC110 - what the services do by themselves is seen over the wire
            await asyncio.sleep(0.01)


async def events_after(service: RunningService, turn_id: str, sequence: int) -> list[chat_pb2.AgentEvent]:
    request = chat_pb2.ResumeChatRequest(turn_id=turn_id, after_sequence=sequence)
    return [event async for event in service.chat.ResumeChat(request) if event.sequence]


async def is_well(service: RunningService, redis: int) -> bool:
    """Whether the service is SERVING, and says this of Redis."""
    stub: Any = health_pb2_grpc.HealthStub(service.channel)
    asked = [stub.Check(health_pb2.HealthCheckRequest(service=name)) for name in ("", "redis")]
    return [(await answer).status for answer in asked] == [SERVING, redis]


async def is_gone(service: RunningService, turn_id: str) -> bool:
    """Whether the service has nothing of a turn any more."""
    try:
        await events_after(service, turn_id, 0)
    except grpc.aio.AioRpcError as error:
        return error.code() is grpc.StatusCode.NOT_FOUND
    return False


async def test_a_document_is_watched_in_a_service_that_does_not_ingest_it(
    sharing: SharingServices, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate, ingest = asyncio.Event(), Pipeline.ingest

    async def gated(self: Pipeline, *args: Any) -> None:
        await gate.wait()
        await ingest(self, *args)

    monkeypatch.setattr(Pipeline, "ingest", gated)
    monkeypatch.setattr("proviso_service.matters.service.DocumentWatch", partial(DocumentWatch, reread_s=LONG_S))
    async with sharing.two() as (first, second):
        matter_id = await second.create_matter()
        await first.upload(matter_id, "lease.md", b"# Lease\n\nThe rent is USD 900.")
        watched = aiter(second.matters.WatchDocuments(matters_pb2.WatchDocumentsRequest(matter_id=matter_id)))
        states = [await anext(watched)]
        gate.set()
        async with asyncio.timeout(60):
            states += [state async for state in watched]
    assert [state.document.status == READY for state in (states[0], states[-1])] == [False, True]


async def test_a_reload_of_the_catalog_reaches_every_service(sharing: SharingServices, tmp_path: Path) -> None:
    folder = write(tmp_path / "agent")
    async with sharing.two(agent_dir=folder) as (first, second):
        write(folder, rules__quoting_md=RULE)
        await CatalogServiceStub(first.channel).ReloadCatalog(catalog_pb2.ReloadCatalogRequest())

        async def has_rule() -> bool:
            listed = await CatalogServiceStub(second.channel).ListContextItems(catalog_pb2.ListContextItemsRequest())
            return "Quoting" in [item.item.name for item in listed.items]

        await until(has_rule)


async def test_a_deleted_matter_ends_turns_that_other_services_run(sharing: SharingServices) -> None:
    async with sharing.two(Step(hold=asyncio.Event())) as (first, second):
        matter_id = await first.create_matter(lease="# Lease\n\nThe rent is USD 900.")
        events = aiter(first.chat.Chat(chat_request("What is the rent?", matter_id)))
        seen = [await anext(events)]
        deleted = await second.matters.DeleteMatter(matters_pb2.DeleteMatterRequest(matter_id=matter_id))
        async with asyncio.timeout(60):
            seen += [event async for event in events]
        assert cause_of(final_of(seen)) is ExitCause.CANCELLED_BY_CALLER

        async def is_complete() -> bool:
            request = access_pb2.GetDeletionRequest(deletion_id=deleted.deletion_id)
            return (await second.access.GetDeletion(request)).deletion.HasField("complete_time")

        await until(is_complete)
        await until(partial(is_gone, first, seen[0].turn_id))


async def test_a_deleted_session_takes_the_events_of_its_turns_from_every_service(sharing: SharingServices) -> None:
    async with sharing.two(text("Thirty days.")) as (first, second):
        turn_id = (await first.ask("What is the notice period?", session_id="s-1"))[0].turn_id
        assert not await is_gone(first, turn_id)
        await second.sessions.DeleteSession(sessions_pb2.DeleteSessionRequest(session_id="s-1"))
        await until(partial(is_gone, first, turn_id))


async def test_what_is_deleted_while_redis_is_away_is_found_out_once_it_is_back(sharing: SharingServices) -> None:
    async with sharing.two(text("Thirty days.")) as (first, second):
        turn_id = (await first.ask("What is the notice period?", session_id="s-1"))[0].turn_id
        sharing.redis.kill()
        await second.sessions.DeleteSession(sessions_pb2.DeleteSessionRequest(session_id="s-1"))
        assert not await is_gone(first, turn_id)
        sharing.redis.start()
        await until(partial(is_gone, first, turn_id))


async def test_redis_is_killed_while_a_turn_streams_and_readers_elsewhere_come_back_without_a_gap(
    sharing: SharingServices, caplog: pytest.LogCaptureFixture
) -> None:
    held = asyncio.Event()
    script = calls(Call("list_matter_documents")), Step(("Here is the list.",), hold=held)
    async with sharing.two(*script) as (first, second):
        matter_id = await first.create_matter(lease="# Lease\n\nThe rent is USD 900.")
        here = aiter(first.chat.Chat(chat_request("Which documents are there?", matter_id)))
        seen_here = [await anext(here)]
        turn_id = seen_here[0].turn_id
        there = aiter(second.chat.ResumeChat(chat_pb2.ResumeChatRequest(turn_id=turn_id)))
        seen = [await anext(there)]
        while seen[-1].WhichOneof("event") != "tool_start":
            seen.append(await anext(there))
        sharing.redis.kill()
        with pytest.raises(grpc.aio.AioRpcError) as refused:
            seen += [event async for event in there]
        told = refused_with(refused.value)
        assert (told.code, told.reason) == (grpc.StatusCode.UNAVAILABLE, "NOT_READY")
        assert told.details["ErrorInfo"].metadata["owner"]
        for service in (first, second):
            await until(partial(is_well, service, NOT_SERVING))
        held.set()
        seen_here += [event async for event in here]
        sharing.redis.start()

        async def has_come_back() -> bool:
            """Whether the events are there, and not the stored end alone."""
            rest = await events_after(second, turn_id, seen[-1].sequence)
            if len(rest) > 1:
                seen.extend(rest)
            return len(rest) > 1

        await until(has_come_back)
        await until(partial(is_well, second, SERVING))
    assert final_of(seen) == final_of(seen_here)
    assert caplog.text.count("redis_lost") == 2
    assert caplog.text.count("redis_recovered") == 2
