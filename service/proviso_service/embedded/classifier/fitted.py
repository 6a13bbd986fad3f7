"""The numbers that were fitted on contracts, with and without labels: statistics of words, topics of headings, and
weights of features. `evals` fits them, and the package ships them in `fitted.npz`."""

from collections.abc import Mapping
from dataclasses import astuple, dataclass, field
from io import BytesIO

import numpy as np
from numpy.typing import NDArray

from proviso_service.embedded.classifier.matching import Floats

Matrix = NDArray[np.float32]

_LEAST = 1e-5


@dataclass(frozen=True, slots=True)
class WordStatistics:
    """Statistics of stems. `rarity` is the inverse document frequency of a stem, and `unknown` that of all stems
    without a number of their own. `companions` are the stems that are usual in passages under headings with a stem,
    with the share of these passages that have them."""

    rarity: Mapping[int, float]
    unknown: float
    companions: Mapping[int, tuple[tuple[int, float], ...]]

    def rarity_of(self, stem: int) -> float:
        return self.rarity.get(stem, self.unknown)


@dataclass(frozen=True, slots=True)
class HeadingTopics:
    """What passages under a heading mean. `keys` are vectors of headings and `values` vectors of the passages under
    them, relative to `mean`, the mean of all passages. `weights` grow with the number of contracts that have the
    heading."""

    mean: Matrix
    keys: Matrix
    values: Matrix
    weights: Matrix


@dataclass(frozen=True, slots=True)
class Head:
    """A logistic model: the `weights` of features and a `bias`. `slope` and `shift` calibrate its logit."""

    weights: Floats
    bias: float
    slope: float
    shift: float

    def logit(self, features: Floats) -> Floats:
        """Returns the logit of each row. Columns are added one by one, so that a row's value does not depend on how
        many rows there are."""
        logit = np.full(len(features), self.bias)
        for column, weight in enumerate(self.weights):
            logit += weight * features[:, column]
        calibrated: Floats = self.slope * logit + self.shift
        return calibrated


def logits_of(scores: Floats) -> Floats:
    known = np.clip(scores, _LEAST, 1 - _LEAST)
    logits: Floats = np.log(known / (1 - known))
    return logits


@dataclass(frozen=True, slots=True)
class JudgedHead:
    """How a score and what the judge says make one score: what the logit of the score and the judge's margin are
    multiplied by, what is added, and what is taken off where the text gives another figure or law (see
    `conflicts`)."""

    score: float = 1.0
    margin: float = 0.0
    shift: float = 0.0
    conflict: float = 0.0

    def scores(self, scores: Floats, margins: Floats, differs: NDArray[np.bool_]) -> Floats:
        logit = self.score * logits_of(scores) + self.margin * margins + self.shift - self.conflict * differs
        found: Floats = 1 / (1 + np.exp(-np.clip(logit, -30, 30)))
        return found


@dataclass(frozen=True, slots=True)
class FittedClassifier:
    """All fitted numbers of the classifier. `judged` is for what asks or names something, which a clause that says the
    opposite is about as well, and `asserted` for what asserts something."""

    words: WordStatistics
    topics: HeadingTopics
    head: Head
    judged: JudgedHead = field(default_factory=JudgedHead)
    asserted: JudgedHead = field(default_factory=JudgedHead)


def from_bytes(content: bytes) -> FittedClassifier:
    with np.load(BytesIO(content), allow_pickle=False) as data:
        stems = data["stems"].tolist()
        rarity = dict(zip(stems, data["rarity"].astype(float).tolist(), strict=True))
        companions: dict[int, list[tuple[int, float]]] = {}
        for stem, other, share in zip(
            data["heading_stems"].tolist(), data["companions"].tolist(), data["shares"].tolist(), strict=True
        ):
            companions.setdefault(stem, []).append((other, share / 255))
        keys, values = (_unquantised(data[name], data[f"{name}_scale"]) for name in ("keys", "values"))
        bias, slope, shift = data["head_constants"].tolist()
        return FittedClassifier(
            WordStatistics(rarity, float(data["unknown"]), {stem: tuple(found) for stem, found in companions.items()}),
            HeadingTopics(data["mean"].astype(np.float32), keys, values, data["topic_weights"].astype(np.float32)),
            Head(data["head"], bias, slope, shift),
            *(JudgedHead(*data[name].tolist()) for name in ("judged", "asserted")),
        )


def to_bytes(fitted: FittedClassifier) -> bytes:
    words, topics, head = fitted.words, fitted.topics, fitted.head
    pairs = [(stem, other, share) for stem, found in words.companions.items() for other, share in found]
    keys, keys_scale = _quantised(topics.keys)
    values, values_scale = _quantised(topics.values)
    out = BytesIO()
    np.savez_compressed(
        out,
        stems=np.array(list(words.rarity), dtype=np.uint32),
        rarity=np.array(list(words.rarity.values()), dtype=np.float16),
        unknown=np.array(words.unknown),
        heading_stems=np.array([stem for stem, _, _ in pairs], dtype=np.uint32),
        companions=np.array([other for _, other, _ in pairs], dtype=np.uint32),
        shares=np.array([round(255 * share) for _, _, share in pairs], dtype=np.uint8),
        mean=topics.mean.astype(np.float16),
        keys=keys,
        keys_scale=keys_scale,
        values=values,
        values_scale=values_scale,
        topic_weights=topics.weights.astype(np.float16),
        head=head.weights,
        head_constants=np.array([head.bias, head.slope, head.shift]),
        judged=np.array(astuple(fitted.judged)),
        asserted=np.array(astuple(fitted.asserted)),
    )
    return out.getvalue()


def _quantised(matrix: Matrix) -> tuple[NDArray[np.int8], Matrix]:
    """Rounds a matrix to one byte a number, with one scale a row."""
    scale = np.abs(matrix).max(axis=1, keepdims=True) / 127
    return np.round(matrix / scale).astype(np.int8), scale.astype(np.float32)


def _unquantised(bytes_: NDArray[np.int8], scale: Matrix) -> Matrix:
    matrix: Matrix = bytes_.astype(np.float32) * scale
    return matrix
