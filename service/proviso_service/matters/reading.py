"""Reading a document's text: from a position on, a page, or a section."""

from collections.abc import Sequence
from dataclasses import dataclass

from proviso_service.errors import FieldViolation, InvalidRequest
from proviso_service.matters.model import Document, DocumentText
from proviso_service.matters.ports import MatterStore
from proviso_service.matters.sections import (
    find_heading,
    nearest_titles,
    page_at,
    places_within,
    section_of,
    section_path,
)
from proviso_service.reading.model import Heading, PageSpan, Span


@dataclass(frozen=True, slots=True)
class TextPart:
    """The part of a text that is asked for, at most `max_length` code points of it: from `start` on, or the page of a
    number from 1, or the section under a heading."""

    start: int = 0
    page: int = 0
    heading: str = ""
    max_length: int = 50_000


WHOLE_TEXT = TextPart()


def check_part(part: TextPart) -> None:
    """Raises InvalidRequest that names the fields."""
    if part.start < 0:
        raise InvalidRequest.of("start", "must be at least 0")
    if part.page < 0:
        raise InvalidRequest.of("page", "must be at least 0")
    if part.max_length < 1:
        raise InvalidRequest.of("max_length", "must be at least 1")
    violations = conflicting_fields(part.start, part.page, part.heading)
    if violations:
        raise InvalidRequest(violations)


def conflicting_fields(start: int, page: int, heading: str) -> list[FieldViolation]:
    """A part is named in one way; several are a violation of each field."""
    given = [name for name, value in (("start", start), ("page", page), ("heading", heading)) if value]
    if len(given) < 2:
        return []
    return [FieldViolation(name, "only one of start, page and heading can be given") for name in given]


async def read_part(store: MatterStore, document: Document, part: TextPart) -> DocumentText:
    """Of a READY document. Raises InvalidRequest for a page or heading that it does not have, and DocumentNotFound when
    it was deleted meanwhile."""
    headings, pages = await store.structure(document.tenant, document.document_id)
    whole = _span(document, part, headings, pages)
    end = min(whole.start + part.max_length, whole.end)
    text = await store.text(document.tenant, document.document_id, whole.start, end) if whole.start < end else ""
    # A page may begin with the blank line that separates its first heading from the page before.
    first = whole.start + len(text) - len(text.lstrip())
    return DocumentText(
        document,
        text,
        whole.start,
        document.character_count,
        truncated=end < whole.end,
        page=page_at(pages, first),
        section_path=section_path(headings, first),
        places=places_within(headings, pages, Span(first, end)),
    )


def _span(document: Document, part: TextPart, headings: Sequence[Heading], pages: Sequence[PageSpan]) -> Span:
    if part.page:
        return _page(document, pages, part.page)
    if part.heading:
        return _section(document, headings, part.heading)
    return Span(part.start, document.character_count)


def _page(document: Document, pages: Sequence[PageSpan], number: int) -> Span:
    if not pages:
        raise InvalidRequest.of("page", f"{document.filename} has no pages; ask for a heading or a position")
    last = pages[-1].number
    if number > last:
        raise InvalidRequest.of("page", f"{document.filename} has {last} page{'s' if last > 1 else ''}")
    page = next(page for page in pages if page.number >= number)
    # A page without text is not among them; it lies in front of the next one.
    return Span(page.start, page.end if page.number == number else page.start)


def _section(document: Document, headings: Sequence[Heading], wanted: str) -> Span:
    if heading := find_heading(headings, wanted):
        return section_of(headings, heading, document.character_count)
    if not headings:
        raise InvalidRequest.of("heading", f"{document.filename} has no headings; ask for a position")
    nearest = nearest_titles(headings, wanted) or [heading.title for heading in headings[:1]]
    names = ", ".join(f'"{title}"' for title in nearest)
    raise InvalidRequest.of("heading", f"{document.filename} has no such heading, or several; near it are {names}")
