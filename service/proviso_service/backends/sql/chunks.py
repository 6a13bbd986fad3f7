"""Rows of chunks and of their vectors: search by words and clause numbers, and exact search by vectors."""

import json
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from sqlalchemy import ColumnElement, Connection, FromClause, Row, Select, func, select

from proviso_service.backends.sql.database import Store, across_tenants, reading
from proviso_service.backends.sql.fulltext import all_words, any_clause, any_clause_or_below, any_word, found, holds
from proviso_service.backends.sql.tables import chunks, documents, embeddings, matters, outlines
from proviso_service.matters import (
    DocumentHits,
    DocumentStatus,
    LexicalHit,
    Outline,
    StoredChunk,
    VectorHit,
    VectorRecord,
)
from proviso_service.models import Vectors
from proviso_service.reading import Chunk, significant_words, telling_words

HASHES_PER_QUERY = 500
DOCUMENTS_PER_QUERY = 500
ROWS_SCORED = 2_000
"""The vectors that an exact search holds in memory at a time."""

_JOINED = documents.join(matters).join(chunks).join(embeddings)

_POSITION = (documents.c.upload_time, documents.c.document_id, chunks.c.ordinal)


class ChunkRows(Store):
    """The methods of MatterStore for chunks and full-text search."""

    @reading
    def chunks(self, transaction: Connection, tenant: str, chunk_ids: Sequence[str]) -> Sequence[StoredChunk]:
        query = (
            select(chunks, documents.c.filename)
            .join_from(chunks, documents)
            .where(chunks.c.tenant == tenant, chunks.c.chunk_id.in_(chunk_ids), _is_ready())
        )
        rows = transaction.execute(query).all()
        stored = {row.chunk_id: _stored_chunk(row) for row in rows}
        return [stored[chunk_id] for chunk_id in chunk_ids if chunk_id in stored]

    @reading
    def outlines(self, transaction: Connection, tenant: str, document_ids: Sequence[str]) -> Mapping[str, Outline]:
        query = (
            select(outlines.c.document_id, outlines.c.headings, outlines.c.pages)
            .join_from(outlines, documents)
            .where(outlines.c.tenant == tenant, outlines.c.document_id.in_(document_ids), _is_ready())
        )
        return {row.document_id: Outline(row.headings, row.pages) for row in transaction.execute(query)}

    @reading
    def neighbours(self, transaction: Connection, tenant: str, stored: StoredChunk) -> tuple[str, str]:
        before, after = stored.chunk.ordinal - 1, stored.chunk.ordinal + 1
        query = (
            select(chunks.c.ordinal, chunks.c.text)
            .join_from(chunks, documents)
            .where(
                chunks.c.tenant == tenant,
                chunks.c.document_id == stored.document_id,
                chunks.c.ordinal.in_([before, after]),
                _is_ready(),
            )
        )
        texts = {row.ordinal: row.text for row in transaction.execute(query)}
        return texts.get(before, ""), texts.get(after, "")

    @reading
    def search_words(
        self,
        transaction: Connection,
        tenant: str,
        matter_id: str,
        query: str,
        limit: int,
        document_ids: Sequence[str] = (),
        phrases: Sequence[str] = (),
    ) -> Sequence[LexicalHit]:
        words = significant_words(query)
        if not words and not phrases:
            return []
        # The index holds chunks of READY documents only, so without a filter every hit is kept, and the best ones are
        # enough. Twice as many as wanted are taken, so that hits of equal rank can be ordered by position.
        best = None if document_ids or phrases else 2 * limit
        hits = found(any_word(tenant, matter_id, telling_words(words), phrases), best)
        complete = holds(chunks.c.row_id, all_words(tenant, matter_id, words, phrases))
        statement = (
            select(chunks.c.chunk_id, complete.label("all_terms"))
            .select_from(_with_chunks(hits))
            .where(*_ready_chunks_of(tenant, matter_id, document_ids), *_holds_phrases(phrases))
            # The order of hits of equal rank must not depend on which document was ingested first.
            .order_by(hits.c.rank, *_POSITION)
            .limit(limit)
        )
        rows = transaction.execute(statement).all()
        return [LexicalHit(row.chunk_id, rank, bool(row.all_terms)) for rank, row in enumerate(rows)]

    @reading
    def search_clauses(
        self,
        transaction: Connection,
        tenant: str,
        matter_id: str,
        numbers: Sequence[Sequence[str]],
        limit: int,
        document_ids: Sequence[str] = (),
    ) -> Sequence[str]:
        if not numbers:
            return []
        hits = found(any_clause_or_below(tenant, matter_id, numbers))
        itself = holds(chunks.c.row_id, any_clause(tenant, matter_id, numbers))
        statement = (
            select(chunks.c.chunk_id)
            .select_from(_with_chunks(hits))
            .where(*_ready_chunks_of(tenant, matter_id, document_ids))
            .order_by(itself.desc(), *_POSITION)
            .limit(limit)
        )
        return transaction.execute(statement).scalars().all()

    @reading
    def documents_matching(
        self,
        transaction: Connection,
        tenant: str,
        matter_id: str,
        query: str,
        document_ids: Sequence[str] = (),
        phrases: Sequence[str] = (),
    ) -> Sequence[DocumentHits]:
        words = significant_words(query)
        if not words and not phrases:
            return []
        hits = found(all_words(tenant, matter_id, words, phrases))
        passages = func.count().label("passages")
        statement: Select[Any] = (
            select(documents.c.document_id, documents.c.filename, passages)
            .select_from(_with_chunks(hits))
            .where(*_ready_chunks_of(tenant, matter_id, document_ids), *_holds_phrases(phrases))
            .group_by(documents.c.document_id, documents.c.filename, documents.c.upload_time)
            .order_by(passages.desc(), documents.c.upload_time, documents.c.document_id)
        )
        rows = transaction.execute(statement).all()
        return [DocumentHits(row.document_id, row.filename, row.passages) for row in rows]


