"""Whether a file holds what its name says: by the first bytes, before any parser sees it."""

from collections.abc import Sequence
from dataclasses import dataclass

from proviso_service.errors import UnsupportedDocument
from proviso_service.reading.formats import HTML, PDF, WORD, Format

_PDF_MARK = b"%PDF-"
_PDF_HEADER_BYTES = 1024
"""Where readers of PDF look for its mark; what stands before it is skipped."""
_SPACE_AND_MARK = b" \t\r\n\f\0\xef\xbb\xbf"
_HTML_STARTS = (b"<!doctype html", b"<html")
_ZIP_STARTS = (b"PK\x03\x04", b"PK\x05\x06")
_OLE_START = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_ENCRYPTED_PACKAGE = "EncryptedPackage".encode("utf-16-le")
"""The part of an OLE file that holds an Office document behind a password."""


@dataclass(frozen=True, slots=True)
class _Kind:
    """What a file holds: `words` name it in a sentence, `advice` says what to do with it."""

    words: str
    advice: str
    format: Format | None = None


_PDF = _Kind("a PDF document", "Rename it to .pdf and upload it again.", PDF)
_WORD = _Kind("a Word document", "Rename it to .docx and upload it again.", WORD)
_HTML = _Kind("a web page", "Rename it to .html and upload it again.", HTML)
_LOCKED = _Kind(
    "an Office document that is protected with a password", "Remove the password, save it and upload it again."
)
_OLD_OFFICE = _Kind("a document of an old Office version", "Save it as .docx or PDF and upload that.")
_RICH_TEXT = _Kind("a rich text document", "Save it as .docx or PDF and upload that.")
_IMAGE = _Kind("an image", "Have its text recognised (OCR) and upload the result as PDF.")
_ARCHIVE = _Kind("a compressed archive", "Unpack it and upload the files that it holds.")
_PROGRAM = _Kind("a program", "Upload the document itself.")

# Names inside an archive, which stand in it uncompressed.
_PACKAGES: Sequence[tuple[bytes, _Kind]] = (
    (b"word/document", _WORD),
    (b"xl/workbook", _Kind("an Excel workbook", "Save it as PDF and upload that.")),
    (b"ppt/presentation", _Kind("a PowerPoint presentation", "Save it as PDF and upload that.")),
    (b"opendocument.text", _Kind("an OpenDocument text", "Save it as .docx or PDF and upload that.")),
)
_STARTS: Sequence[tuple[bytes, _Kind]] = (
    (_PDF_MARK, _PDF),
    (b"{\\rtf", _RICH_TEXT),
    (b"\x89PNG", _IMAGE),
    (b"\xff\xd8\xff", _IMAGE),
    (b"GIF8", _IMAGE),
    (b"II*\0", _IMAGE),
    (b"MM\0*", _IMAGE),
    (b"\x1f\x8b", _ARCHIVE),
    (b"7z\xbc\xaf\x27\x1c", _ARCHIVE),
    (b"Rar!\x1a\x07", _ARCHIVE),
    (b"\x7fELF", _PROGRAM),
    (b"MZ\x90\0", _PROGRAM),
)


def check_signature(expected: Format, content: bytes) -> None:
    """Raises UnsupportedDocument when `content` is empty, holds something else than `expected` or, for the formats
    that are not text, does not begin as they do. Source of a web page in a text file is text."""
    if not content:
        raise UnsupportedDocument("The file holds no text.")
    if expected is PDF and _PDF_MARK in content[:_PDF_HEADER_BYTES]:
        return
    kind = _kind_of(content)
    name = f".{expected.extensions[0]}"
    if kind is None:
        if expected not in (PDF, WORD):
            return
        raise UnsupportedDocument(
            f"The file is named {name} but holds no {expected.name} document. It may be damaged: open it, save it again"
            " and upload the new file."
        )
    is_readable = kind.format is expected or (expected is WORD and kind is _ARCHIVE)
    is_source = kind is _HTML and expected not in (PDF, WORD)
    if not is_readable and not is_source:
        raise UnsupportedDocument(f"The file is named {name} but holds {kind.words}. {kind.advice}")


def _kind_of(content: bytes) -> _Kind | None:
    """None for what has no signature, as text."""
    if content.startswith(_ZIP_STARTS):
        return next((kind for name, kind in _PACKAGES if name in content), _ARCHIVE)
    if content.startswith(_OLE_START):
        return _LOCKED if _ENCRYPTED_PACKAGE in content else _OLD_OFFICE
    head = content[:_PDF_HEADER_BYTES].lstrip(_SPACE_AND_MARK)
    if head[:16].lower().startswith(_HTML_STARTS):
        return _HTML
    return next((kind for start, kind in _STARTS if head.startswith(start)), None)
