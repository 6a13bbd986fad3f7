"""Uploads files to a matter and follows them until they are ready or have failed."""

import asyncio
import hashlib
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import TypeVar

import grpc
import grpc.aio

from proviso_client.v1 import matters_pb2
from proviso_service.cli.client import Client, explain, failure, is_transient

PIECE_BYTES = 256 * 1024
UPLOADS_AT_ONCE = 4
UPLOAD_TIMEOUT_S = 300.0
WATCH_AT_ONCE = 1_000
WATCH_TIMEOUT_S = 600.0
"""After this a watch is opened again; large matters take longer than one call should."""
MAX_ATTEMPTS = 6
FIRST_WAIT_S = 0.25

_SETTLED = frozenset({matters_pb2.DOCUMENT_STATUS_READY, matters_pb2.DOCUMENT_STATUS_FAILED})

T = TypeVar("T")


class Result(StrEnum):
    READY = "ready"
    FAILED = "failed"
    UNCHANGED = "unchanged"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one file; `reason` says why it failed. `size_bytes` is 0 for a file that cannot be read."""

    path: Path
    result: Result
    size_bytes: int = 0
    document_id: str = ""
    chunks: int = 0
    reason: str = ""


Progress = Callable[[float, list[Outcome]], None]
"""Told the bytes of the files done so far, with the parts of those under way, and the outcomes that are new."""


@dataclass(slots=True)
class _Waiting:
    path: Path
    size_bytes: int
    unchanged: bool
    part_done: float = 0.0


@dataclass(slots=True)
class Ingest:
    """One run over `files`. At most UPLOADS_AT_ONCE files are open; the rest is one small record a file."""

    client: Client
    matter_id: str
    files: Sequence[Path]
    progress: Progress
    _outcomes: list[Outcome] = field(default_factory=list)
    _waiting: dict[str, list[_Waiting]] = field(default_factory=dict)
    _done_bytes: int = 0

    async def run(self) -> list[Outcome]:
        """Outcomes in the order in which they were known; every file has exactly one. A failed file fails no other."""
        queue = iter(self.files)
        async with asyncio.TaskGroup() as group:
            uploads = [group.create_task(self._upload_all(queue)) for _ in range(UPLOADS_AT_ONCE)]
            group.create_task(self._watch_all(uploads))
        return self._outcomes

    async def _upload_all(self, queue: Iterator[Path]) -> None:
        for path in queue:
            try:
                answer = await _with_retries(partial(self._upload, path))
            except grpc.aio.AioRpcError as error:
                self._settle([Outcome(path, Result.FAILED, reason=_refusal(error, self.client.address))])
            except OSError as error:
                self._settle([Outcome(path, Result.FAILED, reason=f"cannot be read: {error.strerror}")])
            else:
                waiting = _Waiting(path, answer.document.size_bytes, answer.already_existed)
                self._waiting.setdefault(answer.document.document_id, []).append(waiting)
                self._note(answer.document, 0.0)

    async def _upload(self, path: Path) -> matters_pb2.UploadDocumentResponse:
        sha256 = await asyncio.to_thread(_sha256, path)
        header = matters_pb2.UploadHeader(matter_id=self.matter_id, filename=path.name, sha256=sha256)
        return await self.client.matters.UploadDocument(_messages(header, path), timeout=UPLOAD_TIMEOUT_S)

    async def _watch_all(self, uploads: Sequence["asyncio.Task[None]"]) -> None:
        """Watches what is uploaded so far until it is settled, then what has come in the meantime."""
        while True:
            uploading = not all(task.done() for task in uploads)
            if batch := list(self._waiting)[:WATCH_AT_ONCE]:
                await self._watch_or_fail(batch)
            elif uploading:
                await asyncio.wait(uploads, timeout=0.2, return_when=asyncio.FIRST_COMPLETED)
            else:
                return

    async def _watch_or_fail(self, document_ids: list[str]) -> None:
        unsettled = set(document_ids)
        try:
            await _with_retries(partial(self._watch, unsettled))
            reason = "uploaded, but the server stopped reporting on it"
        except grpc.aio.AioRpcError as error:
            if error.code() is grpc.StatusCode.DEADLINE_EXCEEDED:
                return
            reason = f"uploaded, but could not be followed: {explain(error, self.client.address)}"
        for document_id in unsettled:
            self._finish(document_id, Result.FAILED, 0, reason)

    async def _watch(self, unsettled: set[str]) -> None:
        """Takes out of `unsettled` what is settled. A file of the same bytes that comes later is for another watch."""
        if not unsettled:
            return
        request = matters_pb2.WatchDocumentsRequest(matter_id=self.matter_id, document_ids=sorted(unsettled))
        async for update in self.client.matters.WatchDocuments(request, timeout=WATCH_TIMEOUT_S):
            self._note(update.document, update.chunks_done / update.chunks_total if update.chunks_total else 0.0)
            if update.document.status in _SETTLED:
                unsettled.discard(update.document.document_id)

    def _note(self, document: matters_pb2.Document, part_done: float) -> None:
        if document.status == matters_pb2.DOCUMENT_STATUS_READY:
            self._finish(document.document_id, Result.READY, document.chunk_count, "")
        elif document.status == matters_pb2.DOCUMENT_STATUS_FAILED:
            self._finish(document.document_id, Result.FAILED, 0, document.failure_reason)
        else:
            for waiting in self._waiting.get(document.document_id, ()):
                waiting.part_done = part_done
            self._settle([])

    def _finish(self, document_id: str, result: Result, chunks: int, reason: str) -> None:
        """Two files of the same bytes are one document and are settled together."""
        self._settle(
            [
                Outcome(
                    waiting.path,
                    Result.UNCHANGED if result is Result.READY and waiting.unchanged else result,
                    waiting.size_bytes,
                    document_id,
                    chunks,
                    reason,
                )
                for waiting in self._waiting.pop(document_id, ())
            ]
        )

    def _settle(self, outcomes: list[Outcome]) -> None:
        self._outcomes += outcomes
        self._done_bytes += sum(outcome.size_bytes for outcome in outcomes)
        under_way = (waiting.part_done * waiting.size_bytes for same in self._waiting.values() for waiting in same)
        self.progress(self._done_bytes + sum(under_way), outcomes)


async def _messages(header: matters_pb2.UploadHeader, path: Path) -> AsyncIterator[matters_pb2.UploadDocumentRequest]:
    yield matters_pb2.UploadDocumentRequest(header=header)
    with await asyncio.to_thread(path.open, "rb") as file:
        while piece := await asyncio.to_thread(file.read, PIECE_BYTES):
            yield matters_pb2.UploadDocumentRequest(data=piece)
    yield matters_pb2.UploadDocumentRequest(end=matters_pb2.UploadEnd())


def _refusal(error: grpc.aio.AioRpcError, address: str) -> str:
    """Why a file was not taken; what is wrong with its bytes is said of the file."""
    reason = explain(error, address)
    field, _, rest = reason.partition(": ")
    return f"The file {rest}." if field == "data" and rest[:3] == "is " else reason.removeprefix("data: ")


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


async def _with_retries(call: Callable[[], Awaitable[T]]) -> T:
    """Repeats a call after failures that pass. Uploads are safe to repeat: the same bytes are the same document."""
    for attempt in range(1, MAX_ATTEMPTS):
        try:
            return await call()
        except grpc.aio.AioRpcError as error:
            if not is_transient(error):
                raise
            asked_for_s = failure(error).retry_after_s or 0.0
            await asyncio.sleep(max(min(asked_for_s, 10.0), FIRST_WAIT_S * 2**attempt))
    return await call()
