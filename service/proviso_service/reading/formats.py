"""The formats that are read: file name extension, media type, parser."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from proviso_service.errors import UnsupportedDocument
from proviso_service.reading.canonical import ReadingLimits
from proviso_service.reading.model import ParsedDocument

Parser = Callable[[bytes, ReadingLimits], ParsedDocument]
"""Canonical text and structure of a file. Raises UnsupportedDocument, with a sentence for a person, when the bytes
are not of the format or a limit is passed. Offsets refer to the text returned."""


@dataclass(frozen=True, slots=True)
class Format:
    """`extensions` in lower case, without the dot; `load` imports the parser, which only the process that parses
    does."""

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
"""What to do with files that people have and another program can turn into a format that is read."""


def format_of(filename: str) -> Format:
    """The format by the file name's extension. Raises UnsupportedDocument."""
    stem, dot, extension = filename.rpartition(".")
    extension = extension.lower() if dot and stem else ""
    if found := _BY_EXTENSION.get(extension):
        return found
    if advice := _ADVICE.get(extension):
        raise UnsupportedDocument(f"Files of type .{extension} are not read. {advice}")
    kind = f"Files of type .{extension}" if extension else "Files without an extension"
    raise UnsupportedDocument(f"{kind} are not read. {_readable()}")


def format_by_media_type(media_type: str) -> Format:
    """Raises UnsupportedDocument."""
    if found := _BY_MEDIA_TYPE.get(media_type):
        return found
    raise UnsupportedDocument(f"Files of type {media_type} are not read. {_readable()}")


def _readable() -> str:
    *names, last = (fmt.name for fmt in FORMATS)
    extensions = ", ".join(f".{extension}" for fmt in FORMATS for extension in fmt.extensions)
    return f"The service reads {', '.join(names)} and {last} ({extensions})."
