"""Builds, writes and deletes the rows that ingestion makes of a document: text, outline, chunks, and the packed row by
which it is searched.

`write_contents` and `forget_contents` run inside the caller's transaction.
"""

import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Executable, delete

from proviso_service.backends.sql.dialects import insert
from proviso_service.backends.sql.tables import (
    chunks,
    document_vectors,
    outlines,
    packed_documents,
    page_words,
    passage_words,
    segments,
    statement_scores,
)
from proviso_service.matters import Document, PackedWords, chunk_id
from proviso_service.models import PassageWords, Vectors
from proviso_service.reading import PACKED_WORD, Chunk, ParsedDocument

SEGMENT_CHARS = 16_384
"""Code points in each segment of a text; the last one may be shorter. Stored texts depend on this number."""

BATCH_ROWS = 500
"""The most rows that one statement writes."""

Rows = Sequence[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Contents:
    """The rows of one document, ready to be written."""

    outline: Rows
    page_words: Rows
    segments: Rows
    chunks: Rows
    packed: Rows
    vectors: Rows
    words: Rows


def contents_of(
    document: Document,
    parsed: ParsedDocument,
    parts: Sequence[Chunk],
    model_id: str,
    vectors: Vectors,
    words_id: str = "",
    words: PassageWords | None = None,
) -> Contents:
    """The rows of a parsed document. `vectors` has one row for each chunk, and so have the `words` where there are any.
    Slow for a long document: run it in a thread. Raises ValueError for another number of them."""
    if len(vectors) != len(parts) or (words is not None and len(words) != len(parts)):
        raise ValueError("every chunk has one vector, and its words")
    here = {"tenant": document.tenant, "document_id": document.document_id}
    return Contents(
        outline=[here | {"headings": parsed.headings, "pages": parsed.pages}],
        page_words=[
            here | {"number": page.number, "width": page.width, "height": page.height, "words": compressed(page.packed)}
            for page in parsed.page_words
        ],
        segments=[
            here | {"ordinal": ordinal, "text": parsed.text[start : start + SEGMENT_CHARS]}
            for ordinal, start in enumerate(range(0, len(parsed.text), SEGMENT_CHARS))
        ],
        chunks=[
            here
            | {
                "chunk_id": chunk_id(document.document_id, part.ordinal),
                "ordinal": part.ordinal,
                "start_offset": part.start,
                "end_offset": part.end,
                "page": part.page,
                "section_path": part.section_path,
                "clause_numbers": part.clause_numbers,
                "content_sha256": part.content_sha256,
                "text": part.text,
            }
            for part in parts
        ],
        packed=[here | {"matter_id": document.matter_id, "words": PackedWords.of(parts).packed()}],
        vectors=[here | {"model_id": model_id, "vectors": packed_vectors(vectors)}] if parts else [],
        words=[here | {"words_id": words_id, "words": words.packed()}] if words else [],
    )


def packed_vectors(vectors: Vectors) -> bytes:
    """The vectors of a document's chunks, as they are kept."""
    return vectors.astype("<f4").tobytes()


def compressed(packed: bytes) -> bytes:
    """Compresses PageWords.packed: like bytes of all words stand side by side, because they resemble each other."""
    size = PACKED_WORD.size
    return zlib.compress(b"".join(packed[place::size] for place in range(size)))


def expanded(words: bytes) -> bytes:
    """Returns what was compressed."""
    planes = zlib.decompress(words)
    packed = bytearray(len(planes))
    size = PACKED_WORD.size
    count = len(planes) // size
    for place in range(size):
        packed[place::size] = planes[place * count : (place + 1) * count]
    return bytes(packed)


def write_contents(transaction: Connection, document: Document, contents: Contents) -> None:
    """Writes the contents, in place of those of an earlier ingestion."""
    forget_contents(transaction, document.tenant, document.document_id)
    _write(transaction, insert(outlines), contents.outline)
    _write(transaction, insert(page_words), contents.page_words)
    _write(transaction, insert(segments), contents.segments)
    _write(transaction, insert(chunks), contents.chunks)
    _write(transaction, insert(packed_documents), contents.packed)
    _write(transaction, insert(document_vectors), contents.vectors)
    _write(transaction, insert(passage_words), contents.words)


def forget_contents(transaction: Connection, tenant: str, document_id: str) -> None:
    """Removes a document's contents."""
    for table in (
        packed_documents,
        document_vectors,
        passage_words,
        statement_scores,
        chunks,
        segments,
        page_words,
        outlines,
    ):
        transaction.execute(delete(table).where(table.c.tenant == tenant, table.c.document_id == document_id))


def _write(transaction: Connection, statement: Executable, rows: Rows) -> None:
    for start in range(0, len(rows), BATCH_ROWS):
        transaction.execute(statement, rows[start : start + BATCH_ROWS])
