"""From the bytes of a file to its text and passages, in the process that it runs in."""

from proviso_service.errors import UnsupportedDocument
from proviso_service.matters.chunking import chunk_document
from proviso_service.matters.model import ReadDocument
from proviso_service.matters.parsing.canonical import ReadingLimits, text_too_long
from proviso_service.matters.parsing.formats import format_by_media_type
from proviso_service.matters.parsing.signatures import check_signature

MAX_SECTIONS = 100_000
"""Headings, and passages, of one document."""


def read_document(media_type: str, content: bytes, limits: ReadingLimits, chunk_chars: int) -> ReadDocument:
    """Parses and cuts; `chunk_chars` is the length of the longest chunk in code points. Raises UnsupportedDocument."""
    found = format_by_media_type(media_type)
    check_signature(found, content)
    parsed = found.load()(content, limits)
    if len(parsed.text) > limits.max_text_chars:
        raise text_too_long(limits)
    if not parsed.text.strip():
        raise UnsupportedDocument("The file holds no text.")
    if len(parsed.headings) > MAX_SECTIONS:
        raise _too_many_sections()
    chunks = chunk_document(parsed, chunk_chars)
    if len(chunks) > MAX_SECTIONS:
        raise _too_many_sections()
    return ReadDocument(parsed, chunks)


def _too_many_sections() -> UnsupportedDocument:
    return UnsupportedDocument("The document has too many sections. Split it and upload the parts.")
