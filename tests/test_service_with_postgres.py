"""The whole service with its state in PostgreSQL, which may be lost."""

import asyncio
import random
from pathlib import Path

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc

from proviso_client.v1 import matters_pb2, sessions_pb2, tools_pb2
from proviso_service.backends import storage
from proviso_service.retrying import Backoff
from proviso_service.wiring_resources import StartupError
from tests.support.postgres_server import PostgresServer
from tests.support.redis_server import RedisServer
from tests.support.running import AGREEMENT, RunningService, final_of, running_service
from tests.support.scripted_model import text
from tests.support.sharing_services import shared_storage

SERVING = health_pb2.HealthCheckResponse.SERVING


async def found(service: RunningService, matter_id: str, query: str) -> list[tuple[str, float]]:
    """The texts of a search's results and their scores, the best first."""
    answer = await service.tools.Search(tools_pb2.SearchRequest(matter_id=matter_id, query=query, page_size=20))
    return [(result.chunk_text, round(result.score, 6)) for result in answer.results]


async def until_health(service: RunningService, *, serving: bool) -> None:
    stub = health_pb2_grpc.HealthStub(service.channel)
    async with asyncio.timeout(60):
        async for now in stub.Watch(health_pb2.HealthCheckRequest()):  # type: ignore[attr-defined]  # older stubs
            if (now.status == SERVING) is serving:
                return


async def test_what_a_service_was_told_is_there_for_the_next_one_and_goes_when_it_is_deleted(
    tmp_path: Path, models_dir: Path, postgres_server: PostgresServer
) -> None:
    with postgres_server.state() as url:
        kept = {"state_url": url}
        async with running_service(tmp_path / "data", models_dir, text("Thirty days."), storage=kept) as service:
            matter_id = await service.create_matter(agreement=AGREEMENT)
            asked = await service.ask("What is the notice period?", matter_id, session_id="s1")
            before = await found(service, matter_id, "governing law")
            assert before
        assert not list((tmp_path / "data").glob("state.sqlite3-*"))
        async with running_service(tmp_path / "data", models_dir, storage=kept) as service:
            listed = await service.sessions.ListMessages(sessions_pb2.ListMessagesRequest(session_id="s1"))
            assert listed.messages[-1].content == final_of(asked).message
            assert await found(service, matter_id, "governing law") == before
            [document] = await service.wait_until_ready(matter_id)
            deletion = matters_pb2.DeleteDocumentRequest(matter_id=matter_id, document_id=document.document_id)
            await service.matters.DeleteDocument(deletion)
            assert not await found(service, matter_id, "governing law")


async def test_ranks_and_scores_are_those_of_sqlite(
    tmp_path: Path, models_dir: Path, postgres_server: PostgresServer
) -> None:
    draw = random.Random(7)  # noqa: S311 - the same every time
    words = ["rent", "lease", "notice", "term", "deposit", "insurance", "repair", "tenant", "landlord"]
    documents = {
        f"letter_{n}": "\n\n".join(f"# Part {i}\n\n{' '.join(draw.choices(words, k=30))}." for i in range(4))
        for n in range(6)
    }
    ranks = []
    with postgres_server.state() as url:
        for name, state in (("sqlite", ""), ("postgres", url)):
            async with running_service(tmp_path / name, models_dir, storage={"state_url": state}) as service:
                matter_id = await service.create_matter(agreement=AGREEMENT, **documents)
                ranks.append([await found(service, matter_id, f"{a} {b}") for a in words[:4] for b in words[4:7]])
    assert ranks[0] == ranks[1]
    assert all(ranks[0])


async def test_a_lost_server_is_told_and_recovered_from_without_a_restart(
    tmp_path: Path, models_dir: Path, own_postgres: PostgresServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(storage, "PROBES", Backoff(first_s=0.05, longest_s=0.2))
    with own_postgres.state() as url:
        async with running_service(tmp_path / "data", models_dir, storage={"state_url": url}) as service:
            matter_id = await service.create_matter(agreement=AGREEMENT)
            own_postgres.kill()
            with pytest.raises(grpc.aio.AioRpcError) as refusal:
                await service.create_matter()
            assert refusal.value.code() is grpc.StatusCode.UNAVAILABLE
            assert "grpc-status-details-bin" in dict(refusal.value.trailing_metadata() or ())
            await until_health(service, serving=False)
            own_postgres.start()
            await until_health(service, serving=True)
            assert await service.create_matter()
            assert await found(service, matter_id, "governing law")


@pytest.mark.parametrize("first_shares", [True, False])
@pytest.mark.parametrize("missing", ["redis_url", "blob_url"])
async def test_a_second_process_is_refused_in_one_line_where_one_of_them_shares_too_little(
    tmp_path: Path,
    models_dir: Path,
    postgres_server: PostgresServer,
    redis_server: RedisServer,
    s3_port: int,
    missing: str,
    first_shares: bool,
) -> None:
    with shared_storage(postgres_server, redis_server, s3_port) as storage:
        alone = {name: value for name, value in storage.items() if name != missing}
        first, second = (storage, alone) if first_shares else (alone, storage)
        async with running_service(tmp_path / "one", models_dir, storage=first) as service:
            for refused in (second, alone):
                with pytest.raises(StartupError, match=r"^The state is in use by another process: .*Redis.*S3.*$"):
                    async with running_service(tmp_path / "two", models_dir, storage=refused):
                        pass
            assert await service.create_matter()
