"""Measures how well a span agrees with the marked ones."""

from collections.abc import Sequence

from proviso_service.reading import Span

_COMMON_SHARE = 0.5


def answers_it(answer: Span, marked: Sequence[Span]) -> bool:
    """Whether half of the answer is marked, or half of a marked span is in the answer."""
    return any(_common(answer, span) >= _COMMON_SHARE * min(_length(answer), _length(span)) for span in marked)


def _common(one: Span, other: Span) -> int:
    return max(0, min(one.end, other.end) - max(one.start, other.start))


def _length(span: Span) -> int:
    return max(1, span.end - span.start)
