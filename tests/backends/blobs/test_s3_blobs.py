"""S3BlobStore where the store fails, refuses, or loses its caller."""

import asyncio
import os
import sys
import traceback
from collections.abc import Awaitable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import pytest
from structlog.testing import capture_logs

from proviso_service.backends.blobs.folder import WRITE_BYTES
from proviso_service.backends.blobs.s3 import PART_BYTES, S3BlobStore
from proviso_service.backends.sealing.blobs import SEALED
from proviso_service.concurrency import run_to_end
from proviso_service.errors import StorageFailed, Unavailable
from tests.support.cutting_proxy import cutting_proxy
from tests.support.matters_world import pieces
from tests.support.s3_server import PREFIX, Bucket

LARGE = b"x" * (2 * PART_BYTES + 1)
WRITES = 11  # of LARGE, in blocks


@pytest.fixture
async def blobs(bucket: Bucket) -> S3BlobStore:
    return S3BlobStore(bucket.url)


@pytest.mark.parametrize("step", [1, WRITES - 1, WRITES, WRITES + 1], ids=["first", "within", "last", "completing"])
async def test_a_cancelled_upload_leaves_nothing_whenever_it_is_cancelled(
    monkeypatch: pytest.MonkeyPatch, blobs: S3BlobStore, bucket: Bucket, step: int
) -> None:
    steps = 0

    async def cancelled(work: Any) -> Any:
        nonlocal steps
        steps += 1
        if steps == step:
            current = asyncio.current_task()
            assert current is not None
            current.cancel()
        return await run_to_end(work)

    monkeypatch.setattr("proviso_service.backends.blobs.s3.run_to_end", cancelled)
    with pytest.raises(asyncio.CancelledError):
        await asyncio.ensure_future(blobs.put("acme", "key", pieces(LARGE, WRITE_BYTES)))
    assert steps == step + 1
    assert bucket.objects() == []
    assert bucket.unfinished_uploads() == 0


async def test_an_upload_in_parts_that_breaks_off_is_given_up(blobs: S3BlobStore, bucket: Bucket) -> None:
    async def broken() -> Any:
        yield LARGE
        assert bucket.unfinished_uploads() == 1
        raise ConnectionError

    with pytest.raises(ConnectionError):
        await blobs.put("acme", "key", broken())
    assert bucket.unfinished_uploads() == 0


async def test_a_store_that_is_away_makes_every_call_unavailable_until_it_is_back(
    monkeypatch: pytest.MonkeyPatch, bucket: Bucket
) -> None:
    async with cutting_proxy(bucket.port) as proxy:
        monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://{proxy.target}")
        blobs = S3BlobStore(bucket.url)
        await blobs.put("acme", "key", pieces(LARGE, WRITE_BYTES))
        with capture_logs() as logged:
            proxy.service_port = 1
            await proxy.connections.break_all()
            calls: list[Awaitable[object]] = [
                blobs.put("acme", "other", pieces(b"small")),
                blobs.put("acme", "other", pieces(LARGE, WRITE_BYTES)),
                blobs.get("acme", "key"),
                blobs.opened("acme", "key"),
                blobs.delete("acme", "key"),
                blobs.open(),
                asyncio.to_thread(blobs.folders_with, SEALED, set()),
            ]
            for failure in await asyncio.gather(*calls, return_exceptions=True):
                assert isinstance(failure, StorageFailed)
                assert failure.message == "The service cannot use its store of uploaded files: it does not answer"
            proxy.service_port = bucket.port
            assert await blobs.get("acme", "key") == LARGE
        assert [line["event"] for line in logged] == ["blobs_unavailable", "blobs_recovered"]
    assert bucket.objects() == [f"{PREFIX}/acme/key"]


ENDING = """
import asyncio
from proviso_service.backends.blobs.s3 import S3BlobStore
from tests.support.matters_world import pieces
asyncio.run(S3BlobStore("s3://another-bucket").put("acme", "key", pieces(b"bytes")))
"""


async def test_a_process_that_ends_after_a_call_does_not_abort(bucket: Bucket) -> None:
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    for _ in range(6):
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-c", ENDING, env=environment, stderr=asyncio.subprocess.PIPE
        )
        _, told = await process.communicate()
        assert (process.returncode, "NoSuchBucket" in told.decode()) == (1, True), told


async def test_a_bucket_that_is_not_there_is_named_at_the_start_by_its_code(bucket: Bucket) -> None:
    for call in (S3BlobStore("s3://another-bucket/p").open(), S3BlobStore("s3://another-bucket").is_empty()):
        with pytest.raises(Unavailable, match="NoSuchBucket"):
            await call


async def test_plain_http_has_to_be_allowed(monkeypatch: pytest.MonkeyPatch, bucket: Bucket) -> None:
    monkeypatch.delenv("AWS_ALLOW_HTTP")
    with pytest.raises(Unavailable, match="AWS_ALLOW_HTTP=true"):
        await S3BlobStore(bucket.url).open()


REFUSAL = b"<Error><Code>ExpiredToken</Code><AWSAccessKeyId>the-access-key</AWSAccessKeyId><Token>secret</Token>"


class _Refusing(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(403)
        self.send_header("Content-Length", str(len(REFUSAL)))
        self.end_headers()
        self.wfile.write(REFUSAL)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Nothing is logged."""


@contextmanager
def refusing_store() -> Iterator[int]:
    """A store that answers each call with what it was given. Yields its port."""
    with ThreadingHTTPServer(("127.0.0.1", 0), _Refusing) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield server.server_port
        server.shutdown()


async def test_credentials_reach_neither_messages_nor_logs(monkeypatch: pytest.MonkeyPatch, bucket: Bucket) -> None:
    with refusing_store() as port, capture_logs() as logged:
        monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{port}")
        with pytest.raises(StorageFailed, match="ExpiredToken") as refusal:
            await S3BlobStore(bucket.url).open()
    told = "".join(traceback.format_exception(refusal.value)) + str(logged)
    assert "blobs_unavailable" in told
    assert not any(secret in told for secret in ("the-access-key", "the-secret-key", "secret</Token>"))


async def test_only_folders_that_are_not_known_are_looked_through(blobs: S3BlobStore) -> None:
    for tenant, key in [("acme", f"key{SEALED}"), ("other", f"key{SEALED}"), ("plain", "key")]:
        await blobs.put(tenant, key, pieces(b"bytes"))
    assert blobs.folders_with(SEALED, besides={"acme"}) == {"other"}


async def test_filling_a_store_leaves_nothing_where_it_fails(blobs: S3BlobStore, bucket: Bucket) -> None:
    assert await blobs.is_empty()

    async def fill_and_fail() -> None:
        async with blobs.filled() as filling:
            await filling.put("acme", "key", pieces(b"bytes"))
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await fill_and_fail()
    assert bucket.objects() == []
    async with blobs.filled() as filling:
        await filling.put("acme", "key", pieces(b"bytes"))
    assert bucket.objects() == [f"{PREFIX}/acme/key"]
    assert not await blobs.is_empty()
