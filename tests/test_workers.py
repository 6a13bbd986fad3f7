"""`proviso worker` beside a service that takes documents in and ingests none, over real PostgreSQL, Redis and S3."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from proviso_client.v1 import matters_pb2, tools_pb2
from tests.support.otlp_receiver import otlp_receiver
from tests.support.postgres_server import PostgresServer
from tests.support.redis_server import RedisServer
from tests.support.running import AGREEMENT, running_service
from tests.support.s3_server import Bucket
from tests.support.served import LIMIT_S, command, environment, proviso

OF_A_WORKER = {
    "proviso.documents.waiting": 0,
    "proviso.documents.under_way": 0,
    "proviso.storage.sound": 1,
    "proviso.redis.up": 1,
}
READY, PENDING = matters_pb2.DOCUMENT_STATUS_READY, matters_pb2.DOCUMENT_STATUS_PENDING


@asynccontextmanager
async def worker(data_dir: Path, models_dir: Path, **settings: str) -> AsyncIterator[asyncio.subprocess.Process]:
    """A running worker, which is stopped in order at the end of the block."""
    process = await asyncio.create_subprocess_exec(
        *command("worker", "--data-dir", data_dir, "--models-dir", models_dir), env=environment(**settings), cwd="/"
    )
    try:
        yield process
        process.terminate()
        async with asyncio.timeout(LIMIT_S):
            assert await process.wait() == 0
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


async def test_a_worker_ingests_what_a_service_takes_in_and_tells_its_numbers(
    tmp_path: Path,
    models_dir: Path,
    postgres_server: PostgresServer,
    redis_server: RedisServer,
    bucket: Bucket,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OTEL_METRIC_EXPORT_INTERVAL", "50")
    with postgres_server.state() as url, otlp_receiver() as receiver:
        storage = {"state_url": url, "redis_url": redis_server.url, "blob_url": bucket.url}
        settings = {f"STORAGE__{name.upper()}": value for name, value in storage.items()}
        settings["TELEMETRY__OTLP_ENDPOINT"] = receiver.endpoint
        serving = running_service(tmp_path / "data", models_dir, storage=storage, documents={"ingest_workers": 0})
        async with serving as service:
            matter_id = await service.create_matter()
            assert (await service.upload(matter_id, "before.md", AGREEMENT.encode())).status == PENDING
            async with worker(tmp_path / "worker", models_dir, **settings):
                await service.wait_until_ready(matter_id)
                await service.upload(matter_id, "later.md", b"# Note\n\nThe deposit is USD 300.")
                documents = await service.wait_until_ready(matter_id)
                await asyncio.to_thread(receiver.metrics.wait_until, lambda numbers: numbers == OF_A_WORKER)
            assert [document.status for document in documents] == [READY, READY]
            found = await service.tools.Search(tools_pb2.SearchRequest(matter_id=matter_id, query="deposit"))
            assert "USD 300" in found.results[0].chunk_text


@pytest.mark.parametrize(
    ("arguments", "settings", "said"),
    [
        (("worker",), {}, "PROVISO_STORAGE__STATE_URL in PostgreSQL"),
        (("worker",), {"STORAGE__STATE_URL": "sqlite:////tmp/shared"}, "PROVISO_STORAGE__STATE_URL in PostgreSQL"),
        (("serve", "--port", "0"), {"DOCUMENTS__INGEST_WORKERS": "0"}, "there can be no worker"),
    ],
)
async def test_what_no_worker_can_do_is_refused_in_one_line(
    tmp_path: Path, models_dir: Path, arguments: tuple[str, ...], settings: dict[str, str], said: str
) -> None:
    code, out, err = await proviso(*arguments, "--data-dir", tmp_path / "data", "--models-dir", models_dir, **settings)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert said in err
