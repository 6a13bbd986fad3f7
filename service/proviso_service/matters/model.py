"""Values of matters and documents. Offsets are Unicode code points; the end is exclusive."""

from bisect import bisect_right
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import Enum, StrEnum

from proviso_service.access import MatterRole
from proviso_service.errors import DocumentFailed, DocumentProcessing, DocumentUnread, FailureCause
from proviso_service.paging import offset_token
from proviso_service.reading import Chunk, Heading, PageSpan, PageWords, Place, PlacedWord, Span

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
class LegalHold:
    """Who keeps a matter from being deleted, since when, and why."""

    user: str
    reason: str
    time: datetime


@dataclass(frozen=True, slots=True)
class Matter:
    """A matter of a tenant. `index_version` grows whenever the set of READY documents changes or a document becomes
    FAILED; it is part of every cache key. `update_time` is None until the name or the notes are changed. `role` is that
    of the member for whom matters were listed."""

    matter_id: str
    tenant: str
    name: str
    create_time: datetime
    document_count: int = 0
    ready_count: int = 0
    index_version: int = 0
    notes: str = ""
    update_time: datetime | None = None
    role: MatterRole | None = None
    hold: LegalHold | None = None


@dataclass(frozen=True, slots=True)
class Member:
    """A user with a role in a matter."""

    user: str
    role: MatterRole
    create_time: datetime


@dataclass(frozen=True, slots=True)
class Visibility:
    """Which matters of a tenant a list has: those that `member` is a member of, and of them `only` these; None for
    all."""

    member: str | None = None
    only: frozenset[str] | None = None


ALL_MATTERS = Visibility()


@dataclass(frozen=True, slots=True)
class Document:
    """A document of a matter. Counts are filled in once it is READY, `failure_reason` (in words) and `failure_cause`
    when it has FAILED.
    `replaces_document_id` is the earlier document of the same file name; `language` is that of the text, as
    `language.written_in` tells it."""

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
    failure_cause: FailureCause | None = None
    language: str = ""

    @property
    def file_type(self) -> str:
        """The extension of the file name, in lower case and without the dot."""
        return self.filename.rpartition(".")[2].lower() if "." in self.filename else ""


NO_SUCH_DOCUMENT = "There is no such document in this matter"


def why_not_ready(document: Document | None) -> str:
    """Returns why a document cannot be read, in words for a person. It is None where the matter has none of this id."""
    if document is None:
        return NO_SUCH_DOCUMENT
    if document.status is DocumentStatus.FAILED:
        return f"{document.filename} could not be read: {document.failure_reason}"
    return f"{document.filename} is still being processed; try again shortly"


def cause_of(document: Document | None) -> FailureCause:
    """Returns why a document cannot be read, as `why_not_ready` says it in words."""
    if document is None:
        return FailureCause.NOT_FOUND
    return FailureCause.FAILED if document.status is DocumentStatus.FAILED else FailureCause.PROCESSING


def unread_error(document: Document) -> DocumentUnread:
    """Returns the error for a document that is not READY."""
    kind = DocumentFailed if document.status is DocumentStatus.FAILED else DocumentProcessing
    return kind(why_not_ready(document), document.document_id)


@dataclass(frozen=True, slots=True)
class UnsearchedDocument:
    """A document that a search could not look in, and why, in words. `document` is None where the matter has none of
    this id."""

    document_id: str
    document: Document | None

    @property
    def filename(self) -> str:
        return self.document.filename if self.document else ""

    @property
    def error(self) -> str:
        return why_not_ready(self.document)

    @property
    def cause(self) -> FailureCause:
        return cause_of(self.document)


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
class DocumentContent:
    """The bytes of a document from `start` to `end` as they were uploaded. Reading `pieces` raises DocumentNotFound
    when the document is deleted meanwhile, and OriginalDamaged when the service no longer has them."""

    document: Document
    start: int
    end: int
    pieces: AsyncGenerator[bytes, None]


@dataclass(frozen=True, slots=True)
class DocumentPage:
    """A page of a document, which has `page_count` pages. `layout` is the page as it is shown, and None where it is not
    known; `words` are those that were asked for."""

    number: int
    page_count: int
    layout: PageWords | None
    words: tuple[PlacedWord, ...]


