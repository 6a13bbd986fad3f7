"""S3BlobStore keeps the bytes of uploaded documents in an S3 store, which several processes may share.

Credentials and the endpoint come from the usual variables of AWS, or from the role of the machine, as obstore reads
them. None of them reaches a log: of what the store answers only its code is told."""

import asyncio
import re
import tempfile
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import aclosing, asynccontextmanager, contextmanager, suppress
from datetime import timedelta
from functools import partial
from typing import IO, Any, ParamSpec, Self, TypeVar, cast
from urllib.parse import urlsplit

import obstore
import structlog
from obstore.exceptions import BaseError
from obstore.store import S3Store

from proviso_service.backends.blobs.folder import blob_path, blocks_of, in_thread
from proviso_service.concurrency import run_to_end
from proviso_service.errors import StorageFailed, Unavailable
from proviso_service.matters import PIECE_BYTES

P = ParamSpec("P")
T = TypeVar("T")

CALLS_AT_ONCE = 64

PART_BYTES = 5 * 1024 * 1024
"""An upload that is larger is put in parts of this size, the smallest that S3 allows; two are in memory at once."""

READ_BYTES = 4 * 1024 * 1024
"""How much one request reads. A reader who is slow keeps no request open, only so many bytes in memory."""

IN_MEMORY_BYTES = 8 * 1024 * 1024
"""Bytes that are read as a file and are more than that lie in a temporary file meanwhile."""

_OPTIONS = {"connect_timeout": "5 seconds", "timeout": "30 seconds", "disable_bulk_delete": "true"}
_RETRIES = {
    "max_retries": 3,
    "retry_timeout": timedelta(seconds=15),
    "backoff": {"init_backoff": timedelta(milliseconds=100), "max_backoff": timedelta(seconds=2), "base": 2},
}

_log = structlog.get_logger(__name__)


