"""Stores the contracts in a matter of their own: the service's modules read, chunk, embed and store them."""

import asyncio
import hashlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from uuid import uuid4

from evals.data import Data
from proviso_service.backends.sql.database import Database
from proviso_service.backends.sql.matters import SqlMatterStore
from proviso_service.matters.model import Document, DocumentStatus, Matter
from proviso_service.matters.pipeline import ChunkEmbedder
from proviso_service.matters.resident_indexes import ResidentIndexes
from proviso_service.matters.retrieval import Retriever
from proviso_service.models import Embedder
from proviso_service.reading import ReadingLimits, read_document

TENANT = "evals"
_MEDIA_TYPE = "text/plain"
_MEMORY_BYTES = 1024**3


@dataclass(frozen=True, slots=True)
class Library:
    """What searches need; `document_ids` has the ids by the contracts' names."""

    matter: Matter
    document_ids: dict[str, str]
    chunk_count: int
    store: SqlMatterStore
    indexes: ResidentIndexes
    embedder: Embedder
    retriever: Retriever


@asynccontextmanager
async def library(
    data: Data, state: Path | str, embedder: Embedder, chunk_chars: int, tenant: str = TENANT
) -> AsyncIterator[Library]:
    """Stores the contracts in an empty folder, or in the empty database of a URL."""
    database = Database(state if isinstance(state, str) else f"sqlite:///{state / 'state.sqlite3'}")
    await database.migrate()
    store = SqlMatterStore(database)
    indexes = ResidentIndexes(store, embedder.model_id, embedder.dimensions, _MEMORY_BYTES)
    try:
        matter = await store.create_matter(tenant, "contracts")
        documents = [await _add(store, embedder, matter, path, chunk_chars) for path in data.contracts.values()]
        yield Library(
            matter,
            {document.filename: document.document_id for document in documents},
            sum(document.chunk_count for document in documents),
            store,
            indexes,
            embedder,
            Retriever(store, indexes, embedder),
        )
    finally:
        await indexes.close()
        await database.close()


async def _add(store: SqlMatterStore, embedder: Embedder, matter: Matter, path: Path, chunk_chars: int) -> Document:
    content = await asyncio.to_thread(path.read_bytes)
    read = await asyncio.to_thread(read_document, _MEDIA_TYPE, content, ReadingLimits(chunk_chars=chunk_chars))
    document, _ = await store.add_document(_document(matter, path.name, content))
    embedded = await ChunkEmbedder(matter.tenant, store, embedder).embed(read.chunks)
    return await store.commit_ready(document, read.parsed, read.chunks, embedder.model_id, embedded)


def _document(matter: Matter, filename: str, content: bytes) -> Document:
    return Document(
        document_id=str(uuid4()),
        matter_id=matter.matter_id,
        tenant=matter.tenant,
        filename=filename,
        media_type=_MEDIA_TYPE,
        size_bytes=len(content),
        sha256=hashlib.sha256(content).hexdigest(),
        status=DocumentStatus.PENDING,
        upload_time=datetime.now(UTC),
    )
