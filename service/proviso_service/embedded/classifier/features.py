"""Computes the features of passages for a statement: the numbers from which the logistic model makes scores."""

from dataclasses import dataclass

import numpy as np

from proviso_service.embedded.classifier.content import Concepts, StatementContent, evidence, words_of_concepts
from proviso_service.embedded.classifier.fitted import HeadingTopics, Matrix
from proviso_service.embedded.classifier.matching import Floats, WordMatch, find
from proviso_service.embedded.classifier.words import PassageBlock

NAMES = (
    "cosine",
    "topic",
    "bm25",
    "coverage",
    "closeness",
    "pairs",
    "widened bm25",
    "widened coverage",
    "widened closeness",
    "title",
    "no concept",
    "concept",
    "concept by cover",
    "concept by topic",
    "statement length",
    "coverage by statement length",
    "concept by statement length",
)
_SHARPNESS = 0.03


@dataclass(frozen=True, slots=True)
class Meaning:
    """Two unit vectors of a statement: its own, relative to the mean of all passages, and that of what passages say
    under headings like the statement."""

    own: Matrix
    topic: Matrix


def meaning(topics: HeadingTopics, vector: Matrix) -> Meaning:
    likeness = np.einsum("ij,j->i", topics.keys, vector)
    attention = np.exp((likeness - likeness.max()) / _SHARPNESS) * topics.weights
    return Meaning(_unit(vector - topics.mean), _unit(np.einsum("i,ij->j", attention / attention.sum(), topics.values)))


def similarities(topics: HeadingTopics, meant: Meaning, vectors: Matrix) -> tuple[Floats, Floats]:
    """Returns the similarity of each passage to the statement and to its topic; `vectors` has the shape (passages,
    dimensions). Rows are computed one by one, with einsum instead of a matrix product, so that a passage's value does
    not depend on how many passages there are."""
    about = vectors - topics.mean
    length = np.sqrt(np.einsum("ij,ij->i", about, about)) + 1e-9
    own = np.einsum("ij,j->i", about, meant.own) / length
    topic = np.einsum("ij,j->i", about, meant.topic) / length
    return own.astype(np.float64), topic.astype(np.float64)


def features(
    block: PassageBlock, content: StatementContent, concepts: Concepts, cosine: Floats, topic: Floats
) -> Floats:
    """Returns the features, of shape (passages, len(NAMES))."""
    names = [name for name, _ in content.concepts]
    wanted = [*content.widened.weights, *content.words.weights, *words_of_concepts(concepts, names)]
    texts = block.texts, find(block.texts.tokens, wanted)
    titles = block.titles, find(block.titles.tokens, wanted)
    plain, widened = WordMatch(*texts, content.words), WordMatch(*texts, content.widened)
    title = WordMatch(*titles, content.words)
    shown = np.zeros(block.texts.count)
    for name, weight in content.concepts:
        shown = np.maximum(shown, weight**2 * evidence(concepts, name, texts, titles))
    coverage = plain.coverage()
    long = np.log1p(len(content.words.weights)) / 3
    columns = (
        cosine,
        topic,
        plain.bm25(),
        coverage,
        plain.closeness(),
        plain.pairs(content.pairs),
        widened.bm25(),
        widened.coverage(),
        widened.closeness(),
        title.density(),
        np.full(len(shown), 0.0 if content.concepts else 1.0),
        shown,
        shown * content.cover,
        shown * np.maximum(topic, 0),
        np.full(len(shown), long),
        long * coverage,
        long * shown,
    )
    return np.stack(columns, axis=1)


def _unit(vector: Matrix) -> Matrix:
    unit: Matrix = vector / (np.sqrt(np.einsum("i,i->", vector, vector)) + 1e-9)
    return unit
