"""The figures of an evaluation: how often a way to ask is right, what its scores mean, and how long it takes."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from statistics import fmean, median
from typing import Any

import numpy as np
from numpy.typing import NDArray

POSSIBLE, LIKELY = 0.3, 0.7
_BINS = 10

Scored = tuple[float, bool]
"""A score, and whether what has it is right."""


@dataclass(slots=True)
class Way:
    """One way to ask, such as an extraction. Each answer adds one to the counts of `grades` that hold for it; `asked`
    is how many there were. `scored` are what a model gave a score, and whether it was right; `precisions` are the
    average precisions of rankings."""

    name: str
    grades: dict[str, int]
    model: str = ""
    asked: int = 0
    scored: list[Scored] = field(default_factory=list)
    precisions: list[float] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    tokens: int = 0

    def add(self, grades: Iterable[str], seconds: float) -> None:
        self.asked += 1
        self.seconds.append(seconds)
        for grade in grades:
            self.grades[grade] += 1

    def report(self) -> dict[str, Any]:
        """The figures by their names; shares and errors are from 0 to 1."""
        shares = {grade: round(count / max(1, self.asked), 3) for grade, count in self.grades.items()}
        found: dict[str, Any] = {"way": self.name, "asked": self.asked, **shares}
        if self.precisions:
            found["average_precision"] = round(fmean(self.precisions), 3)
        if self.seconds:
            found |= {"median_s": round(median(self.seconds), 3), "longest_s": round(max(self.seconds), 3)}
        if self.tokens:
            found["tokens"] = self.tokens
        if self.scored:
            bands = bands_of(self.scored)
            found |= {"model": self.model, "calibration_error": round(calibration_error(self.scored), 3), **bands}
        return found


def average_precision(scored: Sequence[Scored]) -> float:
    """The mean of the precisions at each right one, of the best to the least score; 0 where none is right. Of equal
    scores the wrong ones count as the better."""
    ranked = [right for _, right in sorted(scored, key=lambda one: (-one[0], one[1]))]
    precisions = [sum(ranked[: place + 1]) / (place + 1) for place, right in enumerate(ranked) if right]
    return sum(precisions) / len(precisions) if precisions else 0.0


def calibration_error(scored: Sequence[Scored]) -> float:
    """How far scores are from the share that is right, on average over tenths of the scale."""
    bins = [min(_BINS - 1, int(score * _BINS)) for score, _ in scored]
    error = 0.0
    for one in set(bins):
        inside = [pair for pair, its in zip(scored, bins, strict=True) if its == one]
        error += abs(sum(score for score, _ in inside) - sum(right for _, right in inside))
    return error / len(scored)


def bands_of(scored: Sequence[Scored]) -> dict[str, float]:
    """The scores from which three and seven in ten are right, with ever better ones taken to be right ever more often;
    1 where no score is so sure."""
    scores, shares = _isotonic(scored)
    return {
        name: round(float(scores[np.argmax(shares >= least)]) if (shares >= least).any() else 1.0, 3)
        for name, least in (("possible", POSSIBLE), ("likely", LIKELY))
    }


def _isotonic(scored: Sequence[Scored]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Scores in order, and the share that is right at each: neighbours are pooled until the shares only rise."""
    ordered = sorted(scored)
    blocks: list[tuple[float, int]] = []
    for _, equals in groupby(ordered, key=lambda one: one[0]):
        answers = [right for _, right in equals]
        blocks.append((sum(answers), len(answers)))
        while len(blocks) > 1 and blocks[-2][0] / blocks[-2][1] >= blocks[-1][0] / blocks[-1][1]:
            (right_before, before), (right_last, last) = blocks[-2:]
            blocks[-2:] = [(right_before + right_last, before + last)]
    shares = np.concatenate([np.full(count, right / count) for right, count in blocks])
    return np.array([score for score, _ in ordered]), shares
