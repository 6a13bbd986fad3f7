"""`proviso ingest`: uploads files to matters or to the documentation, and follows them until they can be searched."""

import asyncio
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from proviso_client import ProvisoError
from proviso_client.errors import DeadlineExceeded, DocumentsFailed, InvalidRequest, NotFound, TooBusy
from proviso_client.v1 import matters_pb2
from proviso_service.cli.connection import DOCUMENTATION, Connection, newest_matter
from proviso_service.cli.discovery import DiscoveredFiles

MATTERS_AT_ONCE = 4
UPLOADS_AT_ONCE = 4
"""Uploads to one matter that run at the same time."""
BUSY_ATTEMPTS = 6
"""Attempts to upload a file to a server that is at its limit."""
WATCHED_AT_ONCE = 1_000
WATCH_TIMEOUT_S = 600.0
"""After this time a watch is opened again, because large matters take longer than one call should."""

_DONE = frozenset({matters_pb2.DOCUMENT_STATUS_READY, matters_pb2.DOCUMENT_STATUS_FAILED})


class Result(StrEnum):
    """What became of a file. It is unchanged when the matter had a document of the same bytes."""

    READY = "ready"
    FAILED = "failed"
    UNCHANGED = "unchanged"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one file. `reason` says why it failed, or what to know of it; `size_bytes` is 0 for a file that
    cannot be read."""

    path: Path
    result: Result
    size_bytes: int = 0
    document_id: str = ""
    chunks: int = 0
    reason: str = ""


Progress = Callable[[float, list[Outcome]], None]
"""Is called with the bytes that are done, of finished files and of those under way, and with new outcomes."""


@dataclass(slots=True)
class Ingest:
    """Ingests the files that were found into their matters, a few matters at a time.

    `outcomes` holds what is known so far, also when the run is interrupted. With `documentation`, the files go to the
    documentation and take the place of earlier ones of the same name.
    """

    found: DiscoveredFiles
    documentation: bool = False
    outcomes: list[Outcome] = field(default_factory=list)
    _done_bytes: dict[str, float] = field(default_factory=dict)

    async def run(self, connection: Connection, progress: Progress) -> None:
        """Gives every file one outcome. Where a matter fails, its own files fail and no others."""
        queue = iter(self.found.files.items())
        async with asyncio.TaskGroup() as group:
            for _ in range(min(MATTERS_AT_ONCE, len(self.found.files))):
                group.create_task(self._run_matters(connection, queue, progress))
        if self.documentation:
            await _delete_replaced(connection, self.outcomes)

    async def _run_matters(
        self, connection: Connection, queue: Iterator[tuple[str, Sequence[Path]]], progress: Progress
    ) -> None:
        for name, files in queue:

            def note(done_bytes: float, outcomes: list[Outcome], name: str = name) -> None:
                self.outcomes += outcomes
                self._done_bytes[name] = done_bytes
                progress(sum(self._done_bytes.values()), outcomes)

            try:
                matter_id = await self._matter_id(connection, name)
            except ProvisoError as error:
                reason = connection.explain(error)
                note(0.0, [Outcome(path, Result.FAILED, reason=reason) for path in files])
            else:
                await MatterIngest(connection, matter_id, files, note).run()

    async def _matter_id(self, connection: Connection, name: str) -> str:
        """Returns the id of the newest matter of a name, which is made where there is none."""
        if self.documentation:
            return DOCUMENTATION
        client = connection.client
        matter = await newest_matter(client, name) or await client.matters.create(name)
        return matter.matter_id


@dataclass(slots=True)
class _Uploaded:
    """A file that the server has, and of which it does not yet say whether it can be searched."""

    path: Path
    size_bytes: int
    already_existed: bool
    part_done: float = 0.0


@dataclass(slots=True)
class MatterIngest:
    """Uploads files to one matter. At most UPLOADS_AT_ONCE files are open; the rest is one small record a file."""

    connection: Connection
    matter_id: str
    files: Sequence[Path]
    progress: Progress
    _outcomes: list[Outcome] = field(default_factory=list)
    _uploaded: dict[str, list[_Uploaded]] = field(default_factory=dict)
    """By document, because files of the same bytes are one document."""
    _done_bytes: int = 0

    async def run(self) -> list[Outcome]:
        """Returns one outcome for each file, in the order in which they became known. A failed file fails no other."""
        queue = iter(self.files)
        async with asyncio.TaskGroup() as group:
            uploads = [group.create_task(self._upload_all(queue)) for _ in range(UPLOADS_AT_ONCE)]
            group.create_task(self._watch_all(uploads))
        return self._outcomes

    async def _upload_all(self, queue: Iterator[Path]) -> None:
        for path in queue:
            try:
                answer = await self._upload(path)
            except ProvisoError as error:
                self._report([Outcome(path, Result.FAILED, reason=self._refusal(error))])
            except OSError as error:
                self._report([Outcome(path, Result.FAILED, reason=f"cannot be read: {error.strerror}")])
            else:
                document = answer.document
                uploaded = _Uploaded(path, document.size_bytes, answer.already_existed)
                self._uploaded.setdefault(document.document_id, []).append(uploaded)
                self._note(document, 0.0)

    async def _upload(self, path: Path) -> matters_pb2.UploadDocumentResponse:
        for _ in range(1, BUSY_ATTEMPTS):
            try:
                return await self.connection.client.documents.upload(self.matter_id, path)
            except TooBusy as busy:
                await asyncio.sleep(busy.retry_after_s or 1.0)
        return await self.connection.client.documents.upload(self.matter_id, path)

    def _refusal(self, error: ProvisoError) -> str:
        """Says why a file was not taken. What is wrong with its bytes is said of the file."""
        if isinstance(error, InvalidRequest) and error.violations and error.violations[0].field == "data":
            description = error.violations[0].description
            return f"The file {description}." if description.startswith("is ") else description
        return self.connection.explain(error)

    async def _watch_all(self, uploads: Sequence["asyncio.Task[None]"]) -> None:
        """Watches what is uploaded so far until it is done, then what has been uploaded in the meantime."""
        while True:
            uploading = not all(task.done() for task in uploads)
            if batch := list(self._uploaded)[:WATCHED_AT_ONCE]:
                await self._watch(batch)
            elif uploading:
                await asyncio.wait(uploads, timeout=0.2, return_when=asyncio.FIRST_COMPLETED)
            else:
                return

    async def _watch(self, document_ids: list[str]) -> None:
        """Follows documents until they are done, or until it is time to look at what else was uploaded.

        What the server does not report on fails. A file of the same bytes that is uploaded after its document was
        reported is left to the next watch.
        """
        unreported = set(document_ids)

        def note(update: matters_pb2.WatchDocumentsResponse) -> None:
            self._note(update.document, update.chunks_done / update.chunks_total if update.chunks_total else 0.0)
            if update.document.status in _DONE:
                unreported.discard(update.document.document_id)

        reason = "uploaded, but the server stopped reporting on it"
        documents = self.connection.client.documents
        try:
            await documents.wait_until_ready(self.matter_id, document_ids, progress=note, timeout_s=WATCH_TIMEOUT_S)
        except DocumentsFailed:
            pass  # each was reported
        except DeadlineExceeded:
            return
        except ProvisoError as error:
            reason = f"uploaded, but could not be followed: {self.connection.explain(error)}"
        for document_id in unreported:
            self._finish(document_id, Result.FAILED, 0, reason)

    def _note(self, document: matters_pb2.Document, part_done: float) -> None:
        if document.status == matters_pb2.DOCUMENT_STATUS_READY:
            self._finish(document.document_id, Result.READY, document.chunk_count, " ".join(document.warnings))
        elif document.status == matters_pb2.DOCUMENT_STATUS_FAILED:
            self._finish(document.document_id, Result.FAILED, 0, document.failure_reason)
        else:
            for uploaded in self._uploaded.get(document.document_id, ()):
                uploaded.part_done = part_done
            self._report([])

    def _finish(self, document_id: str, result: Result, chunks: int, reason: str) -> None:
        self._report(
            [
                Outcome(
                    uploaded.path,
                    Result.UNCHANGED if result is Result.READY and uploaded.already_existed else result,
                    uploaded.size_bytes,
                    document_id,
                    chunks,
                    reason,
                )
                for uploaded in self._uploaded.pop(document_id, ())
            ]
        )

    def _report(self, outcomes: list[Outcome]) -> None:
        self._outcomes += outcomes
        self._done_bytes += sum(outcome.size_bytes for outcome in outcomes)
        under_way = (one.part_done * one.size_bytes for same in self._uploaded.values() for one in same)
        self.progress(self._done_bytes + sum(under_way), outcomes)


async def _delete_replaced(connection: Connection, outcomes: Iterable[Outcome]) -> None:
    """Deletes the documents of the documentation that newer files of the same name have replaced.

    The next ingest makes up for one that was cut short before this.
    """
    searchable = {outcome.document_id for outcome in outcomes if outcome.result is not Result.FAILED}
    documents = [document async for document in connection.client.documents.list(DOCUMENTATION)]
    for document in replaced(documents, searchable):
        with suppress(NotFound):  # another ingest was faster
            await connection.client.documents.delete(DOCUMENTATION, document.document_id)


def replaced(documents: Sequence[matters_pb2.Document], searchable: set[str]) -> Iterator[matters_pb2.Document]:
    """Yields the documents that were uploaded before a searchable one of their name.

    `documents` are in the order of upload; `searchable` holds the ids of documents that can be searched now.
    """
    replacing: set[str] = set()
    for document in reversed(documents):
        name = document.filename.casefold()
        if name in replacing:
            yield document
        elif document.document_id in searchable:
            replacing.add(name)
