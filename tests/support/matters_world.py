"""Matters, ingestion and retrieval over SQLite and a folder."""

import asyncio
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from proviso_service.backends.blobs.folder import FolderBlobStore
from proviso_service.backends.sql.database import Database
from proviso_service.backends.sql.matters import SqlMatterStore
from proviso_service.matters.model import (
    Document,
    DocumentProgress,
    DocumentStatus,
    Matter,
    SearchOutcome,
    SearchQuery,
    UploadHeader,
    UploadResult,
)
from proviso_service.matters.resident_indexes import ResidentIndexes
from proviso_service.matters.retrieval import Retriever
from proviso_service.matters.service import Matters
from proviso_service.models import Embedder, Vectors
from proviso_service.notices import ALONE, Notices
from proviso_service.reading import ReadingLimits
from proviso_service.settings import DocumentSettings
from tests.support.changes import Changes, database_changes
from tests.support.migrated import state_in
from tests.support.thread_reader import ThreadReader

TENANT = "tenant-a"
OTHER_TENANT = "tenant-b"


class GatedEmbedder:
    """The embedder with a gate before its work, and a record of what it was given."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._open = asyncio.Event()
        self._open.set()
        self._entered = asyncio.Event()
        self.failures: list[Exception] = []
        self.texts: list[str] = []

    @property
    def model_id(self) -> str:
        return self._embedder.model_id

    @property
    def dimensions(self) -> int:
        return self._embedder.dimensions

    async def embed_documents(self, texts: Sequence[str]) -> Vectors:
        self._entered.set()
        await self._open.wait()
        if self.failures:
            raise self.failures.pop(0)
        self.texts += texts
        return await self._embedder.embed_documents(texts)

    async def embed_query(self, text: str) -> Vectors:
        return await self._embedder.embed_query(text)

    def shut(self) -> None:
        self._open.clear()
        self._entered.clear()

    def open(self) -> None:
        self._open.set()

    async def someone_waits(self) -> None:
        """Until ingestion has come to the shut gate."""
        await self._entered.wait()

    @contextmanager
    def shut_meanwhile(self) -> Iterator[None]:
        self.shut()
        try:
            yield
        finally:
            self.open()


@dataclass
class MattersWorld:
    folder: Path
    database: Database
    store: SqlMatterStore
    indexes: ResidentIndexes
    blobs: FolderBlobStore
    embedder: GatedEmbedder
    changes: Changes
    settings: DocumentSettings = field(default_factory=DocumentSettings)
    limits: ReadingLimits = ReadingLimits()
    notices: Notices = ALONE
    matters: Matters = field(init=False)

    def new_matters(self) -> Matters:
        reader = ThreadReader(self.limits)
        return Matters(self.store, self.indexes, self.blobs, self.embedder, self.settings, reader, notices=self.notices)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[Matters]:
        """A Matters from its start to its stop; another one is another run of the service."""
        self.matters = self.new_matters()
        await self.matters.open()
        try:
            yield self.matters
        finally:
            await self.matters.close()

    async def matter(self, tenant: str = TENANT) -> Matter:
        return await self.matters.create(tenant, "Northwind")

    async def upload(
        self, matter: Matter, text: str | bytes, filename: str = "lease.md", sha256: str = ""
    ) -> UploadResult:
        content = text.encode() if isinstance(text, str) else text
        header = UploadHeader(matter.matter_id, filename, sha256)
        return await self.matters.upload(matter.tenant, header, pieces(content))

    async def ingest(self, matter: Matter, texts: Mapping[str, str]) -> dict[str, Document]:
        """Uploads by file name, once all are READY."""
        for filename, text in texts.items():
            await self.upload(matter, text, filename)
        last = await self.settled(matter)
        assert {progress.document.status for progress in last} == {DocumentStatus.READY}
        return {progress.document.filename: progress.document for progress in last}

    async def settled(self, matter: Matter) -> list[DocumentProgress]:
        """The final states of all documents."""
        last = {p.document.document_id: p async for p in self.matters.watch(matter.tenant, matter.matter_id, [])}
        return list(last.values())

    async def search(self, matter: Matter, query: str, **options: object) -> SearchOutcome:
        retriever = Retriever(self.store, self.indexes, self.embedder)
        return await retriever.search(matter.tenant, SearchQuery(matter.matter_id, query, **options))  # type: ignore[arg-type]

    async def cleared(self) -> None:
        """Waits until nothing is left of what was deleted."""

        async def nothing_is_left() -> bool:
            return not (await self.store.leftovers(1) or await self.store.deleted_matters())

        await self.changes.until(nothing_is_left)

    async def at_rest(self) -> None:
        """Waits until nothing is under way: no ingestion, no clearing."""

        async def all_have_ended() -> bool:
            return not await self.store.unfinished_documents(1)

        await self.changes.until(all_have_ended)
        await self.cleared()

    def blob_count(self) -> int:
        return sum(1 for path in (self.folder / "blobs").rglob("*") if path.is_file())


@asynccontextmanager
async def matters_world(folder: Path, embedder: Embedder) -> AsyncIterator[MattersWorld]:
    database = Database(state_in(folder))
    blobs = FolderBlobStore(folder / "blobs")
    await blobs.open()
    store = SqlMatterStore(database)
    indexes = ResidentIndexes(store, embedder.model_id, embedder.dimensions, 64 * 1024 * 1024)
    try:
        with database_changes() as changes:
            yield MattersWorld(folder, database, store, indexes, blobs, GatedEmbedder(embedder), changes)
    finally:
        await indexes.close()
        await database.close()


async def pieces(content: bytes, size: int = 7) -> AsyncIterator[bytes]:
    for start in range(0, len(content), size):
        yield content[start : start + size]
