"""Cuts a passage down to the part that is about a query, so that more passages fit into a tool result."""

import re
from collections.abc import Sequence
from itertools import pairwise

from proviso_service.matters.sentences import sentence_ends

Span = tuple[int, int]

_WORD = re.compile(r"[^\W_]+")
_STEM_CHARS = 6
_MIN_WORD_CHARS = 3
_GRAMMAR_TEXT = """
the and for any are was were not this that with from what which who how does must may can
"""
_GRAMMAR = frozenset(_GRAMMAR_TEXT.split())
_BLANK_LINE = re.compile(r"\n[ \t]*\n\s*")
_CLAUSE_BREAK = re.compile(r"[;:,]\s+|\n\s*")
# How much of a sentence that is cut stands in front of the first word of the query.
_LEAD = 0.3


def stems_of(query: str) -> frozenset[str]:
    """The words of a query by their first letters, so that forms of a word meet; without grammar."""
    words = (word for word in _WORD.findall(query.lower()) if len(word) >= _MIN_WORD_CHARS and word not in _GRAMMAR)
    return frozenset(word[:_STEM_CHARS] for word in words)


def best_part(text: str, stems: frozenset[str], max_chars: int) -> Span:
    """The run of whole sentences of at most `max_chars` code points that holds the most of `stems`, the longest and
    then the first of equals; a part of the best sentence where not even one fits. As (start, end) in `text`."""
    if len(text) <= max_chars:
        return 0, len(text)
    sentences = _sentences(text)
    held = [_held(text[start:end], stems) for start, end in sentences]
    runs = _runs(sentences, max_chars)
    best = max(range(len(held)), key=lambda index: (len(held[index]), -index))
    run = max(runs, key=lambda run: _worth(run, sentences, held), default=None)
    if run is None or len(held[best]) > len(frozenset().union(*held[run[0] : run[1] + 1])):
        return _inside(text, sentences[best], stems, max_chars)
    return sentences[run[0]][0], sentences[run[1]][1]


def _sentences(text: str) -> list[Span]:
    cuts = {0, *sentence_ends(text, 0, len(text)), *(match.end() for match in _BLANK_LINE.finditer(text)), len(text)}
    trimmed = (
        (start + len(part) - len(part.lstrip()), start + len(part.rstrip()))
        for start, end in pairwise(sorted(cuts))
        if (part := text[start:end]).strip()
    )
    return list(trimmed)


def _runs(sentences: Sequence[Span], max_chars: int) -> list[Span]:
    """First and last sentence of the longest run that fits from each sentence on."""
    runs: list[Span] = []
    for first, (start, _) in enumerate(sentences):
        fitting = [last for last in range(first, len(sentences)) if sentences[last][1] - start <= max_chars]
        if fitting:
            runs.append((first, fitting[-1]))
    return runs


def _worth(run: Span, sentences: Sequence[Span], held: Sequence[frozenset[str]]) -> tuple[int, int, int, int]:
    inside = held[run[0] : run[1] + 1]
    length = sentences[run[1]][1] - sentences[run[0]][0]
    return len(frozenset().union(*inside)), sum(map(len, inside)), length, -run[0]


def _held(part: str, stems: frozenset[str]) -> frozenset[str]:
    return stems & {word[:_STEM_CHARS] for word in _WORD.findall(part.lower())}


def _inside(text: str, sentence: Span, stems: frozenset[str], max_chars: int) -> Span:
    """A part of one sentence around the first of the words, from the beginning of a clause to the end of a word."""
    first, last = sentence
    at = next((m.start() for m in _WORD.finditer(text, first, last) if m[0].lower()[:_STEM_CHARS] in stems), first)
    start = first
    if at - first > max_chars * _LEAD:
        earliest = at - int(max_chars * _LEAD)
        breaks = [match.end() for match in _CLAUSE_BREAK.finditer(text, earliest, at)]
        start = breaks[0] if breaks else at
    end = min(last, start + max_chars)
    space = max(text.rfind(" ", start, end), text.rfind("\n", start, end))
    return (start, space) if end < last and space > start else (start, end)
