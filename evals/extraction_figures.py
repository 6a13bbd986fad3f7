"""Measures how well extracted answers agree with the marked spans, and how well their scores tell real answers from
passages that are merely close."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from evals.classifier_figures import calibration_error
from evals.extraction_data import Asked
from evals.overlaps import answers_it, union_share, word_f1
from proviso_service.reading import Span

THRESHOLDS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7)
DEPTHS = (1, 3)
_SAME_SHARE = 0.5


@dataclass(frozen=True, slots=True)
class Given:
    """An extracted answer: a span of the contract, with its score."""

    span: Span
    score: float


@dataclass(frozen=True, slots=True)
class Judgement:
    """How good the best answers to one question are, at each of DEPTHS: whether one of them is right, the best F1 of
    words, and whether one of them shares with a marked span more than half of what the two cover together. `is_right`
    is about the first answer."""

    put: Asked
    score: float
    is_right: bool
    right: tuple[bool, ...]
    f1: tuple[float, ...]
    same: tuple[bool, ...]

    @property
    def can_be_answered(self) -> bool:
        return bool(self.put.spans)


@dataclass(frozen=True, slots=True)
class Agreement:
    """The means over all questions that have an answer, at each of DEPTHS. `macro` is the mean over the categories of
    the share of first answers that are right."""

    questions: int
    right: tuple[float, ...]
    f1: tuple[float, ...]
    same: tuple[float, ...]
    macro: float


@dataclass(frozen=True, slots=True)
class Found:
    """What happens when answers below a threshold are dropped: the share of the kept answers that are right, the share
    of the answerable questions that keep a right answer, and the share of the unanswerable questions that keep an
    answer."""

    threshold: float
    precision: float
    recall: float
    false_rate: float


def judged(put: Asked, text: str, answers: Sequence[Given]) -> Judgement:
    """Judges the answers to a question, which come best first; `text` is the contract's text."""
    spans = [answer.span for answer in answers[: max(DEPTHS)]]
    right = [answers_it(span, put.spans) for span in spans]
    f1 = [word_f1(text, span, put.spans) for span in spans]
    same = [union_share(span, put.spans) > _SAME_SHARE for span in spans]
    return Judgement(
        put,
        answers[0].score if answers else 0.0,
        bool(right and right[0]),
        tuple(any(right[:depth]) for depth in DEPTHS),
        tuple(max(f1[:depth], default=0.0) for depth in DEPTHS),
        tuple(any(same[:depth]) for depth in DEPTHS),
    )


def agreement(found: Sequence[Judgement]) -> Agreement:
    answerable = [one for one in found if one.can_be_answered]
    by_category: dict[str, list[bool]] = {}
    for one in answerable:
        by_category.setdefault(one.put.category, []).append(one.is_right)
    return Agreement(
        len(answerable),
        _means([one.right for one in answerable]),
        _means([one.f1 for one in answerable]),
        _means([one.same for one in answerable]),
        float(np.mean([np.mean(right) for right in by_category.values()])),
    )


def found_at(found: Sequence[Judgement], threshold: float) -> Found:
    taken = [one for one in found if one.score >= threshold]
    right = sum(one.is_right for one in taken)
    answerable = sum(one.can_be_answered for one in found)
    return Found(
        threshold,
        right / max(1, len(taken)),
        right / max(1, answerable),
        sum(not one.can_be_answered for one in taken) / max(1, len(found) - answerable),
    )


def score_error(found: Sequence[Judgement]) -> float:
    """The expected calibration error of the first answers' scores."""
    return calibration_error(np.array([one.is_right for one in found]), np.array([one.score for one in found]))


def report(title: str, ways: Mapping[str, Sequence[Judgement]]) -> Iterator[str]:
    """The report in Markdown. Calibration is reported for the first of `ways`."""
    first = next(iter(ways.values()))
    answerable = sum(one.can_be_answered for one in first)
    yield f"\n### {title}: {answerable} questions with an answer, {len(first) - answerable} without\n"
    yield "| | right at 1 | right at 3 | mean over categories | F1 at 1 | F1 at 3 | same at 1 | same at 3 |"
    yield "|---" * 8 + "|"
    for name, found in ways.items():
        one = agreement(found)
        cells = (*one.right, one.macro, *one.f1, *one.same)
        yield f"| {name} | {' | '.join(f'{100 * value:.1f}' for value in cells)} |"
    yield f"\nCalibration error of the first answer's score: {score_error(first):.3f}\n"
    yield "| found at | precision | recall | of questions without an answer |"
    yield "|---" * 4 + "|"
    for threshold in THRESHOLDS:
        at = found_at(first, threshold)
        cells = (at.precision, at.recall, at.false_rate)
        yield f"| {threshold} | {' | '.join(f'{100 * value:.1f}' for value in cells)} |"


def by_category(ways: Mapping[str, Sequence[Judgement]]) -> Iterator[str]:
    first = next(iter(ways.values()))
    yield "\n### First answers that are right, by category, %\n"
    yield f"| Category | Questions | {' | '.join(ways)} |"
    yield "|---" * (len(ways) + 2) + "|"
    for category in sorted({one.put.category for one in first if one.can_be_answered}):
        chosen = [_right_first(found, category) for found in ways.values()]
        cells = " | ".join(f"{100 * np.mean(right):.0f}" for right in chosen)
        yield f"| {category} | {len(chosen[0])} | {cells} |"


def as_dict(found: Sequence[Judgement]) -> dict[str, Any]:
    return {
        "agreement": asdict(agreement(found)),
        "found": [asdict(found_at(found, threshold)) for threshold in THRESHOLDS],
        "calibration_error": score_error(found),
    }


def _right_first(found: Sequence[Judgement], category: str) -> list[bool]:
    return [one.is_right for one in found if one.put.category == category and one.can_be_answered]


def _means(values: Sequence[Sequence[float]]) -> tuple[float, ...]:
    return tuple(float(value) for value in np.mean(np.array(values, dtype=np.float64), axis=0))
