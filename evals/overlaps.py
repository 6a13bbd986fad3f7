"""Measures how well a span agrees with the marked ones."""

import re
from collections import Counter
from collections.abc import Sequence

from proviso_service.reading import Span

_WORD = re.compile(r"\w+")
_COMMON_SHARE = 0.5


def answers_it(answer: Span, marked: Sequence[Span]) -> bool:
    """Whether half of the answer is marked, or half of a marked span is in the answer."""
    return any(_common(answer, span) >= _COMMON_SHARE * min(_length(answer), _length(span)) for span in marked)


def union_share(answer: Span, marked: Sequence[Span]) -> float:
    """The share of the text covered by the answer or a marked span that both cover; the best value over all marked
    spans."""
    shares = (
        common / (_length(answer) + _length(span) - common) for span in marked if (common := _common(answer, span)) > 0
    )
    return max(shares, default=0.0)


def word_f1(text: str, answer: Span, marked: Sequence[Span]) -> float:
    """The F1 score of the answer's words against those of a marked span, wherever they stand; the best value over all
    marked spans."""
    given = _words(text, answer)
    return max((_f1(given, _words(text, span)) for span in marked), default=0.0)


def _f1(given: Counter[str], wanted: Counter[str]) -> float:
    return 2 * (given & wanted).total() / max(1, given.total() + wanted.total())


def _words(text: str, span: Span) -> Counter[str]:
    return Counter(_WORD.findall(text[span.start : span.end].lower()))


def _common(one: Span, other: Span) -> int:
    return max(0, min(one.end, other.end) - max(one.start, other.start))


def _length(span: Span) -> int:
    return max(1, span.end - span.start)