class EmbeddingRows(Store):
    """The methods of MatterStore for embeddings; it is also the VectorSource from which the vector index is built."""

    @reading
    def known_embeddings(
        self, transaction: Connection, tenant: str, model_id: str, content_sha256: Sequence[str]
    ) -> Mapping[str, Vectors]:
        known: dict[str, Vectors] = {}
        for start in range(0, len(content_sha256), HASHES_PER_QUERY):
            query = select(embeddings.c.content_sha256, embeddings.c.vector).where(
                embeddings.c.tenant == tenant,
                embeddings.c.model_id == model_id,
                embeddings.c.content_sha256.in_(content_sha256[start : start + HASHES_PER_QUERY]),
            )
            known |= {sha256: _vector(packed) for sha256, packed in transaction.execute(query)}
        return known

    @reading
    def nearest_chunks(
        self,
        transaction: Connection,
        tenant: str,
        matter_id: str,
        model_id: str,
        vector: Vectors,
        limit: int,
        document_ids: Sequence[str] = (),
    ) -> Sequence[VectorHit]:
        ready = list(_chunk_counts(transaction, tenant, matter_id, document_ids))
        query = select(chunks.c.chunk_id, embeddings.c.vector).select_from(_JOINED)
        query = query.where(documents.c.tenant == tenant, *_ready_with_model(model_id)).execution_options(
            yield_per=ROWS_SCORED
        )
        best: list[tuple[float, str]] = []
        for start in range(0, len(ready), DOCUMENTS_PER_QUERY):
            some = documents.c.document_id.in_(ready[start : start + DOCUMENTS_PER_QUERY])
            for rows in transaction.execute(query.where(some)).partitions():
                scored = [*best, *_nearest_rows(rows, vector, limit)]
                best = sorted(scored, key=lambda hit: (-hit[0], hit[1]))[:limit]
        return [VectorHit(chunk_id, similarity) for similarity, chunk_id in best]

    @reading
    def count_vectors(
        self, transaction: Connection, tenant: str, matter_id: str, document_ids: Sequence[str] = ()
    ) -> int:
        query = select(func.coalesce(func.sum(documents.c.chunk_count), 0)).where(*_ready_documents(tenant, matter_id))
        if document_ids:
            query = query.where(documents.c.document_id.in_(document_ids))
        return int(transaction.execute(query).scalar_one())

    @reading
    @across_tenants
    def indexed_matters(self, transaction: Connection, model_id: str) -> Mapping[tuple[str, str], int]:
        query = (
            select(documents.c.tenant, documents.c.matter_id, func.count())
            .select_from(documents.join(matters).join(chunks))
            .where(documents.c.status == DocumentStatus.READY, chunks.c.model_id == model_id, ~matters.c.deleted)
            .group_by(documents.c.tenant, documents.c.matter_id)
        )
        return {(tenant, matter_id): count for tenant, matter_id, count in transaction.execute(query)}

    async def matter_vectors(
        self, tenant: str, matter_id: str, model_id: str, batch_size: int
    ) -> AsyncIterator[Sequence[VectorRecord]]:
        # Each batch is read in a transaction of its own, so that none is open while the caller works on it.
        for ids, first in _batches(await self._counts(tenant, matter_id), batch_size):
            part = chunks.c.ordinal.between(first, first + batch_size - 1)
            if records := await self._vectors(tenant, model_id, documents.c.document_id.in_(ids), part):
                yield records

    async def vectors_of_chunks(self, tenant: str, model_id: str, chunk_ids: Sequence[str]) -> Sequence[VectorRecord]:
        return await self._vectors(tenant, model_id, chunks.c.chunk_id.in_(chunk_ids))

    @reading
    def unclaimed_chunks(
        self, transaction: Connection, tenant: str, model_id: str, document_of: Mapping[str, str]
    ) -> Sequence[str]:
        status = select(documents.c.document_id, documents.c.status).where(
            documents.c.tenant == tenant, documents.c.document_id.in_(set(document_of.values()))
        )
        final = {document_id: found.is_final for document_id, found in transaction.execute(status)}
        ready = select(chunks.c.chunk_id).select_from(documents.join(matters).join(chunks))
        ready = ready.where(
            chunks.c.tenant == tenant, chunks.c.chunk_id.in_(list(document_of)), *_ready_with_model(model_id)
        )
        claimed = set(transaction.execute(ready).scalars())
        return [
            chunk_id
            for chunk_id, document_id in document_of.items()
            if chunk_id not in claimed and final.get(document_id, True)
        ]

    @reading
    def unfinished(self, transaction: Connection, tenant: str, document_ids: Sequence[str]) -> Sequence[str]:
        query = select(documents.c.document_id).where(
            documents.c.tenant == tenant,
            documents.c.document_id.in_(document_ids),
            documents.c.status.not_in((DocumentStatus.READY, DocumentStatus.FAILED)),
        )
        return transaction.execute(query).scalars().all()

    @reading
    def _counts(self, transaction: Connection, tenant: str, matter_id: str) -> Mapping[str, int]:
        return _chunk_counts(transaction, tenant, matter_id)

    @reading
    def _vectors(
        self, transaction: Connection, tenant: str, model_id: str, *conditions: ColumnElement[bool]
    ) -> list[VectorRecord]:
        query = (
            select(chunks.c.chunk_id, documents.c.matter_id, documents.c.document_id, embeddings.c.vector)
            .select_from(_JOINED)
            .where(documents.c.tenant == tenant, *_ready_with_model(model_id), *conditions)
        )
        return [VectorRecord(*row[:3], _vector(row.vector)) for row in transaction.execute(query)]


