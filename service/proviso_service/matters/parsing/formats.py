"""The formats that are read: file name extension, media type, parser."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from proviso_service.errors import UnsupportedDocument
from proviso_service.matters.model import ParsedDocument
from proviso_service.matters.parsing.canonical import ReadingLimits
from proviso_service.matters.parsing.markdown import parse_markdown
from proviso_service.matters.parsing.plain import parse_plain

Parser = Callable[[bytes, ReadingLimits], ParsedDocument]
"""Canonical text and structure of a file. Raises UnsupportedDocument, with a sentence for a person, when the bytes
are not of the format or a limit is passed. Offsets refer to the text returned."""


@dataclass(frozen=True, slots=True)
class Format:
    """`extensions` in lower case, without the dot."""

    name: str
    media_type: str
    extensions: tuple[str, ...]
    parse: Parser


# The parsers of the heavy formats are imported where they run: never in the process of the service.
def _pdf(content: bytes, limits: ReadingLimits) -> ParsedDocument:
    from proviso_service.matters.parsing.pdf import parse_pdf

    return parse_pdf(content, limits)


def _docx(content: bytes, limits: ReadingLimits) -> ParsedDocument:
    from proviso_service.matters.parsing.docx import parse_docx

    return parse_docx(content, limits)


def _html(content: bytes, limits: ReadingLimits) -> ParsedDocument:
    from proviso_service.matters.parsing.html import parse_html

    return parse_html(content, limits)


FORMATS = (
    Format("PDF", "application/pdf", ("pdf",), _pdf),
    Format("Word", "application/vnd.openxmlformats-officedocument.wordprocessingml.document", ("docx",), _docx),
    Format("HTML", "text/html", ("html", "htm"), _html),
    Format("Markdown", "text/markdown", ("md", "markdown"), parse_markdown),
    Format("plain text", "text/plain", ("txt", "text"), parse_plain),
)
_BY_EXTENSION: Mapping[str, Format] = {extension: fmt for fmt in FORMATS for extension in fmt.extensions}
_BY_MEDIA_TYPE: Mapping[str, Format] = {fmt.media_type: fmt for fmt in FORMATS}


def format_of(filename: str) -> Format:
    """The format by the file name's extension. Raises UnsupportedDocument."""
    stem, dot, extension = filename.rpartition(".")
    found = _BY_EXTENSION.get(extension.lower()) if dot and stem else None
    if found is None:
        kind = f"Files of type .{extension.lower()}" if dot and stem else "Files without an extension"
        raise UnsupportedDocument(f"{kind} are not read yet. {_readable()}")
    return found


def parse(media_type: str, content: bytes, limits: ReadingLimits) -> ParsedDocument:
    """Text and structure of a file. Raises UnsupportedDocument."""
    found = _BY_MEDIA_TYPE.get(media_type)
    if found is None:
        raise UnsupportedDocument(f"Files of type {media_type} are not read yet. {_readable()}")
    return found.parse(content, limits)


def _readable() -> str:
    *names, last = (fmt.name for fmt in FORMATS)
    extensions = ", ".join(f".{extension}" for fmt in FORMATS for extension in fmt.extensions)
    return f"The service reads {', '.join(names)} and {last} ({extensions})."
