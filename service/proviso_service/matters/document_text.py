"""Reads parts of a document's text: from a position on, a page, or a section that is found by its heading or number."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from proviso_service.errors import (
    DocumentNotFound,
    DocumentWithoutPages,
    FieldViolation,
    InvalidRequest,
    PageNotFound,
    SectionNotFound,
)
from proviso_service.matters.model import Document, DocumentText, Outline
from proviso_service.matters.stores import MatterStore
from proviso_service.matters.wording import fold
from proviso_service.reading import ClauseReference, Heading, PageSpan, Span, clause_named, clause_of_title
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
    """Returns the titles that are nearest to what was wanted, best first, at most MAX_SUGGESTIONS: of a clause's number
    those that share its first levels, and else those that have the most words in common."""
    compared = headings[:_COMPARED_HEADINGS]
    if (clause := clause_named(wanted)) and (near := _nearest_numbers(compared, clause)):
        return near
    spelling = Spelling.of(_key(wanted)[:_COMPARED_CHARS])
    titles = dict.fromkeys(heading.title for heading in compared)
    scored = [(likeness(spelling, Spelling.of(_key(title)[:_COMPARED_CHARS])), title) for title in titles]
    return [title for score, title in sorted(scored, key=lambda pair: -pair[0]) if score >= _MIN_LIKENESS][
        :MAX_SUGGESTIONS
    ]


def _nearest_numbers(headings: Sequence[Heading], wanted: ClauseReference) -> list[str]:
    """Returns the titles of the clauses that share the first levels of a number, the more the better; of those that
    share as many, the ones whose next level is nearest."""
    near: dict[str, tuple[int, int]] = {}
    for heading in headings:
        clause, _ = clause_of_title(heading.title)
        if clause and clause.is_part == wanted.is_part:
            shared, distance = min(_distance(form, clause.levels) for form in wanted.forms)
            if shared:
                near.setdefault(heading.title, (shared, distance))
    return sorted(near, key=lambda title: near[title])[:MAX_SUGGESTIONS]


def _distance(wanted: Sequence[str], levels: Sequence[str]) -> tuple[int, int]:
    """Returns the number of first levels that two clauses share, negative, and how far they are apart on the next."""
    shared = next((n for n, pair in enumerate(zip(wanted, levels, strict=False)) if pair[0] != pair[1]), None)
    shared = min(len(wanted), len(levels)) if shared is None else shared
    ends = [
        int(number[shared]) if len(number) > shared and number[shared].isdecimal() else 0 for number in (wanted, levels)
    ]
    return -shared, abs(ends[0] - ends[1])


def section_of(headings: Sequence[Heading], heading: Heading, text_length: int) -> Span:
    """Returns the section from the heading to the next one of the same or a higher level."""
    following = (other.start for other in headings if other.start > heading.start and other.level <= heading.level)
    return Span(heading.start, next(following, text_length))


def _matching(headings: Sequence[Heading], wanted: str) -> Iterator[Heading | None]:
    key = _key(wanted)
    if not key:
        return
    titles = [(_key(heading.title), heading) for heading in headings]
    numbers = [(clause_of_title(heading.title), heading) for heading in headings]
    clause = clause_named(wanted)
    if clause:
        yield next((heading for (other, _), heading in numbers if _is_same(clause, other)), None)
        yield next((heading for (other, _), heading in numbers if _is_same_number(clause, other)), None)
    yield next((heading for title, heading in titles if title == key), None)
    yield next((heading for (_, rest), heading in numbers if _key(rest) == key), None)
    # "2.1" also stands in the title of clause 12.1.
    holding = [] if clause else [heading for title, heading in titles if key in title]
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
    violations = _conflicting_fields(part.start, part.page, part.heading)
    if violations:
        raise InvalidRequest(violations)


def _conflicting_fields(start: int, page: int, heading: str) -> list[FieldViolation]:
    """Returns a violation for each field when a part is named in more than one way."""
    given = [name for name, value in (("start", start), ("page", page), ("heading", heading)) if value]
    if len(given) < 2:
        return []
    return [FieldViolation(name, "only one of start, page and heading can be given") for name in given]


async def read_part(store: MatterStore, document: Document, part: TextPart) -> DocumentText:
    """Reads a part of a READY document. Raises PageNotFound, DocumentWithoutPages and SectionNotFound for a part
    that the document does not have, and DocumentNotFound when it was deleted meanwhile."""
    outlines = await store.outlines(document.tenant, [document.document_id])
    outline = outlines.get(document.document_id)
    if outline is None:
        raise DocumentNotFound(document.document_id)
    whole = _span(document, part, outline)
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
        page=outline.page_at(first),
        section_path=outline.path_at(first),
        places=outline.places_within(Span(first, end)),
    )


def _span(document: Document, part: TextPart, outline: Outline) -> Span:
    if part.page:
        return _page(document, outline.pages, part.page)
    if part.heading:
        return _section(document, outline.headings, part.heading)
    return Span(part.start, document.character_count)


def _page(document: Document, pages: Sequence[PageSpan], number: int) -> Span:
    if not pages:
        raise DocumentWithoutPages(document.filename, document.document_id)
    last = pages[-1].number
    if number > last:
        raise PageNotFound(number, last)
    page = next(page for page in pages if page.number >= number)
    # A page without text is missing in the list; it lies directly before the next one.
    return Span(page.start, page.end if page.number == number else page.start)


def _section(document: Document, headings: Sequence[Heading], wanted: str) -> Span:
    if heading := find_heading(headings, wanted):
        return section_of(headings, heading, document.character_count)
    if not headings:
        raise SectionNotFound(wanted, f"{document.filename} has no headings; ask for a position")
    nearest = nearest_titles(headings, wanted) or [heading.title for heading in headings[:1]]
    names = ", ".join(f'"{title}"' for title in nearest)
    raise SectionNotFound(wanted, f"{document.filename} has no such heading, or several; near it are {names}")
