"""The labelled contracts as passages, each with its vector and the categories that are marked in it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evals.data import Data
from proviso_service.models import Embedder, ModelPassage, Vectors
from proviso_service.reading import ReadingLimits, Span, read_document, readable

Flags = NDArray[np.bool_]

_COVER = 0.5
_LONG_PART_CHARS = 150


@dataclass(frozen=True, slots=True)
class Corpus:
    """The passages. `contracts` has the name of each passage's contract, `vectors` its vector, and `labels`, by
    category, whether it is marked."""

    passages: Sequence[ModelPassage]
    contracts: Sequence[str]
    vectors: Vectors
    labels: Mapping[str, Flags]

    def part(self, chosen: Flags) -> "Corpus":
        where = np.flatnonzero(chosen).tolist()
        return Corpus(
            [self.passages[index] for index in where],
            [self.contracts[index] for index in where],
            self.vectors[where],
            {category: flags[where] for category, flags in self.labels.items()},
        )


async def read_corpus(data: Data, embedder: Embedder, chunk_chars: int) -> Corpus:
    """Reads, chunks and embeds the contracts as ingestion does."""
    marked: dict[str, list[tuple[str, Span]]] = {}
    for question in data.questions:
        marked.setdefault(question.contract, []).extend((question.category, span) for span in question.spans)
    categories = sorted({question.category for question in data.questions})
    passages, contracts, found = [], [], []
    for name, path in data.contracts.items():
        read = read_document("text/plain", path.read_bytes(), ReadingLimits(chunk_chars=chunk_chars))
        for chunk in read.chunks:
            passages.append(ModelPassage(chunk.text, chunk.section_path))
            contracts.append(name)
            place = Span(chunk.start, chunk.end)
            found.append({category for category, span in marked.get(name, ()) if is_marked(place, span)})
    vectors = await embedder.embed_documents([readable(passage.text) for passage in passages])
    labels = {category: np.array([category in one for one in found]) for category in categories}
    return Corpus(passages, contracts, vectors, labels)


def is_marked(passage: Span, span: Span) -> bool:
    """Whether the passage holds half of the span, or the span covers half of the passage, or the part that they share
    is long."""
    common = min(passage.end, span.end) - max(passage.start, span.start)
    half = _COVER * min(passage.end - passage.start, span.end - span.start)
    return common > 0 and common >= min(half, _LONG_PART_CHARS)
