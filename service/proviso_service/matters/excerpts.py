"""Finds the part of a passage that is most about a query, and marks in it what the query asks for."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from proviso_service.matters.model import Snippet
from proviso_service.matters.wording import ParsedQuery, phrase_spans
from proviso_service.reading import Chunk, ClauseReference, Span, WordForms, sentence_ends

_BLANK_LINE = re.compile(r"\n[ \t]*\n\s*")
_CLAUSE_BREAK = re.compile(r"[;:,]\s+|\n\s*")
# The share of an excerpt that may stand before the first word of the query, when a sentence has to be cut.
_LEAD = 0.3
_SHORT = 0.35


@dataclass(frozen=True, slots=True)
class Mark:
    """A place where a text holds something of the query. `key` says what it is, and is equal for all forms of a
    word."""

    span: Span
    key: str


def best_excerpt(text: str, marks: Sequence[Mark], max_chars: int) -> Span:
    """Returns the run of whole sentences, of at most `max_chars` code points, that has the most different `marks`,
    which are given in order. Of equal runs it is the longest and then the first; without any marks it is the first.
    Where no sentence fits, or only a short one, it is a part of the best sentence."""
    if len(text) <= max_chars:
        return Span(0, len(text))
    sentences = _sentences(text)
    held = [_held(marks, sentence) for sentence in sentences]
    runs = _runs(sentences, max_chars)
    best = max(range(len(held)), key=lambda index: (len(held[index]), sentences[index].end - sentences[index].start))
    run = max(runs, key=lambda run: _worth(run, sentences, held), default=None)
    if run is None:
        return _inside(text, sentences[best], marks, max_chars)
    whole = Span(sentences[run[0]].start, sentences[run[1]].end)
    found = len(frozenset().union(*held[run[0] : run[1] + 1]))
    # A heading holds the same words as the sentence under it but says nothing.
    is_short = whole.end - whole.start < max_chars * _SHORT
    if len(held[best]) > found or (is_short and len(held[best]) == found > 0):
        return _inside(text, sentences[best], marks, max_chars)
    return whole


def _sentences(text: str) -> list[Span]:
    cuts = {0, *sentence_ends(text, 0, len(text)), *(match.end() for match in _BLANK_LINE.finditer(text)), len(text)}
    trimmed = (
        Span(start + len(part) - len(part.lstrip()), start + len(part.rstrip()))
        for start, end in pairwise(sorted(cuts))
        if (part := text[start:end]).strip()
    )
    return list(trimmed) or [Span(0, len(text))]


def _runs(sentences: Sequence[Span], max_chars: int) -> list[tuple[int, int]]:
    """Returns, for each sentence that fits, the first and last sentence of the longest run that begins with it."""
    runs: list[tuple[int, int]] = []
    for first, sentence in enumerate(sentences):
        fitting = [last for last in range(first, len(sentences)) if sentences[last].end - sentence.start <= max_chars]
        if fitting:
            runs.append((first, fitting[-1]))
    return runs


def _worth(
    run: tuple[int, int], sentences: Sequence[Span], held: Sequence[frozenset[str]]
) -> tuple[int, int, int, int]:
    inside = held[run[0] : run[1] + 1]
    found = len(frozenset().union(*inside))
    length = sentences[run[1]].end - sentences[run[0]].start if found else 0
    return found, sum(map(len, inside)), length, -run[0]


def _held(marks: Sequence[Mark], part: Span) -> frozenset[str]:
    return frozenset(mark.key for mark in marks if part.start <= mark.span.start < part.end)


def _inside(text: str, sentence: Span, marks: Sequence[Mark], max_chars: int) -> Span:
    """Returns a part of one sentence around the first of the marks, from the beginning of a clause to the end of a
    word."""
    first, last = sentence.start, sentence.end
    at = next((mark.span.start for mark in marks if first <= mark.span.start < last), first)
    start = first
    if at - first > max_chars * _LEAD:
        earliest = at - int(max_chars * _LEAD)
        breaks = [match.end() for match in _CLAUSE_BREAK.finditer(text, earliest, at)]
        start = breaks[0] if breaks else at
    end = min(last, start + max_chars)
    space = max(text.rfind(" ", start, end), text.rfind("\n", start, end))
    return Span(start, space if end < last and space > start else end)


MAX_CHARS = 300
"""The most code points of a snippet."""


class Snippets:
    """Cuts the snippets of one search."""

    def __init__(self, query: ParsedQuery) -> None:
        self._phrases = query.phrases
        self._words = WordForms(query.subject)
        self._numbers = _number_pattern(query.references)

    def of(self, chunk: Chunk) -> Snippet:
        """Returns at most MAX_CHARS of the chunk, in whole sentences where they fit."""
        marks = sorted(self._marks(chunk.text), key=lambda mark: (mark.span.start, -mark.span.end))
        part = best_excerpt(chunk.text, marks, MAX_CHARS)
        highlights = _joined([mark.span for mark in marks], part)
        return Snippet(chunk.text[part.start : part.end], chunk.start + part.start, highlights)

    def _marks(self, text: str) -> Iterator[Mark]:
        for phrase in self._phrases:
            for span in phrase_spans(text, phrase):
                yield Mark(span, phrase)
        for span, stem in self._words.find(text):
            yield Mark(span, stem)
        if self._numbers:
            for match in self._numbers.finditer(text):
                yield Mark(Span(*match.span()), match[0])


def _joined(spans: Sequence[Span], part: Span) -> tuple[Span, ...]:
    """Returns what lies inside the part of spans that are given in order of their starts: as offsets in the part,
    without overlap."""
    joined: list[Span] = []
    for span in spans:
        start, end = max(span.start, part.start) - part.start, min(span.end, part.end) - part.start
        if joined and start < joined[-1].end:
            joined[-1] = Span(joined[-1].start, max(joined[-1].end, end))
        elif start < end:
            joined.append(Span(start, end))
    return tuple(joined)


def _number_pattern(references: Sequence[ClauseReference]) -> re.Pattern[str] | None:
    """Returns a pattern that finds the numbers of the clauses, with whatever full stops and brackets stand between
    their levels."""
    numbers = dict.fromkeys(r"\W{1,3}".join(map(re.escape, form)) for one in references for form in one.forms)
    return (
        re.compile(rf"(?<![^\W_])(?<!\d\.)(?:{'|'.join(numbers)})(?:(?<=\w)\))?(?!\.?\d)(?![^\W_])")
        if numbers
        else None
    )
