"""MatterIndex: what a search in one matter compares, in memory. SQL is the truth; this is a value made of its rows."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Self

import numpy as np
from numpy.typing import NDArray

from proviso_service.matters.model import DocumentHits, chunk_id
from proviso_service.matters.packing import PackedDocument, PackedWords, below_term, clause_term
from proviso_service.models import Vectors
from proviso_service.reading import SearchTerms

if TYPE_CHECKING:
    from bm25s import BM25

Rows = NDArray[np.intp]
"""Passages of a matter by their places in its order: by the upload of their documents, then by their own."""

Counts = NDArray[np.uint16]
"""How many of a query's terms each passage of a matter holds."""

K1 = 1.2
B = 0.75
METHOD = "lucene"
"""The parameters of BM25 and its formula of rarity, chosen by evals/README.md."""

_TERM_BYTES = 120
"""The memory of a term in a dictionary, about."""


@dataclass(frozen=True, slots=True)
class LexicalHit:
    """A passage that holds one of the query's telling words. `rank` counts from 0, best first; `all_terms` says that
    the passage holds every significant word of the query."""

    rank: int
    all_terms: bool


@dataclass(frozen=True, slots=True)
class SearchCandidate:
    """A passage that was found. `similarity` is the cosine, in [0, 1], and 0 where another model embedded the passage;
    `held_words` counts the query's telling words that the passage holds, and `lexical_score` is their share;
    `clause_rank` counts from 0 among the clauses that the query names."""

    document_id: str
    filename: str
    ordinal: int
    similarity: float
    lexical: LexicalHit | None = None
    clause_rank: int | None = None
    held_words: int = 0
    lexical_score: float = 0.0

    @property
    def chunk_id(self) -> str:
        return chunk_id(self.document_id, self.ordinal)

    @property
    def position(self) -> tuple[str, str, int]:
        return (self.filename, self.document_id, self.ordinal)


@dataclass(frozen=True, slots=True)
class IndexQuery:
    """What a search asks an index. Passages are `inside` the given ones, or anywhere. At most `limit` are taken by the
    `vector`, and as many by the `telling` words; `near` are those already known to be nearest. `words` are all
    significant words, and `clauses` the levels of clause numbers, by which at most `clause_limit` are taken."""

    vector: Vectors
    words: Sequence[str]
    telling: Sequence[str]
    clauses: Sequence[Sequence[str]]
    limit: int
    clause_limit: int
    inside: Rows | None = None
    near: Rows | None = None


@dataclass(frozen=True, slots=True)
class IndexAnswer:
    """The passages found, those by meaning first, of which there are `near`; `worded` and `numbered` count the ones
    that words and clause numbers brought up. `matching` are the documents with passages that hold all words, those with
    the most such passages first. `least_near` is the lowest similarity among the ones by meaning. `knows_a_word` says
    that a passage of the matter, searched or not, holds one of the words."""

    found: Sequence[SearchCandidate]
    matching: Sequence[DocumentHits]
    near: int
    worded: int
    numbered: int
    least_near: float
    knows_a_word: bool


