"""Reads parts of a document's text: from a position on, a page, or a section that is found by its heading or number."""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from proviso_service.errors import FieldViolation, InvalidRequest
from proviso_service.matters.model import Document, DocumentText
from proviso_service.matters.stores import MatterStore
from proviso_service.matters.wording import fold
from proviso_service.reading import ClauseReference, Heading, PageSpan, Place, Span, clause_named, clause_of_title
from proviso_service.spelling import Spelling, likeness

MAX_SUGGESTIONS = 3

_COMPARED_HEADINGS = 2_000
"""Suggestions are chosen from so many first headings."""

_COMPARED_CHARS = 120
_OUTER_MARKS = " .:;,-_*#\"'()[]"
_MIN_LIKENESS = 0.2
"""Low, because a title is often much longer than what is asked for."""


def find_heading(headings: Sequence[Heading], wanted: str) -> Heading | None:
    """Returns the heading with this title, with or without its number ("Governing Law"); or of this number ("12.3",
    "clause 12.3", "Article IV"); or else the only one whose title holds the words. Case, white space and marks at the
    ends do not count; of several headings the first is returned."""
    return next((heading for heading in _matching(headings, wanted) if heading is not None), None)


def nearest_titles(headings: Sequence[Heading], wanted: str) -> list[str]:
    """Returns the titles that have the most in common with what was wanted, best first; at most MAX_SUGGESTIONS."""
    spelling = Spelling.of(_key(wanted)[:_COMPARED_CHARS])
    titles = dict.fromkeys(heading.title for heading in headings[:_COMPARED_HEADINGS])
    scored = [(likeness(spelling, Spelling.of(_key(title)[:_COMPARED_CHARS])), title) for title in titles]
    return [title for score, title in sorted(scored, key=lambda pair: -pair[0]) if score >= _MIN_LIKENESS][
        :MAX_SUGGESTIONS
    ]


def section_of(headings: Sequence[Heading], heading: Heading, text_length: int) -> Span:
    """Returns the section from the heading to the next one of the same or a higher level."""
    following = (other.start for other in headings if other.start > heading.start and other.level <= heading.level)
    return Span(heading.start, next(following, text_length))


def section_path(headings: Sequence[Heading], position: int) -> tuple[str, ...]:
    """Returns the titles of the headings above a position or at it, outermost first."""
    path: list[Heading] = []
    for heading in headings:
        if heading.start > position:
            break
        path = [*(above for above in path if above.level < heading.level), heading]
    return tuple(heading.title for heading in path)


def page_at(pages: Sequence[PageSpan], position: int) -> int:
    """Returns the number of the page that holds a position; 0 where there are no pages."""
    index = bisect_right(pages, position, key=lambda page: page.start) - 1
    return pages[index].number if index >= 0 else 0


def places_within(headings: Sequence[Heading], pages: Sequence[PageSpan], span: Span) -> tuple[Place, ...]:
    """Returns where pages and sections begin inside the span, after its start and in order."""
    starts = {heading.start for heading in headings} | {page.start for page in pages}
    inside = sorted(start for start in starts if span.start < start < span.end)
    return tuple(Place(start, page_at(pages, start), _heading_at(headings, start)) for start in inside)


def _heading_at(headings: Sequence[Heading], position: int) -> str:
    index = bisect_right(headings, position, key=lambda heading: heading.start) - 1
    return headings[index].title if index >= 0 else ""


def _matching(headings: Sequence[Heading], wanted: str) -> Iterator[Heading | None]:
    key = _key(wanted)
    if not key:
        return
    titles = [(_key(heading.title), heading) for heading in headings]
    yield next((heading for title, heading in titles if title == key), None)
    numbers = [(clause_of_title(heading.title), heading) for heading in headings]
    yield next((heading for (_, rest), heading in numbers if _key(rest) == key), None)
    if clause := clause_named(wanted):
        yield next((heading for (other, _), heading in numbers if _is_same(clause, other)), None)
        yield next((heading for (other, _), heading in numbers if _is_same_number(clause, other)), None)
    holding = [heading for title, heading in titles if key in title]
    yield holding[0] if len(holding) == 1 else None


def _is_same(wanted: ClauseReference, other: ClauseReference | None) -> bool:
    return other is not None and wanted.kind == other.kind and other.levels in wanted.forms


def _is_same_number(wanted: ClauseReference, other: ClauseReference | None) -> bool:
    """Tells whether both are a clause of the same number, whatever the clause is called; a schedule is no clause."""
    return other is not None and not wanted.is_part and not other.is_part and other.levels in wanted.forms


def _key(title: str) -> str:
    return fold(title).strip(_OUTER_MARKS)


@dataclass(frozen=True, slots=True)
class TextPart:
    """Which part of a text is asked for, and at most how many code points of it (`max_length`): the text from `start`
    on, the page of a number from 1, or the section under a heading."""

    start: int = 0
    page: int = 0
    heading: str = ""
    max_length: int = 50_000


WHOLE_TEXT = TextPart()


def check_part(part: TextPart) -> None:
    """Raises InvalidRequest that names the fields with impossible values."""
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
    """Returns a violation for each field when a part is named in more than one way."""
    given = [name for name, value in (("start", start), ("page", page), ("heading", heading)) if value]
    if len(given) < 2:
        return []
    return [FieldViolation(name, "only one of start, page and heading can be given") for name in given]


async def read_part(store: MatterStore, document: Document, part: TextPart) -> DocumentText:
    """Reads a part of a READY document. Raises InvalidRequest for a page or heading that the document does not have,
    and DocumentNotFound when it was deleted meanwhile."""
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
    # A page without text is missing in the list; it lies directly before the next one.
    return Span(page.start, page.end if page.number == number else page.start)


def _section(document: Document, headings: Sequence[Heading], wanted: str) -> Span:
    if heading := find_heading(headings, wanted):
        return section_of(headings, heading, document.character_count)
    if not headings:
        raise InvalidRequest.of("heading", f"{document.filename} has no headings; ask for a position")
    nearest = nearest_titles(headings, wanted) or [heading.title for heading in headings[:1]]
    names = ", ".join(f'"{title}"' for title in nearest)
    raise InvalidRequest.of("heading", f"{document.filename} has no such heading, or several; near it are {names}")
