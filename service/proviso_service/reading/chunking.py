"""Cuts a document into passages that follow its structure, and finds where sentences end.

A chunk never crosses a heading. Within a section, paragraphs are kept whole where they fit, and longer ones are cut
between sentences. A sentence is cut inside only when, with the title that it follows, it is longer than a chunk; the
title stays with it, because a title alone answers no search. Running headers, footers and page numbers are in no chunk,
unless they stand inside a sentence that fits. The whole is one walk over positions of the canonical text, so it takes
time linear in the length."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from heapq import merge
from itertools import pairwise
from math import ceil

from proviso_service.reading.clause_numbers import clause_numbers
from proviso_service.reading.model import Chunk, Heading, PageSpan, ParsedDocument, Span
from proviso_service.reading.references import clause_of_title

# Paragraphs end at blank lines and page breaks, and before list items and numbered clauses.
_PARAGRAPH_END = re.compile(
    r"\n[ \t]*\n\s*|\f\s*"
    r"|\n(?=[ \t]*(?:[-*+•●▪]|\(?(?:\d{1,3}|[ivxIVX]{1,5}|[a-zA-Z])[.)]|\d{1,2}(?:\.\d{1,2}){1,3})[ \t])"
)
_WORD_START = re.compile(r"[^\W_]")
_ORNAMENT = " \t\n\f.:;-\u2013\u2014_=*#"
# Where a long sentence may be cut, the best place first.
_BREAKS = ("\n", "; ", ": ", ", ", " ")
_CLAUSE_CHARS = 200
_SENTENCE_MARKS = (".", ";", ":", "!", "?", "")
# Words and marks that no sentence ends in.
_UNFINISHED = re.compile(r"(?:,|\b(?:of|and|or|the|to|for|in|on|by|with|a|an|at|from|as|its|such|any|shall|will|be))\Z")


@dataclass(frozen=True, slots=True)
class _Section:
    """A part of the text under one title; `body_start` is where the text after the title begins."""

    start: int
    body_start: int
    end: int


def chunk_document(parsed: ParsedDocument, max_chars: int) -> tuple[Chunk, ...]:
    """Returns chunks of at most `max_chars` code points, in order and without overlap. They cover all text except white
    space and furniture."""
    cutter = _Cutter(parsed, max_chars)
    spans = [span for section in _sections(parsed) for span in cutter.chunks(section)]
    numbers = clause_numbers(parsed.text, parsed.headings, spans)
    first_words = [_first_word(parsed.text, span) for span in spans]
    page_starts = [page.start for page in parsed.pages]
    return tuple(
        Chunk(
            ordinal=ordinal,
            start=span.start,
            end=span.end,
            text=parsed.text[span.start : span.end],
            page=_page_at(parsed.pages, page_starts, first_words[ordinal]),
            section_path=path,
            clause_numbers=numbers[ordinal],
        )
        for ordinal, (span, path) in enumerate(zip(spans, _paths(parsed, first_words), strict=True))
    )


def _first_word(text: str, span: Span) -> int:
    """Returns where the first word of the span begins. Rules and ornaments may stand before it, at the foot of the page
    before."""
    word = _WORD_START.search(text, span.start, span.end)
    return word.start() if word else span.start


def _page_at(pages: Sequence[PageSpan], starts: Sequence[int], position: int) -> int:
    index = bisect_right(starts, position) - 1
    return pages[index].number if index >= 0 else 0


def _sections(parsed: ParsedDocument) -> Iterator[_Section]:
    """Yields the text before the first title, then one section for each title. A title without text of its own opens
    the section of the deeper title that follows it. Clauses without a title open no section, because most are short."""
    text = parsed.text
    start = body_start = 0
    titles = [heading for heading in parsed.headings if heading.titled]
    for heading, following in pairwise((None, *titles, None)):
        end = following.start if following else len(text)
        if heading:
            body_start = _skip_ornament(text, heading.end, end)
        opens_next = heading and following and following.level > heading.level and body_start == end
        if not opens_next:
            yield _Section(start, body_start, end)
            start = end


def _paths(parsed: ParsedDocument, first_words: Sequence[int]) -> Iterator[tuple[str, ...]]:
    """Yields the section path of each passage, given where its first word stands: that of the clause which it begins
    in. Where it opens with titles that follow one another, these belong to its path up to the first that numbers a
    clause."""
    text, headings = parsed.text, parsed.headings
    path: tuple[Heading, ...] = ()
    index = 0
    for first_word in first_words:
        while index < len(headings) and headings[index].start <= first_word:
            path = (*(above for above in path if above.level < headings[index].level), headings[index])
            index += 1
        opens = bool(path) and path[-1].end > first_word
        while opens and index < len(headings) and not _numbers_a_clause(path[-1]):
            following = headings[index]
            opens = following.level > path[-1].level and following.start == _skip_ornament(
                text, path[-1].end, following.start
            )
            if opens:
                path = (*path, following)
                index += 1
        yield tuple(above.title for above in path)


def _numbers_a_clause(heading: Heading) -> bool:
    reference, _ = clause_of_title(heading.title)
    return reference is not None and not reference.is_part


def _skip_ornament(text: str, start: int, end: int) -> int:
    part = text[start:end]
    return start + len(part) - len(part.lstrip(_ORNAMENT))


class _Cutter:
    """Cuts the sections of one document."""

    def __init__(self, parsed: ParsedDocument, max_chars: int) -> None:
        self._text = parsed.text
        self._max_chars = max_chars
        self._furniture = parsed.furniture
        self._furniture_starts = [span.start for span in parsed.furniture]
        starts = [heading.start for heading in parsed.headings]
        self._clause_chars = {start: end - start for start, end in pairwise((*starts, len(parsed.text)))}

    def chunks(self, section: _Section) -> Iterator[Span]:
        run: list[Span] = []
        for atom in self._atoms(section):
            if run and (self._furniture_within(run[-1].end, atom.start) or self._begins_apart(run, atom)):
                yield from _packed(run, self._max_chars)
                run = []
            run.append(atom)
        yield from _packed(run, self._max_chars)

    def _begins_apart(self, run: Sequence[Span], atom: Span) -> bool:
        """Tells whether a clause without a title begins that is long enough for a chunk of its own, as what stands
        before it is."""
        clause_chars = self._clause_chars.get(atom.start, 0)
        return min(clause_chars, atom.start - run[0].start) >= min(_CLAUSE_CHARS, self._max_chars // 2)

    def _atoms(self, section: _Section) -> Iterator[Span]:
        """Yields the smallest parts of a section: its paragraphs, or their sentences where a paragraph is longer than a
        chunk. The title belongs to what follows it."""
        for paragraph in self._paragraphs(section):
            if paragraph.end - paragraph.start <= self._max_chars:
                yield paragraph
            else:
                for sentence in self._sentences(section, paragraph):
                    yield from self._pieces(sentence)

    def _paragraphs(self, section: _Section) -> Iterator[Span]:
        start = section.start
        for gap in self._gaps(section):
            is_in_title = gap.end <= section.body_start and gap.end < section.end
            if not is_in_title and not self._is_inside_sentence(section, gap):
                yield from self._trimmed(start, gap.start)
                start = gap.end
        yield from self._trimmed(start, section.end)

    def _gaps(self, section: _Section) -> Iterator[Span]:
        """Yields the places where a paragraph ends or furniture stands; places with nothing between them are one
        gap."""
        ends = (Span(*match.span()) for match in _PARAGRAPH_END.finditer(self._text, section.start, section.end))
        furniture = self._furniture_within(section.start, section.end)
        last: Span | None = None
        for gap in merge(ends, furniture, key=lambda span: span.start):
            if last and (gap.start <= last.end or self._text[last.end : gap.start].isspace()):
                last = Span(last.start, max(last.end, gap.end))
            else:
                yield from (last,) if last else ()
                last = gap
        yield from (last,) if last else ()

    def _is_inside_sentence(self, section: _Section, gap: Span) -> bool:
        """Tells whether a sentence goes on after the gap, as it can at the foot of a page."""
        before = self._text[max(section.start, gap.start - 8) : gap.start].rstrip()
        after = self._text[gap.end : min(section.end, gap.end + 8)].lstrip()
        if gap.end - gap.start == 1 or before[-1:] in _SENTENCE_MARKS or not after:
            return False
        is_unfinished = _UNFINISHED.search(before) and self._furniture_within(gap.start, gap.end)
        return after[0].islower() or bool(is_unfinished)

    def _sentences(self, section: _Section, paragraph: Span) -> Iterator[Span]:
        """Yields the sentences of a paragraph. A title is no sentence of its own, and furniture in the middle of a
        sentence does not end it."""
        start = paragraph.start
        for end in sentence_ends(self._text, paragraph.start, paragraph.end):
            is_inside = end <= section.body_start or self._furniture_within(end, end + 1)
            if end == paragraph.end or not is_inside:
                yield from self._trimmed(start, end)
                start = end

    def _pieces(self, sentence: Span) -> Iterator[Span]:
        """Yields a sentence that fits, or else its parts: it is cut at furniture, and a part that is still too long at
        the best break in its second half."""
        if sentence.end - sentence.start <= self._max_chars:
            yield sentence
            return
        start = sentence.start
        for furniture in (*self._furniture_within(sentence.start, sentence.end), Span(sentence.end, sentence.end)):
            for part in self._trimmed(start, furniture.start):
                position = part.start
                for end in self._cuts(part):
                    yield from self._trimmed(position, end)
                    position = end
            start = furniture.end

    def _cuts(self, part: Span) -> Iterator[int]:
        start, half = part.start, self._max_chars // 2
        while part.end - start > self._max_chars:
            limit = start + self._max_chars
            found = (self._text.rfind(mark, start + half, limit) + len(mark) for mark in _BREAKS)
            start = next((cut for cut in found if cut > start + half), limit)
            yield start
        yield part.end

    def _trimmed(self, start: int, end: int) -> Iterator[Span]:
        """Yields the span without the white space around it; nothing when the span is blank."""
        part = self._text[start:end]
        left = len(part) - len(part.lstrip())
        if left < len(part):
            yield Span(start + left, start + len(part.rstrip()))

    def _furniture_within(self, start: int, end: int) -> Sequence[Span]:
        """Yields the furniture in a part of the text, cut off at its ends."""
        first = bisect_right(self._furniture_starts, start)
        if first and self._furniture[first - 1].end > start:
            first -= 1
        after = bisect_left(self._furniture_starts, end)
        return [Span(max(start, span.start), min(end, span.end)) for span in self._furniture[first:after]]


def _packed(atoms: Sequence[Span], max_chars: int) -> Iterator[Span]:
    """Joins neighbours to chunks of about equal length, so that no section ends in a very short one."""
    if not atoms:
        return
    last = atoms[-1].end
    start, end = atoms[0].start, atoms[0].end
    aim = _aim(last - start, max_chars)
    for following in atoms[1:]:
        length, joined = end - start, following.end - start
        if joined > max_chars or joined - aim >= aim - length:
            yield Span(start, end)
            start = following.start
            aim = _aim(last - start, max_chars)
        end = following.end
    yield Span(start, end)


def _aim(length: int, max_chars: int) -> float:
    return length / ceil(length / max_chars)


# A sentence ends with a full stop and its closing quotes, when space and a possible beginning follow; or at the end of
# a line after a semicolon or colon, as between the items of an enumeration.
_END = re.compile(r"[.!?][\"'\u201d\u2019)\]*_]{0,4}\s+(?=[A-Z0-9\"\u201c'\u2018(\[*_#<-])|[;:][ \t]*\n\s*")
_LAST_WORD = re.compile(r"[\w.&'\u2019-]{1,20}$")
_CLAUSE_NUMBER = re.compile(r"\d{1,3}(?:\.\d{1,3}){0,3}|[ivxIVX]{1,5}|[a-zA-Z]")
_ABBREVIATION = re.compile(
    "(?i:inc|corp|co|ltd|llc|nos?|secs?|arts?|cl|para|mrs?|ms|dr|prof|st|vs?|[js]r|messrs|approx|est|dept|al|ex|fig|vol|ed"
    "|pp?|ch|cf|viz|esq|bros|hon|rev|jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec)"
    r"|[A-Z](?:\.[A-Z])*"
)
_LOOK_BACK = 24


def sentence_ends(text: str, start: int, end: int) -> Iterator[int]:
    """Yields the positions in [start, end) at which a new sentence begins, after the white space between the two; then
    `end`."""
    for match in _END.finditer(text, start, end):
        if match.end() < end and not _is_abbreviation(text, start, match.start()):
            yield match.end()
    yield end


def _is_abbreviation(text: str, start: int, stop: int) -> bool:
    """Tells whether the full stop at `stop` belongs to the word before it: "Inc.", "U.S.", an initial, or a clause's
    number."""
    if text[stop] != ".":
        return False
    word = _LAST_WORD.search(text, max(start, stop - _LOOK_BACK), stop)
    if word is None:
        return False
    if _ABBREVIATION.fullmatch(word[0]):
        return True
    return bool(_CLAUSE_NUMBER.fullmatch(word[0])) and _opens_a_line(text, start, word.start())


def _opens_a_line(text: str, start: int, position: int) -> bool:
    before = text[max(start, position - _LOOK_BACK) : position].rstrip(" \t")
    return not before or before[-1] in "\n.;:"
