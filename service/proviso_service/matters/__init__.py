"""Matters and their documents: upload, ingestion, search, and reading of texts.

`Matters` (`service.py`) keeps matters and documents, `Retriever` (`retrieval.py`) searches them. `stores.py` declares
what is kept where: rows and bytes, which are the truth. `search_index.py` is what a search compares, in memory;
`packing.py` makes the rows that it is loaded from, `resident_indexes.py` keeps it for the matters in use, and
`search_queue.py` is the thread that searches it.
"""

from proviso_service.matters.document_text import TextPart
from proviso_service.matters.excerpts import Mark, best_excerpt
from proviso_service.matters.files import FileReader, reading_limits
from proviso_service.matters.model import (
    ALL_MATTERS,
    DEFAULT_SEMANTIC_WEIGHT,
    DEFAULT_THRESHOLD,
    DOCUMENTATION,
    NO_SUCH_DOCUMENT,
    Document,
    DocumentContent,
    DocumentHits,
    DocumentPage,
    DocumentProgress,
    DocumentStatus,
    DocumentText,
    EmptyReason,
    LegalHold,
    Matter,
    Member,
    Outline,
    SearchHit,
    SearchOutcome,
    SearchQuery,
    Snippet,
    StoredChunk,
    UnsearchedDocument,
    UploadHeader,
    Visibility,
    cause_of,
    chunk_id,
    unread_error,
    why_not_ready,
)
from proviso_service.matters.originals import check_originals, every_document, original_pieces
from proviso_service.matters.packing import PackedDocument, PackedWords
from proviso_service.matters.reembedding import Reembedding
from proviso_service.matters.resident_indexes import NearestPassages, ResidentIndexes
from proviso_service.matters.retrieval import Documentation, Retriever
from proviso_service.matters.search_index import MatterIndex, Rows
from proviso_service.matters.service import MatterReader, Matters
from proviso_service.matters.stores import (
    PIECE_BYTES,
    BlobDamaged,
    BlobStore,
    Claim,
    ClaimLost,
    EmbeddingBatch,
    Job,
    Leftover,
    MatterStore,
    MemberStore,
)
from proviso_service.matters.validation import is_uuid, uuid_of, uuids_of
from proviso_service.matters.wording import holds_phrase

__all__ = [
    "ALL_MATTERS",
    "DEFAULT_SEMANTIC_WEIGHT",
    "DEFAULT_THRESHOLD",
    "DOCUMENTATION",
    "NO_SUCH_DOCUMENT",
    "PIECE_BYTES",
    "BlobDamaged",
    "BlobStore",
    "Claim",
    "ClaimLost",
    "Document",
    "DocumentContent",
    "DocumentHits",
    "DocumentPage",
    "DocumentProgress",
    "DocumentStatus",
    "DocumentText",
    "Documentation",
    "EmbeddingBatch",
    "EmptyReason",
    "FileReader",
    "Job",
    "Leftover",
    "LegalHold",
    "Mark",
    "Matter",
    "MatterIndex",
    "MatterReader",
    "MatterStore",
    "Matters",
    "Member",
    "MemberStore",
    "NearestPassages",
    "Outline",
    "PackedDocument",
    "PackedWords",
    "Reembedding",
    "ResidentIndexes",
    "Retriever",
    "Rows",
    "SearchHit",
    "SearchOutcome",
    "SearchQuery",
    "Snippet",
    "StoredChunk",
    "TextPart",
    "UnsearchedDocument",
    "UploadHeader",
    "Visibility",
    "best_excerpt",
    "cause_of",
    "check_originals",
    "chunk_id",
    "every_document",
    "holds_phrase",
    "is_uuid",
    "original_pieces",
    "reading_limits",
    "unread_error",
    "uuid_of",
    "uuids_of",
    "why_not_ready",
]
