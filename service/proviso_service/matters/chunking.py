"""Cuts a document into passages that follow its structure.

A chunk never crosses a heading; within a section, paragraphs are kept whole where they fit, and longer ones are cut
between sentences. Only a sentence that, with the title it follows, is longer than a chunk is cut inside, at the best
place there is: a title alone would answer searches with nothing. Everything is a walk over positions of the canonical
text, linear in its length.
"""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import ceil

from proviso_service.matters.model import Chunk, Heading, PageSpan, ParsedDocument
from proviso_service.matters.sentences import sentence_ends

Span = tuple[int, int]

# Paragraphs end at blank lines and page breaks, and before list items and numbered clauses.
_PARAGRAPH_END = re.compile(
    r"\n[ \t]*\n\s*|\f\s*"
    r"|\n(?=[ \t]*(?:[-*+•●▪]|\(?(?:\d{1,3}|[ivxIVX]{1,5}|[a-zA-Z])[.)]|\d{1,2}(?:\.\d{1,2}){1,3})[ \t])"
)
_ORNAMENT = " \t\n\f.:;-\u2013\u2014_=*#"
# Inside a sentence, best first.
_BREAKS = ("\n", "; ", ": ", ", ", " ")


@dataclass(frozen=True, slots=True)
class _Section:
    """A part of the text under one heading; `body_start` is where the text after its title begins."""

    start: int
    body_start: int
    end: int
    path: tuple[str, ...]


def chunk_document(parsed: ParsedDocument, max_chars: int) -> tuple[Chunk, ...]:
    """Chunks of at most `max_chars` code points that cover all text but white space, in order, without overlap."""
    page_starts = [page.start for page in parsed.pages]
    chunks: list[Chunk] = []
    for section in _sections(parsed.text, parsed.headings):
        for start, end in _packed(list(_atoms(parsed.text, section, max_chars)), max_chars):
            page = _page_at(parsed.pages, page_starts, start)
            chunks.append(Chunk(len(chunks), start, end, parsed.text[start:end], page, section.path))
    return tuple(chunks)


def _page_at(pages: Sequence[PageSpan], starts: Sequence[int], position: int) -> int:
    index = bisect_right(starts, position) - 1
    return pages[index].number if index >= 0 else 0


def _sections(text: str, headings: Sequence[Heading]) -> Iterator[_Section]:
    """The text before the first heading, then one section a heading. A heading with no text of its own opens the
    section of the deeper heading that follows it."""
    start = body_start = 0
    path: tuple[Heading, ...] = ()
    for heading, following in pairwise((None, *headings, None)):
        end = following.start if following else len(text)
        if heading:
            path = (*(above for above in path if above.level < heading.level), heading)
            body_start = _skip_ornament(text, heading.end, end)
        opens_next = heading and following and following.level > heading.level and body_start == end
        if not opens_next:
            yield _Section(start, body_start, end, tuple(above.title for above in path))
            start = end


def _skip_ornament(text: str, start: int, end: int) -> int:
    part = text[start:end]
    return start + len(part) - len(part.lstrip(_ORNAMENT))


def _atoms(text: str, section: _Section, max_chars: int) -> Iterator[Span]:
    """The smallest parts of a section: its paragraphs, or their sentences where a paragraph is longer than a chunk.
    The title belongs to what follows it."""
    paragraph_ends = _after_title(section, _paragraph_ends(text, section), section.end)
    for start, end in _trimmed(text, section.start, paragraph_ends):
        if end - start <= max_chars:
            yield start, end
            continue
        for sentence in _trimmed(text, start, _after_title(section, sentence_ends(text, start, end), end)):
            yield from _trimmed(text, sentence[0], _cuts(text, *sentence, max_chars))


def _after_title(section: _Section, ends: Iterable[int], last: int) -> Iterator[int]:
    """The ends beyond the title, and the last one of all, which a title without a text of its own may end at."""
    return (end for end in ends if end > section.body_start or end == last)


def _paragraph_ends(text: str, section: _Section) -> Iterator[int]:
    for match in _PARAGRAPH_END.finditer(text, section.start, section.end):
        if not _is_inside_sentence(text, match):
            yield match.end()
    yield section.end


def _is_inside_sentence(text: str, gap: re.Match[str]) -> bool:
    """Whether a sentence goes on after the gap, as at the foot of a page."""
    before = text[max(0, gap.start() - 8) : gap.start()].rstrip()
    goes_on = text[gap.end() : gap.end() + 1].islower() and before[-1:] not in (".", ";", ":", "!", "?", "")
    return goes_on and len(gap[0]) > 1


def _cuts(text: str, start: int, end: int, max_chars: int) -> Iterator[int]:
    """Ends of the parts of a sentence: itself when it fits, otherwise in the second half of each part at the best
    break."""
    while end - start > max_chars:
        limit = start + max_chars
        found = (text.rfind(mark, start + max_chars // 2, limit) + len(mark) for mark in _BREAKS)
        start = next((cut for cut in found if cut > start + max_chars // 2), limit)
        yield start
    yield end


def _trimmed(text: str, start: int, ends: Iterable[int]) -> Iterator[Span]:
    """The spans between consecutive ends, without white space around them; none that are blank."""
    for end in ends:
        part = text[start:end]
        left = len(part) - len(part.lstrip())
        if left < len(part):
            yield start + left, start + len(part.rstrip())
        start = end


def _packed(atoms: Sequence[Span], max_chars: int) -> Iterator[Span]:
    """Joins neighbours to chunks of about equal length, so that no section ends in a scrap."""
    if not atoms:
        return
    last = atoms[-1][1]
    start, end = atoms[0]
    aim = _aim(last - start, max_chars)
    for next_start, next_end in atoms[1:]:
        length, joined = end - start, next_end - start
        if joined > max_chars or joined - aim >= aim - length:
            yield start, end
            start = next_start
            aim = _aim(last - start, max_chars)
        end = next_end
    yield start, end


def _aim(length: int, max_chars: int) -> float:
    return length / ceil(length / max_chars)
