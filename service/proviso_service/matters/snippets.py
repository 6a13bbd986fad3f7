"""Snippets of passages: the part that is most about a query, with what it asks for marked."""

import re
from collections.abc import Iterator, Sequence

from proviso_service.matters.excerpts import Mark, best_part
from proviso_service.matters.model import Snippet
from proviso_service.matters.queries import ParsedQuery
from proviso_service.matters.wording import phrase_spans
from proviso_service.reading.model import Chunk, Span
from proviso_service.reading.references import ClauseReference
from proviso_service.reading.words import WordForms

MAX_CHARS = 300
"""Code points of a snippet."""


class Snippets:
    """Cuts the snippets of one search."""

    def __init__(self, query: ParsedQuery) -> None:
        self._phrases = query.phrases
        self._words = WordForms(query.subject)
        self._numbers = _number_pattern(query.references)

    def of(self, chunk: Chunk) -> Snippet:
        """At most MAX_CHARS of the chunk, in whole sentences where they fit."""
        marks = sorted(self._marks(chunk.text), key=lambda mark: (mark.span.start, -mark.span.end))
        part = best_part(chunk.text, marks, MAX_CHARS)
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
    """What of the spans, given in order of their starts, lies in the part, as offsets in it, without overlap."""
    joined: list[Span] = []
    for span in spans:
        start, end = max(span.start, part.start) - part.start, min(span.end, part.end) - part.start
        if joined and start < joined[-1].end:
            joined[-1] = Span(joined[-1].start, max(joined[-1].end, end))
        elif start < end:
            joined.append(Span(start, end))
    return tuple(joined)


def _number_pattern(references: Sequence[ClauseReference]) -> re.Pattern[str] | None:
    """Finds the numbers of the clauses, with the full stops and brackets between their levels as they come."""
    numbers = dict.fromkeys(r"\W{1,3}".join(map(re.escape, form)) for one in references for form in one.forms)
    return (
        re.compile(rf"(?<![^\W_])(?<!\d\.)(?:{'|'.join(numbers)})(?:(?<=\w)\))?(?!\.?\d)(?![^\W_])")
        if numbers
        else None
    )
