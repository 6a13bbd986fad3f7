"""The outline of a PDF: its bookmarks, the titles of its clauses, and lines set larger or bolder than the text."""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from proviso_service.matters.model import Heading, Span
from proviso_service.matters.parsing.outline import CLAUSE_LEVEL, find_headings
from proviso_service.matters.parsing.pdf_bookmarks import Bookmark, letters_of

_MAX_TITLE_CHARS = 150
_MAX_TITLE_LINES = 3
_LARGER = 1.1
_MAX_LARGER_LEVELS = 2
# Set in bold, but no titles: names of parties, lines to be signed, sentences.
_NO_TITLE = re.compile(
    r"_{3}|[,;]$|\|"
    r"|\b(?:inc|llc|l\.l\.c|corp|corporation|ltd|limited|l\.p|lp|llp|plc|gmbh|s\.a|n\.a|company)\.?$"
    r"|^(?:by|and|between|name|title|date|signed|re)\b.{0,3}:?$|^(?:by|name|title|date|signature)\b.{0,3}:",
    re.IGNORECASE,
)
_SENTENCE = re.compile(r"[.?!]$")
_MAX_SENTENCE_WORDS = 8

Style = tuple[float, bool]
"""Font size in points, whether it is bold."""


@dataclass(frozen=True, slots=True)
class SetBlock:
    """A paragraph of the canonical text and how it is set; `page` is the one that it begins on."""

    span: Span
    page: int
    size: float
    bold: bool
    line_count: int

    @property
    def style(self) -> Style:
        return round(self.size * 2) / 2, self.bold


def outline(
    text: str, blocks: Sequence[SetBlock], apart: Sequence[Span], bookmarks: Sequence[Bookmark]
) -> tuple[Heading, ...]:
    """Headings in order, none overlapping. `apart` are the spans that hold none, furniture and rows of tables, in
    order."""
    clauses = list(_outside(find_headings(text), apart))
    titles = list(_titles(text, blocks, clauses))
    marked = list(_marked(text, blocks, bookmarks))
    headings = sorted([*clauses, *titles], key=lambda heading: heading.start)
    return tuple(_with_bookmarks(headings, marked))


def _outside(headings: Iterable[Heading], apart: Sequence[Span]) -> Iterator[Heading]:
    """The headings that overlap with none of the spans."""
    position = 0
    for heading in headings:
        while position < len(apart) and apart[position].end <= heading.start:
            position += 1
        if position == len(apart) or apart[position].start >= heading.end:
            yield heading


def _titles(text: str, blocks: Sequence[SetBlock], clauses: Sequence[Heading]) -> Iterator[Heading]:
    """Of the blocks that are set like titles and are no clause's: on the level of the clauses set in the same way,
    otherwise the larger the higher."""
    body = _body_style(blocks)
    inside = _overlapping([block.span for block in blocks], clauses)
    levels: defaultdict[Style, Counter[int]] = defaultdict(Counter)
    candidates: list[SetBlock] = []
    for index, block in enumerate(blocks):
        if index in inside:
            levels[block.style][inside[index].level] += 1
        elif _is_set_as_title(block, body) and _reads_as_title(text[block.span.start : block.span.end]):
            candidates.append(block)
    known = {style: found.most_common(1)[0][0] for style, found in levels.items() if style != body}
    sizes = sorted({block.style[0] for block in candidates if block.style[0] > body[0] * _LARGER}, reverse=True)
    for block in candidates:
        size = block.style[0]
        by_size = min(sizes.index(size) + 1, _MAX_LARGER_LEVELS) if size in sizes else CLAUSE_LEVEL
        title = " ".join(text[block.span.start : block.span.end].split())
        yield Heading(known.get(block.style, by_size), title, block.span.start, block.span.end)


def _body_style(blocks: Sequence[SetBlock]) -> Style:
    """That of most of the text."""
    lengths: Counter[Style] = Counter()
    for block in blocks:
        lengths[block.style] += block.span.end - block.span.start
    return lengths.most_common(1)[0][0] if lengths else (0.0, False)


