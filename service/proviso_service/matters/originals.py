"""Reads documents as they were uploaded: their bytes, and the words of a page where they stand. Says which of them are
not kept as they were uploaded."""

import asyncio
import hashlib
import math
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from dataclasses import dataclass

import structlog

from proviso_service.errors import (
    DocumentNotFound,
    DocumentWithoutPages,
    InvalidRequest,
    KeyDestroyed,
    OriginalDamaged,
    PageNotFound,
)
from proviso_service.matters.model import Document, DocumentContent, DocumentPage
from proviso_service.matters.stores import BlobDamaged, BlobStore, MatterStore
from proviso_service.reading import Span

DOCUMENTS_AT_ONCE = 500
MAX_DAMAGED_NAMED = 20

_log = structlog.get_logger(__name__)


def read_content(store: MatterStore, blobs: BlobStore, document: Document, offset: int, length: int) -> DocumentContent:
    """Returns the bytes from `offset` on, at most `length` of them, or all if that is 0. Raises InvalidRequest for an
    offset beyond the end."""
    if not 0 <= offset <= document.size_bytes:
        raise InvalidRequest.of("offset", f"must be at most {document.size_bytes}, the size of the document")
    end = min(offset + length, document.size_bytes) if length else document.size_bytes
    return DocumentContent(document, offset, end, _logged(original_pieces(store, blobs, document, offset, end)))


async def _logged(pieces: AsyncGenerator[bytes, None]) -> AsyncGenerator[bytes, None]:
    try:
        async with aclosing(pieces):
            async for piece in pieces:
                yield piece
    except OriginalDamaged as damage:
        _log.error("original_damaged", document_id=damage.document_id, problem=damage.problem)
        raise


async def original_pieces(
    store: MatterStore, blobs: BlobStore, document: Document, start: int, end: int
) -> AsyncGenerator[bytes, None]:
    """Yields a range of a document's bytes; where that is all of them, their hash is compared at the end. Raises
    OriginalDamaged, KeyDestroyed, and DocumentNotFound when the document is deleted meanwhile."""
    read, position = hashlib.sha256(), start
    try:
        async with aclosing(blobs.pieces(document.tenant, document.document_id, start, end)) as pieces:
            async for piece in pieces:
                read.update(piece)
                position += len(piece)
                yield piece
    except KeyError:
        await store.get_document(document.tenant, document.matter_id, document.document_id)
        raise OriginalDamaged(document.document_id, "missing") from None
    except BlobDamaged:
        raise OriginalDamaged(document.document_id, "changed") from None
    if position < end:
        raise OriginalDamaged(document.document_id, "cut short")
    if (start, end) == (0, document.size_bytes) and read.hexdigest() != document.sha256:
        raise OriginalDamaged(document.document_id, "changed")


@dataclass(frozen=True, slots=True)
class CheckedOriginals:
    """How many originals were read, how many of them are damaged, and the first of these; how many cannot be read
    because the key of their tenant was destroyed."""

    checked: int
    damaged: int
    first: tuple[OriginalDamaged, ...]
    without_key: int = 0


async def check_originals(store: MatterStore, blobs: BlobStore, max_bytes_per_s: float = math.inf) -> CheckedOriginals:
    """Compares the bytes of every document of all tenants with the hash that they had as they were uploaded."""
    checked, damaged, without_key = 0, 0, 0
    first: list[OriginalDamaged] = []
    async for document in every_document(store):
        checked += 1
        try:
            async for piece in original_pieces(store, blobs, document, 0, document.size_bytes):
                await asyncio.sleep(len(piece) / max_bytes_per_s)
        except DocumentNotFound:
            continue  # deleted meanwhile
        except KeyDestroyed:
            without_key += 1
        except OriginalDamaged as damage:
            damaged += 1
            first = [*first, damage][:MAX_DAMAGED_NAMED]
    return CheckedOriginals(checked, damaged, tuple(first), without_key)


async def every_document(store: MatterStore) -> AsyncIterator[Document]:
    """Yields the documents of all tenants that there are, and some of those that come meanwhile."""
    last: Document | None = None
    while page := await store.documents_after(last, DOCUMENTS_AT_ONCE):
        for last in page:
            yield last


async def read_page(store: MatterStore, document: Document, number: int, part: Span) -> DocumentPage:
    """Reads a page of a READY document, with those of its words that lie in the part of the text, even if not wholly;
    an end of 0 stands for that of the page. Raises PageNotFound and DocumentWithoutPages."""
    layout, page_count = await store.page_words(document.tenant, document.document_id, number)
    page_count = page_count or await _last_page(store, document)
    if not page_count:
        raise DocumentWithoutPages(document.filename, document.document_id)
    if number > page_count:
        raise PageNotFound(number, page_count)
    words = layout.words() if layout else ()
    asked = (word for word in words if word.end > part.start and (not part.end or word.start < part.end))
    return DocumentPage(number, page_count, layout, tuple(asked))


async def _last_page(store: MatterStore, document: Document) -> int:
    """Returns the number of the last page that has text; 0 for a document without pages."""
    outlines = await store.outlines(document.tenant, [document.document_id])
    outline = outlines.get(document.document_id)
    if outline is None:
        raise DocumentNotFound(document.document_id)
    return outline.pages[-1].number if outline.pages else 0
