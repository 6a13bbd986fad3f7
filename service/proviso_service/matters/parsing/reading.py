"""From the bytes of a file to its text and passages."""

from proviso_service.errors import UnsupportedDocument
from proviso_service.matters.chunking import chunk_document
from proviso_service.matters.model import ReadDocument
from proviso_service.matters.parsing.canonical import ReadingLimits, text_too_long
from proviso_service.matters.parsing.formats import parse

MAX_CHUNKS = 100_000


def read_document(media_type: str, content: bytes, limits: ReadingLimits, chunk_chars: int) -> ReadDocument:
    """Parses and cuts; `chunk_chars` is the length of the longest chunk in code points. Raises UnsupportedDocument."""
    parsed = parse(media_type, content, limits)
    if len(parsed.text) > limits.max_text_chars:
        raise text_too_long(limits)
    if not parsed.text.strip():
        raise UnsupportedDocument("The file holds no text.")
    chunks = chunk_document(parsed, chunk_chars)
    if len(chunks) > MAX_CHUNKS:
        raise UnsupportedDocument("The document has too many sections. Split it and upload the parts.")
    return ReadDocument(parsed, chunks)
