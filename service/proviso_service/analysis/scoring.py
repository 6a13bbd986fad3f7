"""Scores statements on documents: each passage is judged once for each statement, whoever asks and however often."""

import asyncio
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, suppress
from functools import partial
from weakref import WeakValueDictionary

import numpy as np
from numpy.typing import NDArray

from proviso_service.analysis.party_names import PartyNames
from proviso_service.analysis.scores import ScoreCache, ScoreKey, ScoresByStatement, ScoreStore
from proviso_service.concurrency import all_of
from proviso_service.errors import DocumentNotFound, StorageFailed
from proviso_service.matters import Document
from proviso_service.models import Classifier, ModelPassage, ReadingClassifier, ReadPassages, Scores

PASSAGES_AT_ONCE = 512
"""So many passages are read, scored and saved together. It bounds the memory that a long document takes, and what is
lost when its scoring is stopped."""

READ_PASSAGES_AT_ONCE = 4_096
"""As many, for a classifier that has read them before: it takes about a tenth of a second for a statement."""

STATEMENTS_AT_ONCE = 4
"""A classifier is asked about so many statements at once, for each batch of documents."""

Filled = dict[str, dict[str, Scores]]
"""Scores by document and statement; NaN where there is no score yet."""

Wanted = Mapping[str, Sequence[str]]
"""The statements that are to be scored, by document."""

