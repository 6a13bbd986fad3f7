"""The formats that are read: their file name extensions, media types, first bytes and parsers; and the way of a file
from its bytes to its passages."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from proviso_service.reading.canonical import check_sections, text_too_long
from proviso_service.reading.chunking import chunk_document
from proviso_service.reading.model import ParsedDocument, ReadDocument, ReadingLimits, UnreadableFile
from proviso_service.reading.untitled import complete_with_clauses

Parser = Callable[[bytes, ReadingLimits], ParsedDocument]
"""Returns the canonical text and structure of a file. Raises UnreadableFile when the bytes are not of the format or a
limit is passed. Offsets refer to the text returned."""


@dataclass(frozen=True, slots=True)
class Format:
    """A format of files. `extensions` are in lower case, without the dot. `load` imports the parser with all that it
    needs, which only the process that parses does: it may open no file later."""

    name: str
    media_type: str
    extensions: tuple[str, ...]
    load: Callable[[], Parser]


def _pdf() -> Parser:
    from proviso_service.reading.pdf import parse_pdf

    return parse_pdf


def _docx() -> Parser:
    from proviso_service.reading.docx import parse_docx

    return parse_docx


def _html() -> Parser:
    from proviso_service.reading.html import parse_html
    from proviso_service.reading.html_tree import load_encodings

    load_encodings()
    return parse_html


def _markdown() -> Parser:
    from proviso_service.reading.markdown import parse_markdown

    return parse_markdown


def _plain() -> Parser:
    from proviso_service.reading.plain import parse_plain

    return parse_plain


PDF = Format("PDF", "application/pdf", ("pdf",), _pdf)
WORD = Format("Word", "application/vnd.openxmlformats-officedocument.wordprocessingml.document", ("docx",), _docx)
HTML = Format("HTML", "text/html", ("html", "htm"), _html)
MARKDOWN = Format("Markdown", "text/markdown", ("md", "markdown"), _markdown)
PLAIN_TEXT = Format("plain text", "text/plain", ("txt", "text"), _plain)
FORMATS = (PDF, WORD, HTML, MARKDOWN, PLAIN_TEXT)

_BY_EXTENSION: Mapping[str, Format] = {extension: fmt for fmt in FORMATS for extension in fmt.extensions}
_BY_MEDIA_TYPE: Mapping[str, Format] = {fmt.media_type: fmt for fmt in FORMATS}

_AS_TEXT = "Save it as .docx or PDF and upload that."
_AS_PDF = "Save it as PDF and upload that."
_RECOGNISED = "Have its text recognised (OCR) and upload the result as PDF."
_UNPACKED = "Unpack it and upload the files that it holds."
_ADVICE: Mapping[str, str] = (
    dict.fromkeys(("doc", "dot", "docm", "dotx", "rtf", "odt", "wpd", "wps", "pages"), _AS_TEXT)
    | dict.fromkeys(("xls", "xlsx", "xlsm", "ods", "csv", "ppt", "pptx", "odp", "xps", "msg", "eml"), _AS_PDF)
    | dict.fromkeys(("png", "jpg", "jpeg", "tif", "tiff", "gif", "bmp", "webp", "heic"), _RECOGNISED)
    | dict.fromkeys(("zip", "rar", "7z", "gz", "tgz", "tar"), _UNPACKED)
)
"""What to do with files that people have, and that another program can turn into a format that is read."""


def format_of(filename: str) -> Format:
    """Returns the format that the extension of a file name stands for. Raises UnreadableFile."""
    stem, dot, extension = filename.rpartition(".")
    extension = extension.lower() if dot and stem else ""
    if found := _BY_EXTENSION.get(extension):
        return found
    if advice := _ADVICE.get(extension):
        raise UnreadableFile(f"Files of type .{extension} are not read. {advice}")
    kind = f"Files of type .{extension}" if extension else "Files without an extension"
    raise UnreadableFile(f"{kind} are not read. {_readable()}")


def format_by_media_type(media_type: str) -> Format:
    """Returns the format of a media type. Raises UnreadableFile."""
    if found := _BY_MEDIA_TYPE.get(media_type):
        return found
    raise UnreadableFile(f"Files of type {media_type} are not read. {_readable()}")


def _readable() -> str:
    *names, last = (fmt.name for fmt in FORMATS)
    extensions = ", ".join(f".{extension}" for fmt in FORMATS for extension in fmt.extensions)
    return f"The service reads {', '.join(names)} and {last} ({extensions})."


_PDF_MARK = b"%PDF-"
_PDF_HEADER_BYTES = 1024
"""Readers of PDF look for its mark in so many bytes and skip what stands before it."""
_SPACE_AND_MARK = b" \t\r\n\f\0\xef\xbb\xbf"
_HTML_STARTS = (b"<!doctype html", b"<html")
_ZIP_STARTS = (b"PK\x03\x04", b"PK\x05\x06")
_OLE_START = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_ENCRYPTED_PACKAGE = "EncryptedPackage".encode("utf-16-le")
"""The name of the part of an OLE file that holds an Office document behind a password."""


@dataclass(frozen=True, slots=True)
class _Content:
    """What a file holds. `words` name it in a sentence, and `advice` says what to do with it."""

    words: str
    advice: str
    format: Format | None = None


_PDF = _Content("a PDF document", "Rename it to .pdf and upload it again.", PDF)
_WORD = _Content("a Word document", "Rename it to .docx and upload it again.", WORD)
_HTML = _Content("a web page", "Rename it to .html and upload it again.", HTML)
_LOCKED = _Content(
    "an Office document that is protected with a password", "Remove the password, save it and upload it again."
)
_OLD_OFFICE = _Content("a document of an old Office version", "Save it as .docx or PDF and upload that.")
_RICH_TEXT = _Content("a rich text document", "Save it as .docx or PDF and upload that.")
_IMAGE = _Content("an image", "Have its text recognised (OCR) and upload the result as PDF.")
_ARCHIVE = _Content("a compressed archive", "Unpack it and upload the files that it holds.")
_PROGRAM = _Content("a program", "Upload the document itself.")

# Names of an archive's members, which stand in it uncompressed.
_PACKAGES: Sequence[tuple[bytes, _Content]] = (
    (b"word/document", _WORD),
    (b"xl/workbook", _Content("an Excel workbook", "Save it as PDF and upload that.")),
    (b"ppt/presentation", _Content("a PowerPoint presentation", "Save it as PDF and upload that.")),
    (b"opendocument.text", _Content("an OpenDocument text", "Save it as .docx or PDF and upload that.")),
)
_STARTS: Sequence[tuple[bytes, _Content]] = (
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
    """Raises UnreadableFile when `content` is empty, holds something else than `expected` or, for the formats that are
    not text, does not begin as they do. The source of a web page in a text file counts as text."""
    if not content:
        raise UnreadableFile("The file holds no text.")
    if expected is PDF and _PDF_MARK in content[:_PDF_HEADER_BYTES]:
        return
    kind = _kind_of(content)
    name = f".{expected.extensions[0]}"
    if kind is None:
        if expected not in (PDF, WORD):
            return
        raise UnreadableFile(
            f"The file is named {name} but holds no {expected.name} document. It may be damaged: open it, save it again"
            " and upload the new file."
        )
    is_readable = kind.format is expected or (expected is WORD and kind is _ARCHIVE)
    is_source = kind is _HTML and expected not in (PDF, WORD)
    if not is_readable and not is_source:
        raise UnreadableFile(f"The file is named {name} but holds {kind.words}. {kind.advice}")


def _kind_of(content: bytes) -> _Content | None:
    """Returns what the first bytes say that the file holds; None for content without a signature, such as text."""
    if content.startswith(_ZIP_STARTS):
        return next((kind for name, kind in _PACKAGES if name in content), _ARCHIVE)
    if content.startswith(_OLE_START):
        return _LOCKED if _ENCRYPTED_PACKAGE in content else _OLD_OFFICE
    head = content[:_PDF_HEADER_BYTES].lstrip(_SPACE_AND_MARK)
    if head[:16].lower().startswith(_HTML_STARTS):
        return _HTML
    return next((kind for start, kind in _STARTS if head.startswith(start)), None)


def read_document(media_type: str, content: bytes, limits: ReadingLimits) -> ReadDocument:
    """Returns the text, structure and passages of a file, which is read in this process. Raises UnreadableFile."""
    found = format_by_media_type(media_type)
    check_signature(found, content)
    parsed = found.load()(content, limits)
    if len(parsed.text) > limits.max_text_chars:
        raise text_too_long(limits)
    if not parsed.text.strip():
        raise UnreadableFile("The file holds no text.")
    check_sections(len(parsed.headings))
    parsed = replace(parsed, headings=complete_with_clauses(parsed.text, parsed.headings, parsed.furniture))
    chunks = chunk_document(parsed, limits.chunk_chars)
    if not chunks:
        # Every line returns on every page, so what was taken for furniture is the document's text.
        parsed = replace(parsed, furniture=())
        chunks = chunk_document(parsed, limits.chunk_chars)
    check_sections(len(chunks))
    return ReadDocument(parsed, chunks)
