"""Bytes of a text file to characters."""

import codecs
import re

from proviso_service.errors import UnsupportedDocument
from proviso_service.reading.canonical import ReadingLimits, text_too_long

_BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_LONE_SURROGATE = re.compile(r"[\ud800-\udfff]")
_CONTROLS = bytes({*range(32), 127} - set(b"\t\n\v\f\r\x1a\x1b"))
_FEW_CONTROLS = 32
_MAX_CONTROL_SHARE = 0.02
_BINARY = "The file holds binary data, not text. Upload the document in the format that it was written in."


def decode(content: bytes, limits: ReadingLimits) -> str:
    """The text with every line end as one newline, without byte order mark: UTF-8, or UTF-16 where a mark says so.
    Half characters of UTF-16 become the replacement character. Raises UnsupportedDocument for anything else, and for a
    text over the limit."""
    mark, encoding = next(
        ((mark, encoding) for mark, encoding in _BYTE_ORDER_MARKS if content.startswith(mark)), (b"", "utf-8")
    )
    text = _characters(content, len(mark), encoding)
    if len(text) > limits.max_text_chars:
        raise text_too_long(limits)
    if _is_binary(text):
        raise UnsupportedDocument(_BINARY)
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _characters(content: bytes, start: int, encoding: str) -> str:
    errors = "strict" if encoding == "utf-8" else "surrogatepass"
    try:
        text = content[start:].decode(encoding, errors)
    except UnicodeDecodeError as error:
        if b"\0" in content[:1024] and not start:
            raise UnsupportedDocument(_BINARY) from error
        raise UnsupportedDocument(
            f"The file is not readable text (byte {error.start + start + 1:,}). Open it in the program that it comes"
            " from and save it with the encoding UTF-8."
        ) from error
    return _LONE_SURROGATE.sub("\ufffd", text)


def _is_binary(text: str) -> bool:
    content = text.encode()
    controls = len(content) - len(content.translate(None, _CONTROLS))
    return "\0" in text or controls > max(_FEW_CONTROLS, _MAX_CONTROL_SHARE * len(content))