def _with_chunks(hits: FromClause) -> FromClause:
    return hits.join(chunks, chunks.c.row_id == hits.c.row_id).join(documents)


def _ready_chunks_of(tenant: str, matter_id: str, document_ids: Sequence[str]) -> list[ColumnElement[bool]]:
    conditions = [documents.c.tenant == tenant, documents.c.matter_id == matter_id, _is_ready()]
    if document_ids:
        conditions.append(documents.c.document_id.in_(document_ids))
    return conditions


def _holds_phrases(phrases: Sequence[str]) -> list[ColumnElement[bool]]:
    """The condition that a chunk's text holds the exact phrases; the index knows only the stems of their words."""
    return [func.holds_phrases(chunks.c.text, json.dumps(phrases)) == 1] if phrases else []


def _is_ready() -> ColumnElement[bool]:
    return documents.c.status == DocumentStatus.READY


def _stored_chunk(row: Row[Any]) -> StoredChunk:
    chunk = Chunk(
        row.ordinal, row.start_offset, row.end_offset, row.text, row.page, row.section_path, row.clause_numbers
    )
    return StoredChunk(row.chunk_id, row.document_id, row.filename, chunk)


def _ready_with_model(model_id: str) -> tuple[ColumnElement[bool], ...]:
    # `coalesce` keeps the planner from using the index by model, with which it would visit every chunk of the tenant.
    of_model = func.coalesce(chunks.c.model_id, "") == model_id
    return (documents.c.status == DocumentStatus.READY, ~matters.c.deleted, of_model)


def _ready_documents(tenant: str, matter_id: str) -> tuple[ColumnElement[bool], ...]:
    return (
        documents.c.tenant == tenant,
        documents.c.matter_id == matter_id,
        documents.c.status == DocumentStatus.READY,
    )


def _chunk_counts(
    transaction: Connection, tenant: str, matter_id: str, document_ids: Sequence[str] = ()
) -> Mapping[str, int]:
    """The number of chunks of each READY document of the matter, or of those given."""
    query = select(documents.c.document_id, documents.c.chunk_count).where(*_ready_documents(tenant, matter_id))
    wanted = set(document_ids)
    return {
        document_id: count for document_id, count in transaction.execute(query) if not wanted or document_id in wanted
    }


def _batches(counts: Mapping[str, int], size: int) -> Iterator[tuple[list[str], int]]:
    """Divides documents into batches of at most `size` chunks. Each batch is its documents and the ordinal of its first
    chunk: 0, unless a document is longer than `size` and has several batches of its own."""
    together: list[str] = []
    room = size
    for document_id, count in counts.items():
        if count > size:
            yield from (([document_id], first) for first in range(0, count, size))
            continue
        if count > room:
            yield together, 0
            together, room = [], size
        together.append(document_id)
        room -= count
    if together:
        yield together, 0


def _nearest_rows(rows: Sequence[Row[Any, Any]], vector: Vectors, limit: int) -> list[tuple[float, str]]:
    values = np.frombuffer(b"".join(packed for _, packed in rows), dtype="<f4")
    similarities = values.reshape(len(rows), -1) @ vector
    return [(float(similarities[row]), rows[row].chunk_id) for row in np.argsort(-similarities)[:limit]]


def _vector(packed: bytes) -> Vectors:
    return np.frombuffer(packed, dtype="<f4").astype(np.float32, copy=False)