@dataclass(frozen=True, slots=True)
class MatterIndex:
    """The vectors and words of a matter's READY documents, as they are at one `version` of the matter. It does not
    change, so that any number of threads may search it; another version is another value."""

    version: int
    documents: Sequence[PackedDocument]
    starts: Rows
    vectors: Vectors
    embedded: NDArray[np.bool_]
    terms: dict[str, int]
    ranking: "BM25"
    size_bytes: int

    @classmethod
    def build(cls, version: int, documents: Sequence[PackedDocument], dimensions: int) -> Self:
        """Puts the documents together. Nothing is tokenised or embedded here: 25,000 passages take some 0.2 s. Run it
        in a thread."""
        counts = [document.chunk_count for document in documents]
        starts = np.concatenate([[0], np.cumsum(counts, dtype=np.intp)]).astype(np.intp)
        vectors = np.zeros((int(starts[-1]), dimensions), dtype=np.float32)
        embedded = np.zeros(len(vectors), dtype=np.bool_)
        kept: list[PackedDocument] = []
        for document, first in zip(documents, starts, strict=False):
            part = vectors[first : first + len(document.vectors)]
            if len(part):
                part[:] = document.vectors
                embedded[first : first + len(part)] = True
            kept.append(replace(document, vectors=part))  # the row that was read need not stay in memory as well
        terms, ranking = _ranking([PackedWords.unpacked(document.words) for document in documents], starts)
        size = sum(array.nbytes for array in (vectors, embedded, starts)) + _TERM_BYTES * len(terms)
        size += sum(ranking.scores[name].nbytes for name in ("data", "indices", "indptr"))
        size += sum(len(document.words) for document in documents)
        return cls(version, kept, starts, vectors, embedded, terms, ranking, size)

    def __len__(self) -> int:
        """The number of passages."""
        return len(self.vectors)

    def of_documents(self, document_ids: Sequence[str]) -> Rows:
        """Returns the passages of those of the documents that are here."""
        wanted = set(document_ids)
        parts = [
            np.arange(first, first + document.chunk_count)
            for document, first in zip(self.documents, self.starts, strict=False)
            if document.document_id in wanted
        ]
        return np.concatenate(parts) if parts else np.empty(0, dtype=np.intp)

    def holding(self, words: Sequence[str], inside: Rows | None) -> Rows:
        """Returns the passages that hold all of the words, of which there is at least one, in any of their forms."""
        every, _ = self._held(_terms_of(words), inside)
        return np.flatnonzero(every)

    def chunk_ids(self, rows: Rows) -> list[str]:
        """Returns the ids of passages."""
        return [chunk_id(self.documents[document].document_id, ordinal) for document, ordinal in self._places(rows)]

    def search(self, query: IndexQuery) -> IndexAnswer:
        """Finds passages. Slow for the event loop: run it in a thread. It uses one thread."""
        near = self._near(query) if query.near is None else query.near
        words, telling = _terms_of(query.words), _terms_of(query.telling)
        worded, all_words, every, counts = self._worded(query, words, telling)
        numbered = self._numbered(query)
        rows = np.array(list(dict.fromkeys([*near.tolist(), *worded.tolist(), *numbered.tolist()])), dtype=np.intp)
        similarities = np.clip(self._similarities(query.vector, rows), 0.0, 1.0).tolist()
        lexical = {
            row: LexicalHit(rank, holds)
            for rank, (row, holds) in enumerate(zip(worded.tolist(), all_words.tolist(), strict=True))
        }
        found = [
            SearchCandidate(
                self.documents[d].document_id,
                self.documents[d].filename,
                ordinal,
                similarity,
                hit,
                None,
                held,
                held / len(telling) if held else 0.0,
            )
            for (d, ordinal), similarity, hit, held in zip(
                self._places(rows), similarities, map(lexical.get, rows.tolist()), counts[rows].tolist(), strict=True
            )
        ]
        least_near = min(similarities[: len(near)], default=0.0)
        known = any(word in self.terms for word in words)
        return IndexAnswer(found, self._matching(every), len(near), len(worded), len(numbered), least_near, known)

    def with_nearest(self, queries: Sequence[IndexQuery]) -> list[IndexQuery]:
        """Returns the queries with the passages `near` to each, which are those that it would find by itself. For all
        queries that look anywhere the vectors are read from memory once, so that several take half the time for each.
        Slow for the event loop, too, and it uses one thread."""
        anywhere = [query.near is None and query.inside is None for query in queries]
        if not any(anywhere):
            return list(queries)
        asked = [query.vector for query, is_anywhere in zip(queries, anywhere, strict=True) if is_anywhere]
        similarities = iter(np.vecdot(self.vectors[:, np.newaxis], asked).T)
        rows = np.flatnonzero(self.embedded)
        return [
            replace(query, near=_best(rows, next(similarities)[rows], query.limit)) if is_anywhere else query
            for query, is_anywhere in zip(queries, anywhere, strict=True)
        ]

    def _near(self, query: IndexQuery) -> Rows:
        rows = np.flatnonzero(self.embedded) if query.inside is None else query.inside[self.embedded[query.inside]]
        return _best(rows, self._similarities(query.vector, rows), query.limit)

    def _similarities(self, vector: Vectors, rows: Rows) -> Vectors:
        """The cosines of the passages. A product over rows, unlike `@`, takes one thread, and a third of the time."""
        if len(rows) > len(self.vectors) // 2:  # to copy so many takes longer than to compare all
            every: Vectors = np.vecdot(self.vectors, vector)
            return every[rows]
        some: Vectors = np.vecdot(self.vectors[rows], vector)
        return some

    def _worded(
        self, query: IndexQuery, words: Sequence[str], telling: Sequence[str]
    ) -> tuple[Rows, NDArray[np.bool_], NDArray[np.bool_], Counts]:
        """Returns the best passages by their words, whether each holds all words, all that do, and how many of the
        telling words each passage of the matter holds."""
        _, counts = self._held(telling, query.inside)
        every, _ = self._held(words, query.inside)
        numbers = [self.terms[term] for term in telling if term in self.terms]
        rows = np.flatnonzero(counts)
        if not numbers or not len(rows):
            return rows[:0], every[:0], every, counts
        rows = _best(rows, self.ranking.get_scores_from_ids(numbers)[rows], query.limit)
        return rows, every[rows], every, counts

    def _numbered(self, query: IndexQuery) -> Rows:
        if not query.clauses:
            return np.empty(0, dtype=np.intp)
        _, itself = self._held([clause_term(levels) for levels in query.clauses], query.inside)
        _, below = self._held([below_term(levels) for levels in query.clauses], query.inside)
        only_below = np.flatnonzero((below > 0) & (itself == 0))
        return np.concatenate([np.flatnonzero(itself), only_below])[: query.clause_limit]

    def _held(self, terms: Sequence[str], inside: Rows | None) -> tuple[NDArray[np.bool_], Counts]:
        """Returns which passages hold all of the terms, of which there must be one, and how many each holds."""
        count = np.zeros(len(self.vectors), dtype=np.uint16)
        scores = self.ranking.scores
        for term in terms:
            if (number := self.terms.get(term)) is not None:
                count[scores["indices"][scores["indptr"][number] : scores["indptr"][number + 1]]] += 1
        if inside is not None:
            outside = np.ones(len(count), dtype=np.bool_)
            outside[inside] = False
            count[outside] = 0
        return (count == len(terms)) & (count > 0), count

    def _matching(self, every: NDArray[np.bool_]) -> Sequence[DocumentHits]:
        passages = np.bincount(self._documents_of(np.flatnonzero(every)), minlength=len(self.documents))
        order = np.argsort(-passages, kind="stable")[: np.count_nonzero(passages)]
        return [
            DocumentHits(self.documents[d].document_id, self.documents[d].filename, int(passages[d])) for d in order
        ]

    def _places(self, rows: Rows) -> list[tuple[int, int]]:
        """Returns the document of each passage, and the passage's ordinal in it."""
        documents = self._documents_of(rows)
        return list(zip(documents.tolist(), (rows - self.starts[documents]).tolist(), strict=True))

    def _documents_of(self, rows: Rows) -> Rows:
        return np.searchsorted(self.starts, rows, side="right") - 1


