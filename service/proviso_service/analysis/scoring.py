"""Scores statements on documents: each passage is judged once for each statement, whoever asks and however often."""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AsyncExitStack
from functools import partial
from weakref import WeakValueDictionary

import numpy as np

from proviso_service.analysis.scores import ScoreCache, ScoreKey, ScoresByStatement, ScoreStore
from proviso_service.concurrency import all_of
from proviso_service.errors import DocumentNotFound, StorageFailed
from proviso_service.matters import Document
from proviso_service.models import Classifier, ModelPassage, Scores

PASSAGES_AT_ONCE = 512
"""So many passages are read, scored and saved together. It bounds the memory that a long document takes, and what is
lost when its scoring is stopped."""

STATEMENTS_AT_ONCE = 4
"""A classifier is asked about so many statements at once, for each batch of documents."""

Filled = dict[str, dict[str, Scores]]
"""Scores by document and statement; NaN where there is no score yet."""


class Scorer:
    """Looks for scores in memory, then in the store, and asks the classifier for the rest. `embedding_model_id` names
    the vectors that passages are given."""

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
        """Returns, by id, the scores of those documents of which every statement has been scored on every chunk."""
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

    async def others_are_scored(self, tenant: str, documents: Sequence[Document], statements: Sequence[str]) -> bool:
        """Tells whether the statements have been scored on other documents, so that equal passages may be known."""
        ids = {document.document_id for document in documents}
        scored = await self._store.scored_documents(tenant, self.model_id, statements, len(ids) + 1)
        return not ids.issuperset(scored)

    async def score(
        self, documents: Sequence[Document], statements: Sequence[str], *, look_elsewhere: bool = True
    ) -> Mapping[str, ScoresByStatement]:
        """Returns scores by document id. The documents are READY and of one tenant: either one of any length, or
        several with at most PASSAGES_AT_ONCE chunks together. With `look_elsewhere`, it takes over what other documents
        know about equal passages. What was scored is kept even when this is cancelled. Raises DocumentNotFound when a
        document is deleted meanwhile, and what the classifier raises."""
        async with AsyncExitStack() as held:
            for document in sorted(documents, key=lambda document: document.document_id):
                key = (document.tenant, document.document_id)
                await held.enter_async_context(self._locks.setdefault(key, asyncio.Lock()))
            found = {document.document_id: self._cached(document, statements) for document in documents}
            missing = [d for d in documents if len(found[d.document_id]) < len(statements)]
            if missing:
                await self._score(missing, statements, found, look_elsewhere=look_elsewhere)
            return found

    async def _score(
        self, documents: Sequence[Document], statements: Sequence[str], found: Filled, *, look_elsewhere: bool
    ) -> None:
        """Adds to `found` the scores that are missing in it."""
        wanted = {d.document_id: [s for s in statements if s not in found[d.document_id]] for d in documents}
        new = await self._stored(documents, wanted)
        if look_elsewhere:
            for document in documents:
                await self._take_over(document, new[document.document_id])
        await self._fill(documents, new)
        for document in documents:
            self._keep(document, new[document.document_id])
            found[document.document_id] |= new[document.document_id]

    def _cached(self, document: Document, statements: Sequence[str]) -> dict[str, Scores]:
        cached = ((statement, self._cache.get(self._key(document, statement))) for statement in statements)
        return {statement: scores for statement, scores in cached if scores is not None}

    def _keep(self, document: Document, scores: ScoresByStatement) -> None:
        for statement, values in scores.items():
            self._cache.put(self._key(document, statement), values)

    def _key(self, document: Document, statement: str) -> ScoreKey:
        return ScoreKey(document.tenant, self.model_id, document.document_id, statement)

    async def _stored(self, documents: Sequence[Document], wanted: Mapping[str, Sequence[str]]) -> Filled:
        """Returns what the store has of these documents."""
        statements = list(dict.fromkeys(statement for some in wanted.values() for statement in some))
        known = await self._store.known_scores(documents[0].tenant, self.model_id, list(wanted), statements)
        stored = {d.document_id: known.get(d.document_id, {}) for d in documents}
        return {
            d.document_id: {s: _of_length(d, stored[d.document_id].get(s)) for s in wanted[d.document_id]}
            for d in documents
        }

    async def _take_over(self, document: Document, scores: dict[str, Scores]) -> None:
        """Takes over what other documents know, for statements of which nothing is known yet."""
        unknown = [statement for statement, values in scores.items() if np.isnan(values).all()]
        if not unknown:
            return
        shared = await self._store.shared_scores(document.tenant, self.model_id, document, unknown)
        scores |= {statement: _of_length(document, shared.get(statement)) for statement in unknown}
        taken = {s: scores[s] for s in unknown if not np.isnan(scores[s]).all()}
        if taken:
            await self._save(document.tenant, {document.document_id: taken})

    async def _fill(self, documents: Sequence[Document], scores: Filled) -> None:
        """Has the classifier score, in place, whatever is NaN."""
        longest = max(document.chunk_count for document in documents)
        for first in range(0, longest, PASSAGES_AT_ONCE):
            part = slice(first, first + PASSAGES_AT_ONCE)
            gaps = _gaps(scores, part)
            if gaps:
                await self._fill_part(documents, part, gaps, scores)
                changed = {(document_id, s) for s, ordinals in gaps.items() for document_id in ordinals}
                await self._save(
                    documents[0].tenant,
                    {
                        document_id: {s: values for s, values in of_document.items() if (document_id, s) in changed}
                        for document_id, of_document in scores.items()
                    },
                )

    async def _fill_part(
        self,
        documents: Sequence[Document],
        part: slice,
        gaps: Mapping[str, Mapping[str, np.ndarray]],
        scores: Filled,
    ) -> None:
        passages = await self._passages(documents, part)
        work = (partial(self._fill_statement, s, ordinals, passages, part, scores) for s, ordinals in gaps.items())
        await all_of(work, at_once=STATEMENTS_AT_ONCE)

    async def _fill_statement(
        self,
        statement: str,
        gaps: Mapping[str, np.ndarray],
        passages: Mapping[str, Sequence[ModelPassage]],
        part: slice,
        scores: Filled,
    ) -> None:
        asked = [passages[document_id][ordinal] for document_id, ordinals in gaps.items() for ordinal in ordinals]
        values = await self._classifier.score(statement, asked)
        if values.shape != (len(asked),) or not ((values >= 0) & (values <= 1)).all():
            raise ValueError("a classifier gives one score within 0 and 1 for each passage")
        start = 0
        for document_id, ordinals in gaps.items():
            scores[document_id][statement][part.start + ordinals] = values[start : start + len(ordinals)]
            start += len(ordinals)

    async def _passages(self, documents: Sequence[Document], part: slice) -> Mapping[str, Sequence[ModelPassage]]:
        ids = [document.document_id for document in documents]
        found = await self._store.passages(
            documents[0].tenant, ids, self._embedding_model_id, part.start, part.stop - part.start
        )
        for document in documents:
            expected = len(range(document.chunk_count)[part])
            if len(found.get(document.document_id, ())) != expected:
                raise DocumentNotFound(document.document_id)
        return found

    async def _save(self, tenant: str, scores: Mapping[str, ScoresByStatement]) -> None:
        """Saves the scores. Where the storage fails, the answer does without: scores are kept to save time only."""
        changed = {document_id: some for document_id, some in scores.items() if some}
        try:
            saved = await self._store.save_scores(tenant, self.model_id, changed, self._max_kept_statements)
        except StorageFailed:
            return
        for document_id in changed.keys() - set(saved):
            raise DocumentNotFound(document_id)


def _gaps(scores: Filled, part: slice) -> dict[str, dict[str, np.ndarray]]:
    """Returns, by statement and document, the places in the part that have no score yet."""
    gaps: dict[str, dict[str, np.ndarray]] = {}
    for document_id, statement, values in _each(scores):
        missing = np.flatnonzero(np.isnan(values[part]))
        if len(missing):
            gaps.setdefault(statement, {})[document_id] = missing
    return gaps


def _each(scores: Filled) -> Iterator[tuple[str, str, Scores]]:
    for document_id, of_document in scores.items():
        for statement, values in of_document.items():
            yield document_id, statement, values


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
