"""Measures how well scores separate the marked passages of a category from all others."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evals.corpus import Corpus, Flags
from proviso_service.embedded.classifier.features import NAMES
from proviso_service.embedded.classifier.model import StatementScorer
from proviso_service.embedded.classifier.statements import understand, wordings
from proviso_service.models import Embedder

WAYS = ("classifier", "BM25", "cosine")
THRESHOLD = 0.5
_BINS = 10

Values = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Figures:
    """The figures of one category. `average_precision` has one value for each of WAYS. The others are the classifier's
    at a threshold of 0.5: `false_positive_rate` is the share of unmarked passages that match, `calibration_error` the
    expected error over ten bins of equal width."""

    category: str
    marked: int
    passages: int
    average_precision: tuple[float, ...]
    precision: float
    recall: float
    f1: float
    false_positive_rate: float
    calibration_error: float

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


async def measure(
    scorer: StatementScorer, embedder: Embedder, corpus: Corpus, category: str, statement: str
) -> Figures:
    """The figures of a statement about the category, over all passages of the corpus."""
    understood = understand(statement)
    meant = await embedder.embed_documents(wordings(understood))
    scores = scorer.score(understood, list(meant), corpus.passages, corpus.vectors).astype(np.float64)
    words = scorer.features(statement, meant[0], corpus.passages, corpus.vectors)[:, NAMES.index("bm25")]
    cosine = (corpus.vectors @ meant[0]).astype(np.float64)
    marked = corpus.labels[category]
    matched = scores > THRESHOLD
    right = int((matched & marked).sum())
    return Figures(
        category,
        int(marked.sum()),
        len(marked),
        tuple(average_precision(marked, ranked) for ranked in (scores, words, cosine)),
        right / max(1, int(matched.sum())),
        right / int(marked.sum()),
        2 * right / int(matched.sum() + marked.sum()),
        float((matched & ~marked).sum() / (~marked).sum()),
        calibration_error(marked, scores),
    )


def average_precision(marked: Flags, scores: Values) -> float:
    """The mean of the precision at each marked passage. Passages of equal score keep the order of the contracts."""
    ordered = marked[np.argsort(-scores, kind="stable")]
    precision = np.cumsum(ordered) / np.arange(1, len(ordered) + 1)
    return float(precision[ordered].mean())


def calibration_error(marked: Flags, scores: Values) -> float:
    """The expected difference between the score and the share of marked passages."""
    place = np.minimum((scores * _BINS).astype(int), _BINS - 1)
    gaps = np.bincount(place, weights=marked - scores, minlength=_BINS)
    return float(np.abs(gaps).sum() / len(scores))


def table(found: Sequence[Figures]) -> str:
    """A Markdown table, with the macro mean in its last row."""
    heads = (
        "Category",
        "Marked",
        *(f"AP {way}" for way in WAYS),
        "Precision",
        "Recall",
        "F1",
        "False positives",
        "ECE",
    )
    rows = [
        (
            one.category,
            f"{one.marked}",
            *(f"{value:.3f}" for value in one.average_precision),
            *(f"{value:.2f}" for value in (one.precision, one.recall, one.f1)),
            f"{100 * one.false_positive_rate:.2f} %",
            f"{one.calibration_error:.4f}",
        )
        for one in (*found, _mean(found))
    ]
    return "\n".join(f"| {' | '.join(row)} |" for row in (heads, ("---",) * len(heads), *rows))


def _mean(found: Sequence[Figures]) -> Figures:
    def mean(name: str) -> float:
        return float(np.mean([getattr(one, name) for one in found]))

    precisions = np.mean([one.average_precision for one in found], axis=0)
    return Figures(
        "Macro mean",
        sum(one.marked for one in found),
        found[0].passages,
        tuple(float(value) for value in precisions),
        mean("precision"),
        mean("recall"),
        mean("f1"),
        mean("false_positive_rate"),
        mean("calibration_error"),
    )
