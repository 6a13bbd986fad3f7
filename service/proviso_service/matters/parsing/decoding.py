"""Bytes of a text file to characters."""

import codecs

from proviso_service.errors import UnsupportedDocument
from proviso_service.matters.parsing.canonical import ReadingLimits, text_too_long

_SIGNATURES = (
    (b"%PDF-", "a PDF document"),
    (b"PK\x03\x04", "a ZIP archive or an Office document"),
    (b"\xd0\xcf\x11\xe0", "an old Office document"),
    (b"{\\rtf", "a rich text document"),
    (b"\x89PNG", "an image"),
    (b"\xff\xd8\xff", "an image"),
)
_BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)


def decode(content: bytes, limits: ReadingLimits) -> str:
    """The text with every line end as one newline, without byte order mark: UTF-8, or UTF-16 where a mark says so.
    Raises UnsupportedDocument for anything else, and for a text over the limit."""
    for signature, kind in _SIGNATURES:
        if content.startswith(signature):
            raise UnsupportedDocument(f"The file is named as text but holds {kind}. Save it as plain text or Markdown.")
    mark, encoding = next(
        ((mark, encoding) for mark, encoding in _BYTE_ORDER_MARKS if content.startswith(mark)), (b"", "utf-8")
    )
    try:
        text = content[len(mark) :].decode(encoding)
    except UnicodeDecodeError as error:
        raise UnsupportedDocument(
            f"The file is not readable text (byte {error.start + len(mark) + 1}). Save it with the encoding UTF-8."
        ) from error
    if "\0" in text:
        raise UnsupportedDocument("The file holds binary data, not text.")
    if len(text) > limits.max_text_chars:
        raise text_too_long(limits)
    return text.replace("\r\n", "\n").replace("\r", "\n")