Gaps = dict[str, dict[str, NDArray[np.intp]]]
"""By statement and document, the places in a part of the passages that have no score yet."""


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
        self.party_names = PartyNames(store)
        self._reader = classifier if isinstance(classifier, ReadingClassifier) else None
        self._locks: WeakValueDictionary[tuple[str, str], asyncio.Lock] = WeakValueDictionary()

    @property
    def model_id(self) -> str:
        return self._classifier.model_id

    @property
    def passages_at_once(self) -> int:
        """So many passages are best scored together."""
        return READ_PASSAGES_AT_ONCE if self._reader else PASSAGES_AT_ONCE

    async def known(
        self, tenant: str, documents: Sequence[Document], wanted: Wanted
    ) -> Mapping[str, ScoresByStatement]:
        """Returns, by id, the scores of those documents of which every statement has been scored on every chunk."""
        found = {document.document_id: self._cached(document, wanted) for document in documents}
        missing = _unfinished(documents, found, wanted)
        if missing:
            ids = [document.document_id for document in missing]
            stored = await self._store.known_scores(tenant, self.model_id, ids, _statements(missing, wanted))
            for document in missing:
                known = _complete(document, stored.get(document.document_id, {}))
                self._keep(document, known)
                found[document.document_id] |= known
        unfinished = {document.document_id for document in _unfinished(documents, found, wanted)}
        return {document_id: scores for document_id, scores in found.items() if document_id not in unfinished}

    async def others_are_scored(self, tenant: str, documents: Sequence[Document], statements: Sequence[str]) -> bool:
        """Tells whether the statements have been scored on other documents, so that equal passages may be known. For
        statements that are judged by what was read before, looking for them would take longer than judging."""
        statements = self._by_texts(statements)
        if not statements:
            return False
        ids = {document.document_id for document in documents}
        scored = await self._store.scored_documents(tenant, self.model_id, statements, len(ids) + 1)
        return not ids.issuperset(scored)

    async def score(
        self, documents: Sequence[Document], wanted: Wanted, *, look_elsewhere: bool = True
    ) -> Mapping[str, ScoresByStatement]:
        """Returns scores by document id. The documents are READY and of one tenant: either one of any length, or
        several with at most PASSAGES_AT_ONCE chunks together. With `look_elsewhere`, it takes over what other documents
        know about equal passages. What was scored is kept even when this is cancelled. Raises DocumentNotFound when a
        document is deleted meanwhile, and what the classifier raises."""
        async with AsyncExitStack() as held:
            for document in sorted(documents, key=lambda document: document.document_id):
                key = (document.tenant, document.document_id)
                await held.enter_async_context(self._locks.setdefault(key, asyncio.Lock()))
            found = {document.document_id: self._cached(document, wanted) for document in documents}
            missing = _unfinished(documents, found, wanted)
            if missing:
                await self._score(missing, wanted, found, look_elsewhere=look_elsewhere)
            return found

    async def _score(
        self, documents: Sequence[Document], wanted: Wanted, found: Filled, *, look_elsewhere: bool
    ) -> None:
        """Adds to `found` the scores that are missing in it."""
        ids = [document.document_id for document in documents]
        new = await self._stored(documents, {one: [s for s in wanted[one] if s not in found[one]] for one in ids})
        if look_elsewhere:
            for document in documents:
                await self._take_over(document, new[document.document_id])
        await self._fill(documents, new)
        for document in documents:
            self._keep(document, new[document.document_id])
            found[document.document_id] |= new[document.document_id]

    def _cached(self, document: Document, wanted: Wanted) -> dict[str, Scores]:
        cached = ((one, self._cache.get(self._key(document, one))) for one in wanted[document.document_id])
        return {statement: scores for statement, scores in cached if scores is not None}

    def _keep(self, document: Document, scores: ScoresByStatement) -> None:
        for statement, values in scores.items():
            self._cache.put(self._key(document, statement), values)

    def _key(self, document: Document, statement: str) -> ScoreKey:
        return ScoreKey(document.tenant, self.model_id, document.document_id, statement)

    async def _stored(self, documents: Sequence[Document], wanted: Wanted) -> Filled:
        """Returns what the store has of these documents."""
        statements = _statements(documents, wanted)
        known = await self._store.known_scores(documents[0].tenant, self.model_id, list(wanted), statements)
        stored = {d.document_id: known.get(d.document_id, {}) for d in documents}
        return {
            d.document_id: {s: _of_length(d, stored[d.document_id].get(s)) for s in wanted[d.document_id]}
            for d in documents
        }

    async def _take_over(self, document: Document, scores: dict[str, Scores]) -> None:
        """Takes over what other documents know, for statements of which nothing is known yet."""
        unknown = [statement for statement in self._by_texts(scores) if np.isnan(scores[statement]).all()]
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
        for first in range(0, longest, self.passages_at_once):
            part = slice(first, first + self.passages_at_once)
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

    async def _fill_part(self, documents: Sequence[Document], part: slice, gaps: Gaps, scores: Filled) -> None:
        by_texts = set(self._by_texts(gaps))
        read = {statement: ordinals for statement, ordinals in gaps.items() if statement not in by_texts}
        left = await self._fill_read(self._reader, documents, part, read, scores) if self._reader and read else {}
        left |= {statement: ordinals for statement, ordinals in gaps.items() if statement in by_texts}
        if left:
            asked = {document_id for ordinals in left.values() for document_id in ordinals}
            passages = await self._passages([d for d in documents if d.document_id in asked], part)
            work = (partial(self._fill_statement, s, ordinals, passages, part, scores) for s, ordinals in left.items())
            await all_of(work, at_once=STATEMENTS_AT_ONCE)

    def _by_texts(self, statements: Iterable[str]) -> Sequence[str]:
        """Returns the statements that are judged by the texts of passages, and not by what was read in them."""
        return [one for one in statements if not self._reader or self._reader.needs_texts(one)]

    async def _fill_read(
        self, reader: ReadingClassifier, documents: Sequence[Document], part: slice, gaps: Gaps, scores: Filled
    ) -> Gaps:
        """Has passages judged by what was read in them. Returns the gaps in documents without vectors that fit."""
        asked = {document_id for ordinals in gaps.values() for document_id in ordinals}
        read = await self._read(reader, [d for d in documents if d.document_id in asked], part)
        together: dict[tuple[str, ...], list[str]] = {}  # statements by the documents in which they have gaps
        for statement, ordinals in gaps.items():
            together.setdefault(tuple(one for one in ordinals if one in read), []).append(statement)
        for document_ids, statements in together.items():
            if document_ids:
                parts = [read[document_id] for document_id in document_ids]
                found = await reader.score_read(statements, parts)
                ends = np.cumsum([len(one.words) for one in parts])
                for statement, values in zip(statements, found, strict=True):
                    _check(values, int(ends[-1]))
                    for document_id, some in zip(document_ids, np.split(values, ends[:-1]), strict=True):
                        scores[document_id][statement][part] = some
        left = {s: {one: where for one, where in ordinals.items() if one not in read} for s, ordinals in gaps.items()}
        return {statement: ordinals for statement, ordinals in left.items() if ordinals}

    async def _read(
        self, reader: ReadingClassifier, documents: Sequence[Document], part: slice
    ) -> Mapping[str, ReadPassages]:
        """Returns what was read in the documents that have vectors that fit. A document that came in before there was
        this way of reading is read now."""
        tenant, ids = documents[0].tenant, [document.document_id for document in documents]
        bounds = (reader.words_id, self._embedding_model_id, part.start, part.stop - part.start)
        read = await self._store.read_passages(tenant, ids, *bounds)
        unread = [document for document in documents if document.document_id not in read]
        for document in unread:
            passages = await self._passages([document], slice(0, document.chunk_count))
            words = await asyncio.to_thread(reader.read, passages[document.document_id])
            with suppress(StorageFailed):
                await self._store.keep_words(tenant, document.document_id, reader.words_id, words)
        if unread:
            ids = [document.document_id for document in unread]
            read = {**read, **await self._store.read_passages(tenant, ids, *bounds)}
        return {document_id: one for document_id, one in read.items() if len(one.words) == len(one.vectors)}

    async def _fill_statement(
        self,
        statement: str,
        gaps: Mapping[str, NDArray[np.intp]],
        passages: Mapping[str, Sequence[ModelPassage]],
        part: slice,
        scores: Filled,
    ) -> None:
        asked = [passages[document_id][ordinal] for document_id, ordinals in gaps.items() for ordinal in ordinals]
        values = await self._classifier.score(statement, asked)
        _check(values, len(asked))
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


def _check(values: Scores, count: int) -> None:
    if values.shape != (count,) or not ((values >= 0) & (values <= 1)).all():
        raise ValueError("a classifier gives one score within 0 and 1 for each passage")


def _statements(documents: Sequence[Document], wanted: Wanted) -> list[str]:
    """Returns all statements that are wanted of the documents, each once."""
    return list(dict.fromkeys(statement for document in documents for statement in wanted[document.document_id]))


def _unfinished(
    documents: Sequence[Document], found: Mapping[str, ScoresByStatement], wanted: Wanted
) -> list[Document]:
    """Returns the documents of which not every statement is found."""
    return [d for d in documents if not found[d.document_id].keys() >= set(wanted[d.document_id])]


def _gaps(scores: Filled, part: slice) -> Gaps:
    gaps: Gaps = {}
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