def _is_set_as_title(block: SetBlock, body: Style) -> bool:
    size, bold = block.style
    return block.line_count <= _MAX_TITLE_LINES and (
        size > body[0] * _LARGER or (bold and not body[1] and size >= body[0])
    )


def _reads_as_title(text: str) -> bool:
    words = text.split()
    return (
        4 <= len(text) <= _MAX_TITLE_CHARS
        and sum(char.isalpha() for char in text) * 2 > len(text)
        and not text[0].islower()
        and not _NO_TITLE.search(text)
        and not (len(words) > _MAX_SENTENCE_WORDS and _SENTENCE.search(text))
    )


def _overlapping(spans: Sequence[Span], headings: Sequence[Heading]) -> dict[int, Heading]:
    """The first heading that begins in each of the spans, by the span's index; both are in order."""
    found: dict[int, Heading] = {}
    index = 0
    for heading in headings:
        while index < len(spans) and spans[index].end <= heading.start:
            index += 1
        if index < len(spans) and spans[index].start <= heading.start:
            found.setdefault(index, heading)
    return found


def _marked(text: str, blocks: Sequence[SetBlock], bookmarks: Sequence[Bookmark]) -> Iterator[Heading]:
    """What bookmarks lead to: the block on their page that opens with their title."""
    if not bookmarks:
        return
    on_page: defaultdict[int, list[SetBlock]] = defaultdict(list)
    for block in blocks:
        on_page[block.page].append(block)
    last = -1
    for bookmark in bookmarks:
        letters = letters_of(bookmark.title)
        for block in on_page[bookmark.page] if letters else ():
            if block.span.start > last and (end := _title_end(text, block.span, letters)):
                last = block.span.start
                title = " ".join(text[block.span.start : end].split())
                yield Heading(bookmark.level, title, block.span.start, end)
                break


def _title_end(text: str, span: Span, letters: str) -> int:
    """Where the title ends that the block opens with, 0 when it opens otherwise."""
    matched = 0
    for position in range(span.start, min(span.end, span.start + 3 * _MAX_TITLE_CHARS)):
        char = letters_of(text[position])
        if not letters.startswith(char, matched):
            return 0
        matched += len(char)
        if matched == len(letters):
            after = text[position + 1 : position + 2]
            return 0 if after.isalnum() and position + 1 < span.end else position + 1
    return 0


def _with_bookmarks(headings: Sequence[Heading], marked: Sequence[Heading]) -> Iterator[Heading]:
    """Bookmarks in place of the headings that they overlap with; the others on the levels that the bookmarks give to
    their like."""
    if not marked:
        yield from headings
        return
    ordered = sorted(marked, key=lambda heading: heading.start)
    replaced = _overlapping([Span(mark.start, mark.end) for mark in ordered], headings)
    level = _levels(ordered, replaced)
    taken = {heading.start for heading in replaced.values()}
    others = [replace(heading, level=level(heading.level)) for heading in headings if heading.start not in taken]
    end = 0
    for heading in sorted([*ordered, *others], key=lambda heading: heading.start):
        if heading.start >= end:
            yield heading
            end = heading.end


def _levels(marked: Sequence[Heading], replaced: Mapping[int, Heading]) -> Callable[[int], int]:
    """From the level of a heading to one among the bookmarks."""
    pairs: defaultdict[int, Counter[int]] = defaultdict(Counter)
    for index, heading in replaced.items():
        pairs[heading.level][marked[index].level] += 1
    known = {level: counts.most_common(1)[0][0] for level, counts in pairs.items()}
    deepest = max(heading.level for heading in marked)

    def level(of: int) -> int:
        if not known:
            return deepest + of
        nearest = max((other for other in known if other <= of), default=min(known))
        return max(1, known[nearest] + of - nearest)

    return level
