"""Fits the extractor's weights and calibration."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evals.corpus import Flags
from evals.data import DataProblem
from evals.extraction_data import Asked
from evals.fitting import Floats, logistic
from evals.overlaps import answers_it
from proviso_service.embedded.classifier.fitted import Head, WordStatistics
from proviso_service.embedded.extractor.answers import AnswerFinder, AnswerHead, as_read, relative
from proviso_service.embedded.extractor.features import NAMES
from proviso_service.embedded.judge import Judge, margins_of
from proviso_service.reading import Span

_RIDGE = 0.3
_FOLDS = 5
_HARD, _OTHERS = 12, 12
_CALIBRATED_ANSWERS = 12
_UNANSWERED_SHARE = 6
_FINAL_RIDGE = 0.001
_LIKELY = [NAMES.index(name) for name in ("piece: bm25", "piece: concept", "passage: concept")]
_NEAR_TIMES = 2.0
_NO_ROWS = np.empty((0, len(NAMES) + 1))
_SEED = 20_260


@dataclass(frozen=True, slots=True)
class Sample:
    """Pieces of the passages found for one question: their texts as the models read them, their features, of which the
    last is how near they are in meaning, and whether they answer it."""

    question: str
    category: str
    texts: Sequence[str]
    rows: Floats
    labels: Flags
    weight: float


class Nearness:
    """How near texts are in meaning to questions. A text is embedded once, for many questions to the same contract."""

    def __init__(self, judge: Judge) -> None:
        self._judge = judge
        self._known: dict[str, NDArray[np.float32]] = {}

    def cosines(self, question: str, texts: Sequence[str]) -> Floats:
        new = [text for text in dict.fromkeys((question, *texts)) if text not in self._known]
        self._known |= zip(new, self._judge.vectors(new), strict=True)
        return np.array([self._known[text] @ self._known[question] for text in texts], dtype=np.float64)


def sample(finder: AnswerFinder, put: Asked, near: Nearness) -> Sample:
    judged = finder.judge(put.text, [found.passage for found in put.found])
    places = (
        Span(put.found[owner].start + piece.start, put.found[owner].start + piece.end)
        for piece, owner in zip(judged.pieces, judged.owners, strict=True)
    )
    labels = np.array([answers_it(place, put.spans) for place in places], dtype=np.bool_)
    texts = [
        as_read(piece, put.found[owner].passage) for piece, owner in zip(judged.pieces, judged.owners, strict=True)
    ]
    rows = np.column_stack([judged.rows, relative(near.cosines(put.text, texts))]) if texts else _NO_ROWS
    return Sample(put.text, put.category, texts, rows, labels, put.weight)


def fit_head(words: WordStatistics, put: Sequence[Asked], judge: Judge) -> AnswerHead:
    """Fits the weights on all questions. What the models that read add, and the calibration, are fitted on the
    likeliest answers to questions of categories that the weights behind these answers have not seen. Raises DataProblem
    when fewer than two categories have answers."""
    blank = AnswerHead(Head(np.zeros(len(NAMES)), 0.0, 1.0, 0.0), 0.0, 0.0)
    finder = AnswerFinder(words, blank)
    near = Nearness(judge)
    samples = [sample(finder, one, near) for one in put]
    categories = sorted({one.category for one in samples})
    likeliest, labels, counts = [], [], []
    for fold in range(_FOLDS):
        left_out = [one for one in samples if one.category in categories[fold::_FOLDS]]
        others = [one for one in samples if one.category not in categories[fold::_FOLDS]]
        if not left_out or not any(one.labels.any() for one in others):
            continue
        weights, bias = _fit(others)
        for one in _calibrating(left_out):
            logit = one.rows @ weights + bias
            best = np.argsort(-logit, kind="stable")[:_CALIBRATED_ANSWERS]
            support = margins_of(judge.logits([(one.question, one.texts[index]) for index in best]))
            likeliest.append(np.column_stack([logit[best], support]))
            labels.append(one.labels[best])
            counts.append(np.full(len(best), one.weight))
    if not any(found.any() for found in labels):
        raise DataProblem("Too little is marked to fit on: answers of two categories are needed")
    chosen, shift = logistic(np.concatenate(likeliest), np.concatenate(labels), np.concatenate(counts), _FINAL_RIDGE)
    (slope, support), shift = _of_the_best(likeliest, labels, counts, chosen, shift)
    weights, bias = _fit(samples)
    return AnswerHead(Head(weights[:-1], bias, slope, shift), support, slope * float(weights[-1]))


def _of_the_best(
    likeliest: Sequence[Floats], labels: Sequence[Flags], counts: Sequence[Floats], weights: Floats, bias: float
) -> tuple[Floats, float]:
    """Fits once more on the best answer to each question alone: the best of several is right less often than one that
    stands alone with its score."""
    logits = [rows @ weights + bias for rows in likeliest]
    best = [int(np.argmax(one)) for one in logits]
    right = np.array([one[place] for one, place in zip(labels, best, strict=True)])
    if right.all() or not right.any():
        return weights, bias
    (slope,), shift = logistic(
        np.array([[logit[place]] for logit, place in zip(logits, best, strict=True)]),
        right,
        np.array([one[place] for one, place in zip(counts, best, strict=True)]),
        _FINAL_RIDGE,
    )
    return weights * slope, float(slope * bias + shift)


def _calibrating(samples: Sequence[Sample]) -> list[Sample]:
    """The questions that have answers, and some of the others: judging takes long."""
    return [one for number, one in enumerate(samples) if one.labels.any() or number % _UNANSWERED_SHARE == 0]


def _fit(samples: Sequence[Sample]) -> tuple[Floats, float]:
    """Fits the weights on all pieces that are answers, the pieces that look most like them, and some of the other
    pieces, weighted to stand for all of these."""
    rng = np.random.default_rng(_SEED)
    rows, labels, weights = [], [], []
    for one in samples:
        negatives = np.flatnonzero(~one.labels)
        likely = one.rows[negatives][:, _LIKELY].sum(axis=1) + _NEAR_TIMES * one.rows[negatives, -1]
        negatives = negatives[np.argsort(-likely, kind="stable")]
        others = negatives[_HARD:]
        drawn = rng.choice(others, min(len(others), _OTHERS), replace=False)
        chosen = np.concatenate([np.flatnonzero(one.labels), negatives[:_HARD], drawn])
        weight = np.full(len(one.labels), one.weight)
        weight[drawn] *= len(others) / max(1, len(drawn))
        rows.append(one.rows[chosen])
        labels.append(one.labels[chosen])
        weights.append(weight[chosen])
    return logistic(np.concatenate(rows), np.concatenate(labels), np.concatenate(weights), _RIDGE)
