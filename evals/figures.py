"""Computes the recall of labelled spans, with confidence intervals."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from evals.data import Question
from proviso_service.reading import Span

DEPTHS = (1, 5, 10)
COVER = 0.5
"""Share of a labelled span that one passage must cover for the span to count as found."""

_RESAMPLES = 1_000
_SEED = 20_260


@dataclass(frozen=True, slots=True)
class Answer:
    """What a ranking returned for a question: the recall, which is the share of the question's spans that were found,
    at each of DEPTHS."""

    question: Question
    recall: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Figure:
    """The mean recall over the questions at each of DEPTHS, with the bounds of its 95 % confidence interval."""

    questions: int
    recall: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]


SLICES: Mapping[str, Callable[[Question], bool]] = {
    "all": lambda _: True,
    "tuning contracts": lambda question: not question.contract_is_held_out,
    "held-out contracts": lambda question: question.contract_is_held_out,
    "fitted categories": lambda question: not question.category_is_held_out,
    "held-out categories": lambda question: question.category_is_held_out,
    "held-out contracts and categories": lambda question: (
        question.contract_is_held_out and question.category_is_held_out
    ),
}


def answer(question: Question, passages: Sequence[Span]) -> Answer:
    """Computes the recall of the passages that were returned, best first."""
    return Answer(question, tuple(_share_found(question.spans, passages[:depth]) for depth in DEPTHS))


def figure(answers: Sequence[Answer]) -> Figure:
    """The mean and its interval, by resampling contracts: questions to one contract are not independent of one
    another."""
    by_contract: dict[str, list[tuple[float, ...]]] = {}
    for one in answers:
        by_contract.setdefault(one.question.contract, []).append(one.recall)
    sums = np.array([np.sum(recalls, axis=0) for recalls in by_contract.values()]).reshape(-1, len(DEPTHS))
    counts = np.array([len(recalls) for recalls in by_contract.values()])
    drawn = np.random.default_rng(_SEED).integers(len(counts), size=(_RESAMPLES, len(counts)))
    means = sums[drawn].sum(axis=1) / counts[drawn].sum(axis=1)[:, None]
    low, high = np.percentile(means, (2.5, 97.5), axis=0)
    return Figure(len(answers), _floats(sums.sum(axis=0) / counts.sum()), _floats(low), _floats(high))


def _share_found(spans: Sequence[Span], passages: Sequence[Span]) -> float:
    return sum(any(_covers(passage, span) for passage in passages) for span in spans) / len(spans)


def _covers(passage: Span, span: Span) -> bool:
    common = min(passage.end, span.end) - max(passage.start, span.start)
    return common >= COVER * (span.end - span.start)


def _floats(values: np.typing.NDArray[np.float64]) -> tuple[float, ...]:
    return tuple(float(value) for value in values)
