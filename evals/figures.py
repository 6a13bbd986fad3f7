"""Computes recall, means and average precisions, with confidence intervals by resampling contracts: questions to one
contract are not independent of one another."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evals.data import Question
from proviso_service.reading import Span

DEPTHS = (1, 5, 10)
COVER = 0.5
"""Share of a labelled span that one passage must cover for the span to count as found."""

_RESAMPLES = 1_000
_RESAMPLED_RANKINGS = 200
_SEED = 20_260


@dataclass(frozen=True, slots=True)
class Answer:
    """What a ranking returned for a question: the recall, which is the share of the question's spans that were found,
    at each of DEPTHS."""

    question: Question
    recall: tuple[float, ...]


def answer(question: Question, passages: Sequence[Span]) -> Answer:
    """Computes the recall of the passages that were returned, best first."""
    return Answer(question, tuple(_share_found(question.spans, passages[:depth]) for depth in DEPTHS))


@dataclass(frozen=True, slots=True)
class Interval:
    """A figure with the bounds of its 95 % confidence interval."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.value:.3f} ({self.low:.2f} to {self.high:.2f})"


def mean_of(by_contract: Mapping[str, Sequence[float]]) -> Interval:
    """The mean of all values."""
    sums = np.array([sum(values) for values in by_contract.values()], dtype=np.float64)
    counts = np.array([len(values) for values in by_contract.values()])
    drawn = _drawn(len(counts))
    return _interval(float(sums.sum() / counts.sum()), sums[drawn].sum(axis=1) / counts[drawn].sum(axis=1))


def macro_average_precision(by_category: Mapping[str, Sequence[Sequence[tuple[str, float, bool]]]]) -> Interval:
    """The mean over categories of the average precision of their statements. What a statement scored are the contract,
    the score and whether it is right, of each passage; of equal scores the wrong ones count as the better."""
    ranked = [
        [sorted(scored, key=lambda one: (-one[1], one[2])) for scored in statements]
        for statements in by_category.values()
    ]
    contracts = sorted({name for statements in ranked for scored in statements for name, _, _ in scored})
    numbers = {name: number for number, name in enumerate(contracts)}
    rankings = [
        [
            (np.array([numbers[name] for name, _, _ in scored]), np.array([right for _, _, right in scored]))
            for scored in statements
        ]
        for statements in ranked
    ]

    def mean(times: NDArray[np.int64]) -> float:
        found = [
            [_weighted_precision(times[owners], right) for owners, right in statements if times[owners][right].any()]
            for statements in rankings
        ]
        return float(np.mean([np.mean(one) for one in found if one]))

    drawn = [np.bincount(one, minlength=len(contracts)) for one in _drawn(len(contracts))[:_RESAMPLED_RANKINGS]]
    return _interval(mean(np.ones(len(contracts), dtype=np.int64)), np.array([mean(times) for times in drawn]))


def _weighted_precision(times: NDArray[np.int64], right: NDArray[np.bool_]) -> float:
    """The average precision of a ranking in which each passage counts so many times."""
    found = np.cumsum(times * right)
    held = times * right
    return float((held * found / np.maximum(1, np.cumsum(times))).sum() / held.sum())


def _drawn(groups: int) -> NDArray[np.int64]:
    return np.random.default_rng(_SEED).integers(groups, size=(_RESAMPLES, groups))


def _interval(value: float, resampled: NDArray[np.float64]) -> Interval:
    low, high = np.percentile(resampled, (2.5, 97.5))
    return Interval(value, float(low), float(high))


def _share_found(spans: Sequence[Span], passages: Sequence[Span]) -> float:
    return sum(any(_covers(passage, span) for passage in passages) for span in spans) / len(spans)


def _covers(passage: Span, span: Span) -> bool:
    common = min(passage.end, span.end) - max(passage.start, span.start)
    return common >= COVER * (span.end - span.start)
