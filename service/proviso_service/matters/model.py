"""Values of matters and documents. Offsets are Unicode code points; the end is exclusive."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from proviso_service.reading import Chunk, Place, Span

DOCUMENTATION = "documentation"
"""Stands in the place of a matter's id for the tenant's documentation, which belongs to no matter. It is not a UUID, so
nothing that asks for a matter reaches it."""


class DocumentStatus(StrEnum):
    """Where a document is on its way from upload to search."""

    PENDING = "pending"
    PROCESSING = "processing"
    READY = "ready"
    FAILED = "failed"

    @property
    def is_final(self) -> bool:
        return self in (DocumentStatus.READY, DocumentStatus.FAILED)


@dataclass(frozen=True, slots=True)
class Matter:
    """A matter of a tenant. `index_version` grows whenever the set of READY documents changes or a document becomes
    FAILED; it is part of every cache key."""

    matter_id: str
    tenant: str
    name: str
    create_time: datetime
    document_count: int = 0
    ready_count: int = 0
    index_version: int = 0


@dataclass(frozen=True, slots=True)
class Document:
    """A document of a matter. Counts are filled in once it is READY, `failure_reason` when it has FAILED.
    `replaces_document_id` is the earlier document of the same file name."""

    document_id: str
    matter_id: str
    tenant: str
    filename: str
    media_type: str
    size_bytes: int
    sha256: str
    status: DocumentStatus
    upload_time: datetime
    failure_reason: str = ""
    character_count: int = 0
    chunk_count: int = 0
    page_count: int = 0
    replaces_document_id: str = ""

    @property
    def file_type(self) -> str:
        """The extension of the file name, in lower case and without the dot."""
        return self.filename.rpartition(".")[2].lower() if "." in self.filename else ""


def chunk_id(document_id: str, ordinal: int) -> str:
    """Returns the id of a document's chunk. It is always the same, so that writing a chunk again replaces it."""
    return f"{document_id}:{ordinal}"


def document_of(chunk_id: str) -> str:
    """Returns the id of the document that a chunk's id was made for."""
    return chunk_id.rpartition(":")[0]


@dataclass(frozen=True, slots=True)
class StoredChunk:
    """A chunk of a READY document as search returns it."""

    chunk_id: str
    document_id: str
    filename: str
    chunk: Chunk


@dataclass(frozen=True, slots=True)
class DocumentProgress:
    """The state of a document under way; the counts are of chunks."""

    document: Document
    chunks_done: int = 0
    chunks_total: int = 0


@dataclass(frozen=True, slots=True)
class DocumentText:
    """A part of a document's text. It begins at `start`, on `page` (0 without pages) and under the headings of
    `section_path`. `places` are the pages and sections that begin inside it, in order. `truncated` says that what was
    asked for (the text, a page or a section) goes on after it."""

    document: Document
    text: str
    start: int
    character_count: int
    truncated: bool
    page: int = 0
    section_path: tuple[str, ...] = ()
    places: tuple[Place, ...] = ()

    @property
    def next_start(self) -> int:
        """The position where the text goes on after this part; 0 when it ends here."""
        end = self.start + len(self.text)
        return end if end < self.character_count else 0


@dataclass(frozen=True, slots=True)
class UploadHeader:
    """What a caller says about a file before its bytes; `sha256` is empty or the hash of the bytes in hexadecimal."""

    matter_id: str
    filename: str
    sha256: str = ""


@dataclass(frozen=True, slots=True)
class UploadResult:
    """The document of an upload; `already_existed` says that the matter had a document of the same bytes."""

    document: Document
    already_existed: bool


DEFAULT_THRESHOLD = 0.2
"""The lowest similarity of a search that gives none. Measured on labelled contracts (evals/README.md): up to this value
nothing that was marked is lost, from 0.25 on more and more is, and passages that have nothing to do with a question
stay below it."""

DEFAULT_SEMANTIC_WEIGHT = 0.4
"""The weight of meaning against words in a search that gives none. With 0.3 and 0.5 it is the best of those
measured."""


@dataclass(frozen=True, slots=True)
class SearchQuery:
    """A search in a matter. `threshold` and `semantic_weight` are in [0, 1]; empty `document_ids` mean the whole
    matter. At most `max_per_document` passages of one document are returned, the best of each document first; 0 sets no
    limit."""

    matter_id: str
    query: str
    max_results: int = 5
    threshold: float = DEFAULT_THRESHOLD
    semantic_weight: float = DEFAULT_SEMANTIC_WEIGHT
    include_context: bool = False
    document_ids: Sequence[str] = ()
    max_per_document: int = 0


@dataclass(frozen=True, slots=True)
class Snippet:
    """The part of a passage that is most about the query: `text == document_text[start:start + len(text)]`.
    `highlights` are the places of the query's words, as offsets in the snippet's `text`."""

    text: str
    start: int
    highlights: tuple[Span, ...] = ()


@dataclass(frozen=True, slots=True)
class SearchHit:
    """A passage that was found. `similarity` is the cosine in [0, 1]; `score` is the fused score, comparable within one
    outcome."""

    stored: StoredChunk
    similarity: float
    score: float
    lexical_match: bool
    snippet: Snippet
    rerank_score: float | None = None
    context_before: str = ""
    context_after: str = ""


@dataclass(frozen=True, slots=True)
class DocumentHits:
    """How many passages of a document hold all significant words of a query."""

    document_id: str
    filename: str
    passages: int


@dataclass(frozen=True, slots=True)
class SearchOutcome:
    """The passages that a search found, best first. The lists of documents are file names, filled in when nothing was
    found."""

    query: SearchQuery
    hits: tuple[SearchHit, ...]
    documents_matching: tuple[DocumentHits, ...] = ()
    reranked: bool = False
    rerank_failed: bool = False
    documents_available: tuple[str, ...] = field(default=())
    documents_processing: tuple[str, ...] = field(default=())
