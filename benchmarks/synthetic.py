"""Passages made by chance that cost a search what those of contracts do, so that no corpus is needed.

Their words are those of the embedded model's vocabulary, each as frequent as its place there says (Zipf's law). Their
vectors lie in clusters, as those of clauses of one kind do; without that, an approximate index would find next to
nothing. A question has words of a passage, and a vector near it."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

DIMENSIONS = 384
WORDS = 90
"""Of a passage; 620 characters, as those of contracts have on average."""

QUESTION_WORDS = 12
QUESTIONS = 200
_SPREAD = 0.7
_CLUSTER = 40
_BATCH = 10_000

Vectors = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Passages:
    """Texts and vectors of passages, and those of questions."""

    texts: Sequence[str]
    vectors: Vectors
    questions: Sequence[str]
    question_vectors: Vectors

    def save(self, folder: Path) -> None:
        """Writes them where processes of their own read them."""
        (folder / "texts.json").write_text(json.dumps([list(self.texts), list(self.questions)]), encoding="utf-8")
        np.save(folder / "vectors.npy", self.vectors)
        np.save(folder / "question_vectors.npy", self.question_vectors)

    @classmethod
    def load(cls, folder: Path, count: int) -> "Passages":
        """The first passages of those that were saved, and all questions."""
        texts, questions = json.loads((folder / "texts.json").read_text(encoding="utf-8"))
        vectors = np.ascontiguousarray(np.load(folder / "vectors.npy", mmap_mode="r")[:count])
        return cls(texts[:count], vectors, questions, np.load(folder / "question_vectors.npy"))


def vocabulary(models_dir: Path) -> list[str]:
    """The whole words that the embedded model knows, the most frequent first."""
    tokenizer = json.loads((models_dir / "minilm-int8" / "tokenizer.json").read_text(encoding="utf-8"))
    places = tokenizer["model"]["vocab"]
    return [word for word in sorted(places, key=places.__getitem__) if word.isascii() and word.isalpha()][26:]


def passages(count: int, about: int, words: Sequence[str]) -> Passages:
    """Makes passages, and questions about the first `about` of them; the same ones every time."""
    chance = np.random.default_rng(0)
    shares = 1.0 / (np.arange(len(words)) + 2.7)
    sums = np.cumsum(shares / shares.sum())
    known = np.array(words, dtype=object)
    texts: list[str] = []
    vectors = np.empty((count, DIMENSIONS), dtype=np.float32)
    centres = _unit(chance.normal(size=(-(-count // _CLUSTER), DIMENSIONS)))
    for first in range(0, count, _BATCH):
        size = min(_BATCH, count - first)
        drawn = np.minimum(np.searchsorted(sums, chance.random((size, WORDS))), len(words) - 1)
        texts += [" ".join(row) for row in known[drawn]]
        near = centres[chance.integers(len(centres), size=size)]
        vectors[first : first + size] = _unit(near + _SPREAD * _unit(chance.normal(size=(size, DIMENSIONS))))
    asked = chance.integers(about, size=QUESTIONS)
    questions = [" ".join(chance.choice(texts[row].split(), QUESTION_WORDS, replace=False)) for row in asked]
    return Passages(
        texts, vectors, questions, _unit(vectors[asked] + _SPREAD * _unit(chance.normal(size=(QUESTIONS, DIMENSIONS))))
    )


def _unit(vectors: NDArray[np.floating]) -> Vectors:
    unit: Vectors = (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)
    return unit
