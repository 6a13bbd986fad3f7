"""Reads documents as they were uploaded: their bytes, and the words of a page where they stand."""

from collections.abc import AsyncGenerator

from proviso_service.errors import DocumentNotFound, DocumentWithoutPages, InvalidRequest, PageNotFound
from proviso_service.matters.model import Document, DocumentContent, DocumentPage
from proviso_service.matters.stores import BlobStore, MatterStore
from proviso_service.reading import Span

PIECE_BYTES = 256 * 1024
"""The most bytes that are read at once."""


def read_content(blobs: BlobStore, document: Document, offset: int, length: int) -> DocumentContent:
    """Returns the bytes from `offset` on, at most `length` of them, or all if that is 0. Raises InvalidRequest for an
    offset beyond the end."""
    if not 0 <= offset <= document.size_bytes:
        raise InvalidRequest.of("offset", f"must be at most {document.size_bytes}, the size of the document")
    end = min(offset + length, document.size_bytes) if length else document.size_bytes
    return DocumentContent(document, offset, end, _pieces(blobs, document, offset, end))


async def _pieces(blobs: BlobStore, document: Document, start: int, end: int) -> AsyncGenerator[bytes, None]:
    for position in range(start, end, PIECE_BYTES):
        try:
            yield await blobs.read(document.tenant, document.document_id, position, min(PIECE_BYTES, end - position))
        except KeyError:
            raise DocumentNotFound(document.document_id) from None


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
