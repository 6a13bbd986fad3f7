"""The ways of ranking a contract's passages that are compared."""

from collections import defaultdict
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, select

from evals.data import Question
from evals.library import TENANT, Library
from proviso_service.backends.sql.fulltext import any_word, found
from proviso_service.backends.sql.tables import chunks
from proviso_service.matters.model import DEFAULT_SEMANTIC_WEIGHT, DEFAULT_THRESHOLD, SearchQuery
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
    Ranking("Proviso, embedded agent", _proviso(0.1, 0.3)),
)
"""BM25 of every word of the question, as it stands; embeddings of the question; both by reciprocal rank with the usual
offset and even weights; and the service's search at its defaults, at a threshold and semantic_weight that are common
elsewhere, and as the embedded chat model searches."""


async def _lexical(library: Library, question: Question, limit: int) -> Sequence[str]:
    def rows(connection: Connection) -> Sequence[str]:
        hits = found(any_word(TENANT, library.matter.matter_id, dict.fromkeys(words_of(question.text))))
        query = (
            select(chunks.c.chunk_id)
            .join_from(hits, chunks, chunks.c.row_id == hits.c.row_id)
            .where(chunks.c.document_id == library.document_ids[question.contract])
            .order_by(hits.c.rank, chunks.c.ordinal)
            .limit(limit)
        )
        return connection.execute(query).scalars().all()

    return await library.database.read(rows)


async def _semantic(library: Library, question: Question, limit: int) -> Sequence[str]:
    vector = await library.embedder.embed_query(question.text)
    only = [library.document_ids[question.contract]]
    hits = await library.vectors.search(TENANT, library.matter.matter_id, vector, limit, only)
    return [hit.chunk_id for hit in hits]


async def _spans(library: Library, chunk_ids: Sequence[str]) -> Sequence[Span]:
    return [Span(one.chunk.start, one.chunk.end) for one in await library.store.chunks(TENANT, chunk_ids)]
