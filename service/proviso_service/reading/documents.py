"""From the bytes of a file to its text and passages, in the process that it runs in."""

from dataclasses import replace

from proviso_service.errors import UnsupportedDocument
from proviso_service.reading.canonical import ReadingLimits, check_sections, text_too_long
from proviso_service.reading.chunking import chunk_document
from proviso_service.reading.formats import format_by_media_type
from proviso_service.reading.model import ReadDocument
from proviso_service.reading.signatures import check_signature


def read_document(media_type: str, content: bytes, limits: ReadingLimits, chunk_chars: int) -> ReadDocument:
    """Parses and cuts; `chunk_chars` is the length of the longest chunk in code points. Raises UnsupportedDocument."""
    found = format_by_media_type(media_type)
    check_signature(found, content)
    parsed = found.load()(content, limits)
    if len(parsed.text) > limits.max_text_chars:
        raise text_too_long(limits)
    if not parsed.text.strip():
        raise UnsupportedDocument("The file holds no text.")
    check_sections(len(parsed.headings))
    chunks = chunk_document(parsed, chunk_chars)
    if not chunks:
        # What returns on every page is all there is.
        parsed = replace(parsed, furniture=())
        chunks = chunk_document(parsed, chunk_chars)
    check_sections(len(chunks))
    return ReadDocument(parsed, chunks)