@dataclass(frozen=True, slots=True)
class Outline:
    """The headings and pages of a document, both in order. Clauses without a title are among the headings, by their
    number."""

    headings: Sequence[Heading] = ()
    pages: Sequence[PageSpan] = ()

    def path_at(self, position: int) -> tuple[str, ...]:
        """Returns the titles of the headings above a position or at it, outermost first."""
        path: list[Heading] = []
        for heading in self.headings:
            if heading.start > position:
                break
            path = [*(above for above in path if above.level < heading.level), heading]
        return tuple(heading.title for heading in path)

    def page_at(self, position: int) -> int:
        """Returns the number of the page that holds a position; 0 where there are no pages."""
        index = bisect_right(self.pages, position, key=_start) - 1
        return self.pages[index].number if index >= 0 else 0

    def places_within(self, span: Span) -> tuple[Place, ...]:
        """Returns where clauses and pages begin inside the span, after its start and in order."""
        starts = {one.start for one in (*_inside(self.headings, span), *_inside(self.pages, span))}
        return tuple(Place(start, self.page_at(start), self._heading_at(start)) for start in sorted(starts))

    def _heading_at(self, position: int) -> str:
        index = bisect_right(self.headings, position, key=_start) - 1
        return self.headings[index].title if index >= 0 else ""


def _start(part: Heading | PageSpan) -> int:
    return part.start


def _inside(parts: Sequence[Heading | PageSpan], span: Span) -> Sequence[Heading | PageSpan]:
    first = bisect_right(parts, span.start, key=_start)
    last = bisect_right(parts, span.end - 1, first, key=_start)
    return parts[first:last]


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


DEFAULT_THRESHOLD = 0.15
"""The lowest similarity of a search that gives none. Measured on labelled contracts (evals/README.md): with 0.2 a
twentieth of what was marked is lost, with less than 0.1 what is less near comes before it. What has nothing to do with
a matter is told by `ranking.FLOOR`."""

DEFAULT_SEMANTIC_WEIGHT = 0.7
"""The weight of meaning against words in a search that gives none. With 0.6 and 0.8 it is the best of those measured on
contracts that the encoder was not tuned on (evals/README.md)."""


@dataclass(frozen=True, slots=True)
class SearchQuery:
    """A search in a matter. `threshold` and `semantic_weight` are in [0, 1]; a `threshold` below the usual one also
    finds passages for a query that has nothing to do with them. Empty `document_ids` mean the whole matter. At most
    `max_per_document` passages of one document are returned, the best of each document first; 0 sets no limit.
    `page_token` asks for the passages after those of a page before."""

    matter_id: str
    query: str
    max_results: int = 5
    threshold: float = DEFAULT_THRESHOLD
    semantic_weight: float = DEFAULT_SEMANTIC_WEIGHT
    include_context: bool = False
    document_ids: Sequence[str] = ()
    max_per_document: int = 0
    page_token: str = ""


@dataclass(frozen=True, slots=True)
class Snippet:
    """The part of a passage that is most about the query: `text == document_text[start:start + len(text)]`.
    `highlights` are the places of the query's words, as offsets in the snippet's `text`."""

    text: str
    start: int
    highlights: tuple[Span, ...] = ()


@dataclass(frozen=True, slots=True)
class SearchHit:
    """A passage that was found. `similarity` is the cosine in [0, 1], and `lexical_score` the share of the query's
    telling words that the passage holds; `score` is the fused score, comparable within one outcome."""

    stored: StoredChunk
    similarity: float
    score: float
    lexical_match: bool
    snippet: Snippet
    rerank_score: float | None = None
    context_before: str = ""
    context_after: str = ""
    lexical_score: float = 0.0


@dataclass(frozen=True, slots=True)
class DocumentHits:
    """How many passages of a document hold all significant words of a query."""

    document_id: str
    filename: str
    passages: int


class EmptyReason(Enum):
    """Why a search found nothing worth returning: no document was READY, no passage holds what it asks for word by
    word or has to do with it, or every passage is below the threshold."""

    NOTHING_SEARCHED = "nothing_searched"
    NO_MATCH = "no_match"
    BELOW_MIN_SCORE = "below_min_score"


@dataclass(frozen=True, slots=True)
class FoundSize:
    """How many passages a search found on all pages, and whether it looked at every passage that may fit;
    `best_similarity` is the highest of any passage that it looked at."""

    total: int = 0
    is_exact: bool = True
    best_similarity: float = 0.0


@dataclass(frozen=True, slots=True)
class SearchOutcome:
    """The passages that a search found, best first, after the `first` ones; `scope` is what page tokens hold for.
    `not_searched` are the documents asked for, or those of the matter, that could not be searched. The lists of
    documents are file names, filled in when nothing was found."""

    query: SearchQuery
    hits: tuple[SearchHit, ...]
    documents_matching: tuple[DocumentHits, ...] = ()
    reranked: bool = False
    rerank_failed: bool = False
    documents_available: tuple[str, ...] = field(default=())
    documents_processing: tuple[str, ...] = field(default=())
    not_searched: tuple[UnsearchedDocument, ...] = ()
    size: FoundSize = FoundSize()
    empty_reason: EmptyReason | None = None
    scope: tuple[str, ...] = ()
    first: int = 0

    def token_after(self, shown: int) -> str:
        """The token of the page after the first passages of this one; empty when there is none."""
        end = self.first + shown
        return offset_token(self.scope, end) if end < self.size.total else ""