class S3BlobStore:
    """A BlobStore in a bucket, with one object `<prefix>/<tenant>/<key>` for each blob. Keys are those of
    FolderBlobStore, as are the folders of tenants.

    All methods raise StorageFailed when the store cannot be reached or refuses, after some tries. That begins and is
    over in one log line each. No put is conditional, because each blob has a key of its own, and a put that is tried
    again after its answer was lost must not fail because it succeeded."""

    def __init__(self, url: str) -> None:
        """For a URL as in `s3://bucket/prefix`."""
        parts = urlsplit(url)
        self._url = url
        self._away = False
        self._threads = ThreadPoolExecutor(CALLS_AT_ONCE, "s3")
        with self._reached():
            self._store = S3Store(
                parts.netloc,
                prefix=parts.path.strip("/") or None,
                config=cast("Any", _OPTIONS),  # a config takes all options of the client; the type names a part of them
                retry_config=cast("Any", _RETRIES),
            )

    def __str__(self) -> str:
        return self._url

    async def open(self) -> None:
        """Asks the bucket something, so that a service that cannot use it does not start."""
        await self.is_empty()

    async def is_empty(self) -> bool:
        """Whether there is no blob of any tenant."""
        with self._reached():
            return not any(await self._call(next, obstore.list(self._store), ()))

    async def put(self, tenant: str, key: str, pieces: AsyncIterator[bytes]) -> None:
        path = blob_path(tenant, key)
        writer = obstore.open_writer(self._store, path, buffer_size=PART_BYTES, max_concurrency=1)
        try:
            async with aclosing(blocks_of(pieces)) as blocks:
                async for block in blocks:
                    with self._reached():
                        await run_to_end(self._call(writer.write, block))
        except BaseException as failure:
            with suppress(BaseError, OSError):  # the bucket's own rule clears what cannot be given up now
                await run_to_end(self._call(writer.__exit__, type(failure), failure, None))
            raise
        try:
            with self._reached():
                await run_to_end(self._call(writer.close))
        except asyncio.CancelledError:
            # The cancelled caller assumes that there is no blob, so there must be none.
            with suppress(Unavailable):
                await run_to_end(self.delete(tenant, key))
            raise

    async def get(self, tenant: str, key: str) -> bytes:
        return b"".join([piece async for piece in self.pieces(tenant, key)])

    async def pieces(
        self, tenant: str, key: str, start: int = 0, end: int | None = None
    ) -> AsyncGenerator[bytes, None]:
        path = blob_path(tenant, key)
        with self._reached(key):
            size = (await self._call(obstore.head, self._store, path))["size"]
        end = size if end is None else min(end, size)
        while start < end:
            with self._reached(key):
                until = min(start + READ_BYTES, end)
                block = await self._call(obstore.get_range, self._store, path, start=start, end=until)
            start += len(block)
            for piece in range(0, len(block), PIECE_BYTES):
                yield bytes(memoryview(block)[piece : piece + PIECE_BYTES])

    async def opened(self, tenant: str, key: str) -> IO[bytes]:
        """Returns a file with the bytes of a blob, which the caller closes. Raises KeyError."""
        file = tempfile.SpooledTemporaryFile(IN_MEMORY_BYTES)  # noqa: SIM115
        try:
            async for piece in self.pieces(tenant, key):
                await in_thread(file.write, piece)
            file.seek(0)
        except BaseException:
            file.close()
            raise
        return file

    async def holds(self, tenant: str, key: str) -> bool:
        try:
            with self._reached(key):
                await self._call(obstore.head, self._store, blob_path(tenant, key))
        except KeyError:
            return False
        return True

    async def delete(self, tenant: str, key: str) -> None:
        with suppress(KeyError), self._reached(key):
            await self._call(obstore.delete, self._store, blob_path(tenant, key))

    def folders_with(self, suffix: str, besides: set[str]) -> set[str]:
        with self._reached():
            folders = set(obstore.list_with_delimiter(self._store)["common_prefixes"]) - besides
            return {folder for folder in folders if any(path.endswith(suffix) for path in self._paths(folder))}

    @asynccontextmanager
    async def filled(self) -> AsyncIterator[Self]:
        try:
            yield self
        except BaseException:
            with suppress(BaseError, OSError):
                paths = await self._call(lambda: list(self._paths()))
                await self._call(obstore.delete, self._store, paths)
            raise

    async def _call(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Calls obstore in a thread. Its own coroutines are answered by threads that Python knows nothing of, and a
        process that ends just then aborts."""
        return await asyncio.get_running_loop().run_in_executor(self._threads, partial(function, *args, **kwargs))

    def _paths(self, folder: str | None = None) -> Iterator[str]:
        for objects in obstore.list(self._store, folder):
            yield from (found["path"] for found in objects)

    @contextmanager
    def _reached(self, key: str | None = None) -> Iterator[None]:
        """Makes StorageFailed of a failure of the store, and KeyError where the key that is asked for is absent."""
        try:
            yield
        except FileNotFoundError as absent:
            if key is None:
                raise self._failure(absent) from None
            self._answered()
            raise KeyError(key) from None
        except (BaseError, OSError) as error:
            # What the store answered may name credentials, and would be logged with this failure as its cause.
            raise self._failure(error) from None
        self._answered()

    def _failure(self, error: Exception) -> StorageFailed:
        reason = reason_of(error)
        if not self._away:
            self._away = True
            _log.error("blobs_unavailable", store=self._url, reason=reason)
        return StorageFailed(f"The service cannot use its store of uploaded files: {reason}")

    def _answered(self) -> None:
        if self._away:
            self._away = False
            _log.warning("blobs_recovered", store=self._url)


def reason_of(error: Exception) -> str:
    """Why the store failed, without what may be secret: of its own answer only the code is told."""
    told = str(error)
    if "169.254.169.254" in told:  # where the role of a machine is asked for, if nothing else is set
        return "there are no credentials"
    if code := re.search(r"<Code>(\w{1,60})</Code>", told) or re.search(r"status code: (\d{3})", told):
        return code[1]
    if "builder error" in told:
        return "its address begins with http, which AWS_ALLOW_HTTP=true has to allow"
    return "it does not answer"
