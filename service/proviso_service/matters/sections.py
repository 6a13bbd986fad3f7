"""Sections of a text, found by their headings, their numbers or a position."""

from bisect import bisect_right
from collections.abc import Iterator, Sequence

from proviso_service.matters.wording import fold
from proviso_service.reading.model import Heading, PageSpan, Place, Span
from proviso_service.reading.references import ClauseReference, clause_named, clause_of_title

MAX_SUGGESTIONS = 3

_COMPARED_HEADINGS = 2_000
"""Headings that suggestions are chosen from."""

_COMPARED_CHARS = 120
_OUTER_MARKS = " .:;,-_*#\"'()[]"
_GRAM_CHARS = 3


def find_heading(headings: Sequence[Heading], wanted: str) -> Heading | None:
    """The heading with this title, with or without its number ("Governing Law"), of this number ("12.3", "clause 12.3",
    "Article IV"), or else the only one whose title holds the words. Case, white space and marks at the ends do not
    count; of several the first."""
    return next((heading for heading in _matching(headings, wanted) if heading is not None), None)


def nearest_titles(headings: Sequence[Heading], wanted: str) -> list[str]:
    """Titles that have the most in common with what was wanted, best first; at most MAX_SUGGESTIONS."""
    grams = _grams(_key(wanted))
    titles = dict.fromkeys(heading.title for heading in headings[:_COMPARED_HEADINGS])
    scored = [(_likeness(grams, _grams(_key(title))), title) for title in titles]
    return [title for score, title in sorted(scored, key=lambda pair: -pair[0]) if score > 0][:MAX_SUGGESTIONS]


def section_of(headings: Sequence[Heading], heading: Heading, text_length: int) -> Span:
    """From the heading to the next one of the same or a higher level."""
    following = (other.start for other in headings if other.start > heading.start and other.level <= heading.level)
    return Span(heading.start, next(following, text_length))


def section_path(headings: Sequence[Heading], position: int) -> tuple[str, ...]:
    """Titles of the headings above a position, or beginning at it, outermost first."""
    path: list[Heading] = []
    for heading in headings:
        if heading.start > position:
            break
        path = [*(above for above in path if above.level < heading.level), heading]
    return tuple(heading.title for heading in path)


def page_at(pages: Sequence[PageSpan], position: int) -> int:
    """Number of the page that holds a position; 0 where there are no pages."""
    index = bisect_right(pages, position, key=lambda page: page.start) - 1
    return pages[index].number if index >= 0 else 0


def places_within(headings: Sequence[Heading], pages: Sequence[PageSpan], span: Span) -> tuple[Place, ...]:
    """Where pages and sections begin after the start of the span and before its end, in order."""
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
    """Of a clause, however it is called; a schedule is none."""
    return other is not None and not wanted.is_part and not other.is_part and other.levels in wanted.forms


def _key(title: str) -> str:
    return fold(title).strip(_OUTER_MARKS)


def _grams(key: str) -> frozenset[str]:
    padded = f" {key[:_COMPARED_CHARS]} "
    return frozenset(padded[index : index + _GRAM_CHARS] for index in range(len(padded) - _GRAM_CHARS + 1))


def _likeness(grams: frozenset[str], other: frozenset[str]) -> float:
    """Share of what both hold in what either holds."""
    return len(grams & other) / len(grams | other) if grams and other else 0.0
