"""What matters need from outside: rows, bytes, vectors. Every method is scoped by tenant."""

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from proviso_service.matters.model import (
    Chunk,
    Document,
    DocumentHits,
    DocumentStatus,
    Heading,
    Matter,
    PageSpan,
    ParsedDocument,
    StoredChunk,
)
from proviso_service.models.ports import Vectors
from proviso_service.paging import Page, PageRequest


@dataclass(frozen=True, slots=True)
class LexicalHit:
    """A chunk found by its words; `rank` from 0, best first; `all_terms`: it holds every significant query word."""

    chunk_id: str
    rank: int
    all_terms: bool


@dataclass(frozen=True, slots=True)
class VectorHit:
    """A chunk found by its vector; `similarity` is the cosine."""

    chunk_id: str
    similarity: float


@dataclass(frozen=True, slots=True)
class VectorRecord:
    chunk_id: str
    matter_id: str
    document_id: str
    vector: Vectors


class MatterStore(Protocol):
    """Rows of matters, documents, texts, chunks and embeddings; the source of truth."""

    async def create_matter(self, tenant: str, name: str) -> Matter: ...

    async def get_matter(self, tenant: str, matter_id: str) -> Matter:
        """Raises MatterNotFound."""
        ...

    async def list_matters(self, tenant: str, page: PageRequest, name: str = "") -> Page[Matter]:
        """Newest first; only those of exactly this name when it is given."""
        ...

    async def delete_matter(self, tenant: str, matter_id: str) -> None:
        """With all rows of its documents. Raises MatterNotFound."""
        ...

    async def add_document(self, document: Document) -> tuple[Document, bool]:
        """Stores a PENDING document; returns it and True, or the matter's document of the same bytes and False. Fills
        in `replaces_document_id`. Raises MatterNotFound."""
        ...

    async def get_document(self, tenant: str, matter_id: str, document_id: str) -> Document:
        """Raises DocumentNotFound."""
        ...

    async def find_by_filename(self, tenant: str, matter_id: str, filename: str) -> Document:
        """The newest document of this file name, compared without case. Raises DocumentNotFound."""
        ...

    async def list_documents(self, tenant: str, matter_id: str, page: PageRequest) -> Page[Document]:
        """In the order of upload."""
        ...

    async def all_documents(self, tenant: str, matter_id: str) -> Sequence[Document]:
        """Every document of a matter in the order of upload."""
        ...

    async def unfinished_documents(self) -> Sequence[Document]:
        """Of all tenants: neither READY nor FAILED, oldest first."""
        ...

    async def set_status(self, document: Document, status: DocumentStatus, failure_reason: str = "") -> Document:
        """Raises DocumentNotFound when it was deleted meanwhile."""
        ...

    async def commit_ready(
        self, document: Document, parsed: ParsedDocument, chunks: Sequence[Chunk], model_id: str, vectors: Vectors
    ) -> Document:
        """In one transaction: text, structure, chunks, full text, embeddings and READY. Raises DocumentNotFound when
        it was deleted meanwhile."""
        ...

    async def delete_document(self, tenant: str, matter_id: str, document_id: str) -> None:
        """All its rows. Raises DocumentNotFound."""
        ...

    async def text(self, tenant: str, document_id: str, start: int, end: int | None = None) -> str:
        """Part of a READY document's text. Raises DocumentNotFound."""
        ...

    async def structure(self, tenant: str, document_id: str) -> tuple[Sequence[Heading], Sequence[PageSpan]]: ...

    async def chunks(self, tenant: str, chunk_ids: Sequence[str]) -> Sequence[StoredChunk]:
        """Those of the ids that belong to READY documents, in the order asked for."""
        ...

    async def neighbours(self, tenant: str, stored: StoredChunk) -> tuple[str, str]:
        """Texts of the chunks before and after; empty at the ends."""
        ...

    async def search_words(
        self, tenant: str, matter_id: str, query: str, limit: int, document_ids: Sequence[str] = ()
    ) -> Sequence[LexicalHit]:
        """Chunks of READY documents by BM25, best first. `query` is natural language, never full-text syntax."""
        ...

    async def documents_matching(
        self, tenant: str, matter_id: str, query: str, document_ids: Sequence[str] = ()
    ) -> Sequence[DocumentHits]:
        """READY documents with passages that hold all significant words of the query, most passages first."""
        ...

    async def known_embeddings(
        self, tenant: str, model_id: str, content_sha256: Sequence[str]
    ) -> Mapping[str, Vectors]:
        """Vectors, shape (dimensions,), that were computed before for this tenant, by Chunk.content_sha256."""
        ...

    async def index_version(self, tenant: str, matter_id: str) -> int:
        """Grows whenever the set of READY documents changes; part of every cache key."""
        ...

    def all_vectors(self, model_id: str, batch_size: int) -> AsyncIterator[tuple[str, Sequence[VectorRecord]]]:
        """(tenant, records) of READY documents in batches, to rebuild the index."""
        ...


class VectorIndex(Protocol):
    """Nearest neighbours inside a matter; never the source of truth."""

    async def upsert(self, tenant: str, records: Sequence[VectorRecord]) -> None: ...

    async def search(
        self, tenant: str, matter_id: str, vector: Vectors, limit: int, document_ids: Sequence[str] = ()
    ) -> Sequence[VectorHit]:
        """Best first; only within the tenant's matter (and documents, when given)."""
        ...

    async def delete_document(self, tenant: str, matter_id: str, document_id: str) -> None: ...

    async def delete_matter(self, tenant: str, matter_id: str) -> None: ...

    async def count(self) -> int:
        """Vectors held, of all tenants."""
        ...


class BlobStore(Protocol):
    """Uploaded bytes under opaque keys."""

    async def put(self, tenant: str, key: str, pieces: AsyncIterator[bytes]) -> None:
        """Durable and whole when it returns; nothing visible when it raises."""
        ...

    async def get(self, tenant: str, key: str) -> bytes:
        """Raises KeyError."""
        ...

    async def delete(self, tenant: str, key: str) -> None:
        """Deleting what is absent changes nothing."""
        ...
