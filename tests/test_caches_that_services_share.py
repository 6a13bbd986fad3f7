"""Services that share a Redis share their caches: what one of them has found or was answered, the other does not ask
again, and what is deleted is in no cache any more."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path

import pytest
from redis.asyncio import Redis

from proviso_client.v1 import access_pb2, matters_pb2
from proviso_service.agent.caching import Caches
from tests.support.postgres_server import PostgresServer
from tests.support.redis_server import RedisServer
from tests.support.running import AGREEMENT, RunningService, final_of
from tests.support.scripted_model import Step
from tests.support.sharing_services import SharingServices, shared_storage

QUESTION = "What is the governing law of the services agreement?"
QUOTED = "State of Oregon"


@pytest.fixture
def sharing(
    tmp_path: Path, models_dir: Path, postgres_server: PostgresServer, own_redis: RedisServer, s3_port: int
) -> Iterator[SharingServices]:
    with shared_storage(postgres_server, own_redis, s3_port) as storage:
        yield SharingServices(tmp_path, models_dir, own_redis, storage)


async def until(found: Callable[[], Awaitable[bool]]) -> None:
    async with asyncio.timeout(60):
        while not await found():  # noqa: ASYNC110 - what the services do by themselves is seen from outside
            await asyncio.sleep(0.01)


async def kept_texts(redis: RedisServer) -> list[str]:
    """What the caches in Redis hold."""
    async with Redis.from_url(redis.url) as client:
        found = [[name async for name in client.scan_iter(f"proviso:{kind}:*")] for kind in ("replies", "results")]
        values = [await client.get(name) for names in found for name in names]
    return [bytes(value).decode() for value in values if isinstance(value, bytes)]


def caches_of(service: RunningService) -> Caches:
    assert service.app.caches is not None
    return service.app.caches


async def delete_document(service: RunningService, matter_id: str) -> str:
    """Deletes the only document of the matter; returns the id of the deletion."""
    [document] = await service.wait_until_ready(matter_id)
    request = matters_pb2.DeleteDocumentRequest(matter_id=matter_id, document_id=document.document_id)
    return (await service.matters.DeleteDocument(request)).deletion_id


async def is_complete(service: RunningService, deletion_id: str) -> bool:
    request = access_pb2.GetDeletionRequest(deletion_id=deletion_id)
    return (await service.access.GetDeletion(request)).deletion.HasField("complete_time")


async def test_the_same_question_in_both_at_once_is_answered_once(sharing: SharingServices) -> None:
    async with sharing.two() as services:
        matter_id = await services[0].create_matter(Services_Agreement=AGREEMENT)
        asked = [service.ask(QUESTION, matter_id) for service in services]
        finals = [final_of(events) for events in await asyncio.gather(*asked)]
        assert finals[0].message == finals[1].message
        assert QUOTED in finals[0].message
        calls = len(finals[0].usage.calls)
        assert sum(final.usage.model_calls for final in finals) == calls
        caches = [caches_of(service) for service in services]
        assert [sum(one.replies.misses for one in caches), sum(one.replies.hits for one in caches)] == [calls, calls]
        assert [sum(one.results.misses for one in caches), sum(one.results.hits for one in caches)] == [2, 2]


async def test_a_service_waits_for_the_reply_that_another_one_is_being_given(sharing: SharingServices) -> None:
    held = asyncio.Event()
    script = Step(("Good morning.",), hold=held)
    async with sharing.service("first", script) as first, sharing.service("second", script) as second:
        matter_id = await first.create_matter()
        asking = [asyncio.create_task(service.ask("Good morning", matter_id)) for service in (first, second)]

        async def both_need_it() -> bool:
            return [caches_of(service).replies.in_progress for service in (first, second)] == [1, 1]

        await until(both_need_it)
        held.set()
        finals = [final_of(events) for events in await asyncio.gather(*asking)]
    assert [final.message for final in finals] == ["Good morning."] * 2
    assert sorted(final.from_cache for final in finals) == [False, True]
    assert sum(final.usage.model_calls for final in finals) == 1


async def test_an_answer_of_one_service_comes_from_the_cache_of_the_other_with_the_same_citations(
    sharing: SharingServices,
) -> None:
    async with sharing.two() as (first, second):
        matter_id = await first.create_matter(Services_Agreement=AGREEMENT)
        finals = [final_of(await service.ask(QUESTION, matter_id)) for service in (first, second)]
    assert [final.from_cache for final in finals] == [False, True]
    assert [record.from_cache for record in finals[1].tool_call_records if record.tool == "isaacus_search"] == [True]
    assert list(finals[0].citations) == list(finals[1].citations) != []


async def test_a_deleted_document_is_in_no_cache_and_is_not_quoted_by_the_other_service(
    sharing: SharingServices,
) -> None:
    async with sharing.two() as (first, second):
        matter_id = await first.create_matter(Services_Agreement=AGREEMENT)
        await first.ask(QUESTION, matter_id)
        assert any(QUOTED in text for text in await kept_texts(sharing.redis))
        deletion_id = await delete_document(second, matter_id)

        async def is_done() -> bool:
            return await is_complete(second, deletion_id)

        await until(is_done)
        assert await kept_texts(sharing.redis) == []
        for service in (first, second):
            events = await service.ask(QUESTION, matter_id)
            assert QUOTED not in str(events)


async def test_turns_go_on_without_redis_and_a_deletion_is_complete_once_it_is_back_and_cleared(
    tmp_path: Path,
    models_dir: Path,
    postgres_server: PostgresServer,
    s3_port: int,
    caplog: pytest.LogCaptureFixture,
) -> None:
    with (
        RedisServer(tmp_path / "keeping", keeps=True) as redis,
        shared_storage(postgres_server, redis, s3_port) as storage,
    ):
        sharing = SharingServices(tmp_path, models_dir, redis, storage)
        async with sharing.two() as (first, second):
            matter_id = await first.create_matter(Services_Agreement=AGREEMENT)
            answers = [final_of(await first.ask(QUESTION, matter_id)).message]
            assert any(QUOTED in text for text in await kept_texts(redis))
            async with Redis.from_url(redis.url) as client:
                await client.set("beside", "kept")
            redis.kill()
            for service in (first, second):
                final = final_of(await service.ask(QUESTION, matter_id))
                assert not final.from_cache
                answers.append(final.message)
            assert len(set(answers)) == 1
            deletion_id = await delete_document(first, matter_id)

            async def waits() -> bool:
                return "erasure_waits" in caplog.text

            await until(waits)
            assert not await is_complete(first, deletion_id)
            redis.start()
            async with Redis.from_url(redis.url) as client:
                assert await client.get("beside") == b"kept"

            async def is_done() -> bool:
                return await is_complete(first, deletion_id)

            await until(is_done)
            assert await kept_texts(redis) == []
