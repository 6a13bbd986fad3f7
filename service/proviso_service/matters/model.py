"""Values of matters and documents. Offsets are Unicode code points, end exclusive."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from proviso_service.reading import Chunk, Place, Span


class DocumentStatus(StrEnum):
    PENDING = "pending"
    PROCESSING = "processing"
    READY = "ready"
    FAILED = "failed"

    @property
    def is_final(self) -> bool:
        return self in (DocumentStatus.READY, DocumentStatus.FAILED)


@dataclass(frozen=True, slots=True)
class Matter:
    """`index_version` grows whenever the set of READY documents changes, or one has FAILED: part of every cache key."""

    matter_id: str
    tenant: str
    name: str
    create_time: datetime
    document_count: int = 0
    ready_count: int = 0
    index_version: int = 0


@dataclass(frozen=True, slots=True)
class Document:
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
        """Extension of the file name, lower case, without the dot."""
        return self.filename.rpartition(".")[2].lower() if "." in self.filename else ""


def chunk_id(document_id: str, ordinal: int) -> str:
    """Id of a document's chunk; deterministic, so that writing a chunk again replaces it."""
    return f"{document_id}:{ordinal}"


def document_of(chunk_id: str) -> str:
    """Id of the document that a chunk's id was made for."""
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
    """State of a document under way; counts are chunks."""

    document: Document
    chunks_done: int = 0
    chunks_total: int = 0


@dataclass(frozen=True, slots=True)
class DocumentText:
    """Part of a document's text, from `start`, on `page` (0 without pages) and under the headings of `section_path`.
    `places` are the pages and sections that begin inside it, in order. `truncated` says that what was asked for - the
    text, a page or a section - goes on after it."""

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
        """Where the text goes on after this part; 0 when this was the end."""
        end = self.start + len(self.text)
        return end if end < self.character_count else 0


@dataclass(frozen=True, slots=True)
class UploadHeader:
    matter_id: str
    filename: str
    sha256: str = ""


@dataclass(frozen=True, slots=True)
class UploadResult:
    document: Document
    already_existed: bool


DEFAULT_THRESHOLD = 0.2
"""Lowest similarity of a search that does not say. Measured on labelled contracts (evals/README.md): up to here nothing
that was marked is lost, from 0.25 on more and more; what has nothing to do with a question stays below."""

DEFAULT_SEMANTIC_WEIGHT = 0.4
"""Weight of meaning against words, where a search does not say: the best of those measured, with 0.3 and 0.5."""


@dataclass(frozen=True, slots=True)
class SearchQuery:
    """`threshold` and `semantic_weight` in [0, 1]; empty `document_ids` means the whole matter. At most
    `max_per_document` passages of one document are returned, the best of each document first; 0 sets no limit."""

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
    `highlights` are the query's words in it, as offsets in the snippet's `text`."""

    text: str
    start: int
    highlights: tuple[Span, ...] = ()


@dataclass(frozen=True, slots=True)
class SearchHit:
    """A passage found. `similarity` is the cosine in [0, 1]; `score` the fused rank, comparable in one outcome."""

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
    """Number of a document's passages that hold all significant words of a query."""

    document_id: str
    filename: str
    passages: int


@dataclass(frozen=True, slots=True)
class SearchOutcome:
    """Passages best first; the document lists are file names, filled when nothing was found."""

    query: SearchQuery
    hits: tuple[SearchHit, ...]
    documents_matching: tuple[DocumentHits, ...] = ()
    reranked: bool = False
    rerank_failed: bool = False
    documents_available: tuple[str, ...] = field(default=())
    documents_processing: tuple[str, ...] = field(default=())


DOCUMENTATION = "documentation"
"""Stands where a matter's id does and means the tenant's documentation, which belongs to no matter. It is no UUID, so
nothing that asks for a matter reaches it."""