def _terms_of(words: Sequence[str]) -> list[str]:
    terms = SearchTerms()
    return list(dict.fromkeys(terms.of_word(word) for word in words))


def _best(rows: Rows, scores: Vectors, limit: int) -> Rows:
    """Returns at most `limit` of the rows, best first; equal ones in their order, which is that of `rows`."""
    if len(rows) > limit:
        least = np.partition(scores, len(scores) - limit)[len(scores) - limit]
        is_kept = scores >= least
        rows, scores = rows[is_kept], scores[is_kept]
    return rows[np.argsort(-scores, kind="stable")][:limit]


def _ranking(parts: Sequence[PackedWords], starts: Rows) -> tuple[dict[str, int], "BM25"]:
    """Returns the numbers of all terms, and the ranking by them, whose statistics are those of these documents alone.

    The postings of each document are ready; they are only put in their places, term by term. bm25s gives the weights
    and adds them up; its own way of counting words takes seconds for a large matter."""
    from bm25s import BM25, scoring

    terms: dict[str, int] = {}
    numbers = [np.array([terms.setdefault(term, len(terms)) for term in part.terms], dtype=np.intp) for part in parts]
    frequency = np.zeros(len(terms), dtype=np.int64)
    for part, mine in zip(parts, numbers, strict=True):
        frequency[mine] += part.counts
    ends = np.concatenate([[0], np.cumsum(frequency)])
    next_place = ends[:-1].copy()
    rows = np.empty(ends[-1], dtype=np.int32)
    counts = np.empty(ends[-1], dtype=np.float32)
    for part, mine, first in zip(parts, numbers, starts, strict=False):
        sizes = part.counts.astype(np.int64)
        before = np.cumsum(sizes) - sizes
        places = np.repeat(next_place[mine] - before, sizes) + np.arange(len(part.ordinals))
        rows[places] = part.ordinals + int(first)
        counts[places] = part.frequencies
        next_place[mine] += sizes
    lengths = np.concatenate([np.empty(0, dtype=np.float32), *(part.lengths.astype(np.float32) for part in parts)])
    ranking = BM25(k1=K1, b=B, method=METHOD)
    rarity_of = scoring._select_idf_scorer(METHOD)
    distinct, which = np.unique(frequency, return_inverse=True)
    rarity = np.array([rarity_of(int(one), len(lengths)) for one in distinct], dtype=np.float32)[which]
    weight_of = scoring._select_tfc_scorer(METHOD)
    weights = np.repeat(rarity, frequency) * weight_of(
        counts, lengths[rows], lengths.mean() if len(lengths) else 1, K1, B
    )
    ranking.scores = {"data": weights, "indices": rows, "indptr": ends, "num_docs": len(lengths)}
    ranking.nonoccurrence_array = None
    return terms, ranking
