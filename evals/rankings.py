"""The ways of ranking a contract's passages that are compared."""

from collections import defaultdict
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

import numpy as np

from evals.data import Question
from evals.library import TENANT, Library
from proviso_service.matters.model import DEFAULT_SEMANTIC_WEIGHT, DEFAULT_THRESHOLD, SearchQuery
from proviso_service.matters.search_index import IndexAnswer, IndexQuery
from proviso_service.models import Vectors
from proviso_service.reading import Span, words_of

DEPTH = 10
"""The number of passages that a ranking returns."""

_CANDIDATES = 100
_PLAIN_OFFSET = 60


@dataclass(frozen=True, slots=True)
class Ranking:
    """A way of ranking. `rank` returns the passages of a question's contract, best first."""

    name: str
    rank: Callable[[Library, Question], Awaitable[Sequence[Span]]]


async def _by_words(library: Library, question: Question) -> Sequence[Span]:
    return await _spans(library, await _lexical(library, question, DEPTH))


async def _by_meaning(library: Library, question: Question) -> Sequence[Span]:
    return await _spans(library, await _semantic(library, question, DEPTH))


async def _plain_fusion(library: Library, question: Question) -> Sequence[Span]:
    scores: dict[str, float] = defaultdict(float)
    for order in (await _semantic(library, question, _CANDIDATES), await _lexical(library, question, _CANDIDATES)):
        for rank, chunk_id in enumerate(order):
            scores[chunk_id] += 1 / (_PLAIN_OFFSET + 1 + rank)
    return await _spans(library, sorted(scores, key=lambda chunk_id: (-scores[chunk_id], chunk_id))[:DEPTH])


def _proviso(threshold: float, semantic_weight: float) -> Callable[[Library, Question], Awaitable[Sequence[Span]]]:
    async def rank(library: Library, question: Question) -> Sequence[Span]:
        query = SearchQuery(
            library.matter.matter_id,
            question.text,
            max_results=DEPTH,
            threshold=threshold,
            semantic_weight=semantic_weight,
            document_ids=(library.document_ids[question.contract],),
        )
        outcome = await library.retriever.search(TENANT, query)
        return [Span(hit.stored.chunk.start, hit.stored.chunk.end) for hit in outcome.hits]

    return rank


RANKINGS = (
    Ranking("BM25", _by_words),
    Ranking("embeddings", _by_meaning),
    Ranking("plain fusion", _plain_fusion),
    Ranking("Proviso, default", _proviso(DEFAULT_THRESHOLD, DEFAULT_SEMANTIC_WEIGHT)),
    Ranking("Proviso, 0.3 and 0.7", _proviso(0.3, 0.7)),
    Ranking("Proviso, embedded agent", _proviso(0.1, 0.6)),
)
"""BM25 of every word of the question, as it stands; embeddings of the question; both by reciprocal rank with the usual
offset and even weights; and the service's search at its defaults, at a threshold and semantic_weight that are common
elsewhere, and as the embedded chat model searches."""


async def _lexical(library: Library, question: Question, limit: int) -> Sequence[str]:
    words = list(dict.fromkeys(words_of(question.text)))
    answer = await _searched(library, question, np.zeros(library.embedder.dimensions, dtype=np.float32), words, limit)
    worded = [(one.lexical.rank, one.chunk_id) for one in answer.found if one.lexical]
    return [chunk_id for _, chunk_id in sorted(worded)]


async def _semantic(library: Library, question: Question, limit: int) -> Sequence[str]:
    vector = await library.embedder.embed_query(question.text)
    answer = await _searched(library, question, vector, (), limit)
    return [one.chunk_id for one in answer.found[: answer.near]]


async def _searched(
    library: Library, question: Question, vector: Vectors, words: Sequence[str], limit: int
) -> IndexAnswer:
    index = await library.indexes.at(TENANT, library.matter.matter_id, 1)
    inside = index.of_documents([library.document_ids[question.contract]])
    return index.search(IndexQuery(vector, words, words, (), limit, limit, inside))


async def _spans(library: Library, chunk_ids: Sequence[str]) -> Sequence[Span]:
    return [Span(one.chunk.start, one.chunk.end) for one in await library.store.chunks(TENANT, chunk_ids)]
