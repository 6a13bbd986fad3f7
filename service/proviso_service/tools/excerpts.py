"""Cuts a passage down to the part that is about a query, so that more passages fit into a tool result."""

import re
from collections.abc import Callable, Iterator
from dataclasses import replace

from proviso_service.matters import excerpts
from proviso_service.matters.excerpts import Mark
from proviso_service.reading.model import Span
from proviso_service.tools.base import Passage
from proviso_service.tools.rendering import to_json

MIN_EXCERPT_CHARS = 240

_WORD = re.compile(r"[^\W_]+")
_STEM_CHARS = 6
_MIN_WORD_CHARS = 3
_GRAMMAR_TEXT = """
the and for any are was were not this that with from what which who how does must may can
"""
_GRAMMAR = frozenset(_GRAMMAR_TEXT.split())


def stems_of(query: str) -> frozenset[str]:
    """The words of a query by their first letters, so that forms of a word meet; without grammar."""
    words = (word for word in _WORD.findall(query.lower()) if len(word) >= _MIN_WORD_CHARS and word not in _GRAMMAR)
    return frozenset(word[:_STEM_CHARS] for word in words)


def best_part(text: str, stems: frozenset[str], max_chars: int) -> Span:
    """The part of at most `max_chars` code points that holds the most of `stems`, in whole sentences where they
    fit."""
    if len(text) <= max_chars:
        return Span(0, len(text))
    return excerpts.best_part(text, list(_marks(text, stems)), max_chars)


def part_around(text: str, span: Span, max_chars: int) -> Span:
    """The part of at most `max_chars` code points that holds `span`, or its beginning."""
    return excerpts.best_part(text, [Mark(span, "")], max_chars)


def json_length(text: str) -> int:
    """Code points of a text as JSON, without its quotes."""
    return len(to_json(text)) - 2


def excerpt_of(
    passage: Passage,
    choose: Callable[[int], Span],
    max_chars: int,
    min_chars: int = MIN_EXCERPT_CHARS,
    *,
    length_of: Callable[[str], int] = json_length,
) -> Passage | None:
    """The part of a passage that is `choose`n for a number of code points and at most `max_chars` long as it is
    written, by `length_of`; None when it would have to be shorter than `min_chars`."""
    limit = max_chars
    while limit >= min(min_chars, len(passage.text)):
        span = choose(limit)
        text = passage.text[span.start : span.end]
        over = length_of(text) - max_chars
        if over <= 0:
            return replace(passage, start=passage.start + span.start, text=text)
        limit -= over  # escapes and indents make a text longer than its code points
    return None


def _marks(text: str, stems: frozenset[str]) -> Iterator[Mark]:
    for match in _WORD.finditer(text):
        stem = match[0].lower()[:_STEM_CHARS]
        if stem in stems:
            yield Mark(Span(*match.span()), stem)
