"""Scores of statements on documents: each passage is judged once for each statement, whoever asks, however often."""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from weakref import WeakValueDictionary

import numpy as np

from proviso_service.analysis.ports import ScoresByStatement, ScoreStore
from proviso_service.analysis.score_cache import ScoreCache, ScoreKey
from proviso_service.errors import DocumentNotFound
from proviso_service.matters.model import Document
from proviso_service.models.ports import Classifier, Scores

PASSAGES_AT_ONCE = 512
"""Passages read, scored and saved together: a long document's memory, and what is lost when its scoring is stopped."""


class Scorer:
    """Looks in memory, then in the store, and asks the classifier for the rest. `embedding_model_id` names the vectors
    that passages are given."""

    def __init__(
        self,
        classifier: Classifier,
        store: ScoreStore,
        cache: ScoreCache,
        embedding_model_id: str,
        max_kept_statements: int,
    ) -> None:
        self._classifier = classifier
        self._store = store
        self._cache = cache
        self._embedding_model_id = embedding_model_id
        self._max_kept_statements = max_kept_statements
        self._locks: WeakValueDictionary[tuple[str, str], asyncio.Lock] = WeakValueDictionary()

    @property
    def model_id(self) -> str:
        return self._classifier.model_id

    async def known(
        self, tenant: str, documents: Sequence[Document], statements: Sequence[str]
    ) -> Mapping[str, ScoresByStatement]:
        """By id, those of the documents of which every statement has been scored on every chunk."""
        found = {document.document_id: self._cached(document, statements) for document in documents}
        missing = [d for d in documents if len(found[d.document_id]) < len(statements)]
        if missing:
            ids = [document.document_id for document in missing]
            stored = await self._store.known_scores(tenant, self.model_id, ids, statements)
            for document in missing:
                known = _complete(document, stored.get(document.document_id, {}))
                self._keep(document, known)
                found[document.document_id] |= known
        return {document_id: scores for document_id, scores in found.items() if len(scores) == len(statements)}

    async def score(self, document: Document, statements: Sequence[str]) -> ScoresByStatement:
        """Of a READY document. What was scored is kept also when this is cancelled. Raises DocumentNotFound when it is
        deleted meanwhile, and what the classifier raises."""
        lock = self._locks.setdefault((document.tenant, document.document_id), asyncio.Lock())
        async with lock:
            found = self._cached(document, statements)
            missing = [statement for statement in statements if statement not in found]
            if missing:
                new = await self._stored_or_shared(document, missing)
                await self._fill(document, new)
                self._keep(document, new)
                found |= new
            return found

    def _cached(self, document: Document, statements: Sequence[str]) -> dict[str, Scores]:
        cached = ((statement, self._cache.get(self._key(document, statement))) for statement in statements)
        return {statement: scores for statement, scores in cached if scores is not None}

    def _keep(self, document: Document, scores: ScoresByStatement) -> None:
        for statement, values in scores.items():
            self._cache.put(self._key(document, statement), values)

    def _key(self, document: Document, statement: str) -> ScoreKey:
        return ScoreKey(document.tenant, self.model_id, document.document_id, statement)

    async def _stored_or_shared(self, document: Document, statements: Sequence[str]) -> dict[str, Scores]:
        """What the store has, from this document or from others; NaN for the rest."""
        known = await self._store.known_scores(document.tenant, self.model_id, [document.document_id], statements)
        stored = known.get(document.document_id, {})
        scores = {s: _of_length(document, stored.get(s)) for s in statements}
        if unknown := [s for s in statements if np.isnan(scores[s]).all()]:
            shared = await self._store.shared_scores(document.tenant, self.model_id, document, unknown)
            scores |= {statement: _of_length(document, shared.get(statement)) for statement in unknown}
            await self._save(document, {s: scores[s] for s in unknown if not np.isnan(scores[s]).all()})
        return scores

    async def _fill(self, document: Document, scores: ScoresByStatement) -> None:
        """Has the classifier score what is NaN, in place."""
        for part in _parts(document.chunk_count):
            gaps = {s: np.flatnonzero(np.isnan(values[part])) for s, values in scores.items()}
            gaps = {statement: ordinals for statement, ordinals in gaps.items() if len(ordinals)}
            if gaps:
                await self._fill_part(document, part, gaps, scores)
                await self._save(document, {statement: scores[statement] for statement in gaps})

    async def _fill_part(
        self, document: Document, part: slice, gaps: Mapping[str, np.ndarray], scores: ScoresByStatement
    ) -> None:
        passages = await self._store.passages(
            document.tenant, document.document_id, self._embedding_model_id, part.start, part.stop - part.start
        )
        if len(passages) != part.stop - part.start:
            raise DocumentNotFound(document.document_id)
        for statement, ordinals in gaps.items():
            values = await self._classifier.score(statement, [passages[ordinal] for ordinal in ordinals])
            if values.shape != ordinals.shape or not ((values >= 0) & (values <= 1)).all():
                raise ValueError("a classifier gives one score within 0 and 1 for each passage")
            scores[statement][part.start + ordinals] = values

    async def _save(self, document: Document, scores: ScoresByStatement) -> None:
        if scores:
            await self._store.save_scores(
                document.tenant, self.model_id, document.document_id, scores, self._max_kept_statements
            )


def _parts(count: int) -> Iterator[slice]:
    return (slice(start, min(start + PASSAGES_AT_ONCE, count)) for start in range(0, count, PASSAGES_AT_ONCE))


def _complete(document: Document, scores: ScoresByStatement) -> dict[str, Scores]:
    return {
        statement: values
        for statement, values in scores.items()
        if len(values) == document.chunk_count and not np.isnan(values).any()
    }


def _of_length(document: Document, scores: Scores | None) -> Scores:
    if scores is None or len(scores) != document.chunk_count:
        return np.full(document.chunk_count, np.nan, dtype=np.float32)
    return scores
