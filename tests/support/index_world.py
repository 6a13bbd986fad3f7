"""A vector index that keeps itself, over a real database and a real folder, with synthetic vectors."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from proviso_service.backends.sql.database import Database
from proviso_service.backends.sql.matters import SqlMatterStore
from proviso_service.backends.vectors.chroma import ChromaIndex, VectorLayout
from proviso_service.backends.vectors.index_store import ChromaIndexStore
from proviso_service.matters.maintained_index import MaintainedIndex
from proviso_service.matters.model import Document, DocumentStatus, Matter, chunk_id
from proviso_service.matters.stores import VectorHit, VectorRecord
from proviso_service.models import Vectors
from proviso_service.reading.model import Chunk, ParsedDocument
from tests.support.migrated import state_in
from tests.support.stored import a_document

LIMIT_S = 60.0
TENANT = "acme"
MODEL = "test-model"
DIMENSIONS = 16
LAYOUT = VectorLayout(4, DIMENSIONS, MODEL)


class AnnouncingIndexStore(ChromaIndexStore):
    """Says when the files of a generation have come or gone."""

    def __init__(self, folder: Path, layout: VectorLayout, changed: asyncio.Event) -> None:
        super().__init__(folder, layout)
        self._changed = changed

    async def build(self) -> ChromaIndex:
        index = await super().build()
        self._changed.set()
        return index

    async def remove_others(self) -> None:
        await super().remove_others()
        self._changed.set()


@dataclass
class IndexWorld:
    folder: Path
    store: SqlMatterStore
    layout: VectorLayout = LAYOUT
    _changed: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def vectors(self) -> Path:
        return self.folder / "vectors"

    def new_index(self, few: int = 0) -> MaintainedIndex:
        """Its own searches are answered by Chroma also where there are few vectors."""
        index_store = AnnouncingIndexStore(self.vectors, self.layout, self._changed)
        return MaintainedIndex(self.store, index_store, self.layout.model_id, DIMENSIONS, few=few)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[MaintainedIndex]:
        """An index from its start, once it is whole, to its stop; another one is another run of the service."""
        async with self.starting() as index:
            await index.until_whole()
            yield index

    @asynccontextmanager
    async def starting(self) -> AsyncIterator[MaintainedIndex]:
        index = self.new_index()
        index.open()
        try:
            yield index
        finally:
            await index.close()

    async def until(self, holds: Callable[[], bool]) -> None:
        """Of files, and of what happens at once when they have come or gone."""
        async with asyncio.timeout(LIMIT_S):
            while not holds():
                self._changed.clear()
                await self._changed.wait()

    async def matter(self) -> Matter:
        return await self.store.create_matter(TENANT, "Northwind")

    async def begun(self, matter: Matter) -> Document:
        """A document under way, without vectors."""
        document, _ = await self.store.add_document(a_document(matter))
        return await self.store.set_status(document, DocumentStatus.PROCESSING)

    async def ingested(self, index: MaintainedIndex | None, matter: Matter, vectors: Vectors) -> Document:
        """A READY document; its vectors are in the index as well, if one is given."""
        document = await self.begun(matter)
        if index:
            await index.upsert(matter.tenant, records(document, vectors))
        return await self.committed(document, vectors)

    async def committed(self, document: Document, vectors: Vectors) -> Document:
        texts = [f"{document.document_id} {row}" for row in range(len(vectors))]
        chunks = [Chunk(row, row, row + 1, text) for row, text in enumerate(texts)]
        return await self.store.commit_ready(document, ParsedDocument("x" * len(vectors)), chunks, MODEL, vectors)


@asynccontextmanager
async def index_world(folder: Path) -> AsyncIterator[IndexWorld]:
    database = Database(state_in(folder))
    try:
        yield IndexWorld(folder, SqlMatterStore(database))
    finally:
        await database.close()


def records(document: Document, vectors: Vectors, first: int = 0) -> list[VectorRecord]:
    return [
        VectorRecord(chunk_id(document.document_id, first + row), document.matter_id, document.document_id, vector)
        for row, vector in enumerate(vectors)
    ]


def random_units(count: int, seed: int, dimensions: int = DIMENSIONS) -> Vectors:
    vectors = np.random.default_rng(seed).normal(size=(count, dimensions)).astype(np.float32)
    units: Vectors = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    return units


def nearest(document: Document, vectors: Vectors, query: Vectors, limit: int) -> list[str]:
    """What an exact search in a matter of this one document finds."""
    return [chunk_id(document.document_id, int(row)) for row in np.argsort(-(vectors @ query))[:limit]]


def found(hits: Sequence[VectorHit]) -> list[str]:
    return [hit.chunk_id for hit in hits]
