"""Vectors by the text they belong to, by chunk, by matter; and the exact search over them."""

from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from sqlalchemy import ColumnElement, Connection, Row, func, select, tuple_

from proviso_service.matters.model import DocumentStatus
from proviso_service.matters.ports import VectorHit, VectorRecord
from proviso_service.models.ports import Vectors
from proviso_service.storage.sql.database import Store, reading
from proviso_service.storage.sql.tables import chunks, documents, embeddings

HASHES_PER_QUERY = 500
DOCUMENTS_PER_QUERY = 500
ROWS_SCORED = 2_000
"""Vectors held at once by an exact search."""

_JOINED = documents.join(chunks).join(embeddings)


class EmbeddingRows(Store):
    """Embeddings of the MatterStore port; the VectorSource port."""

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
        query = select(chunks.c.chunk_id, embeddings.c.vector).select_from(_JOINED)
        query = query.where(*_of_matter(tenant, matter_id, model_id))
        if document_ids:
            query = query.where(documents.c.document_id.in_(document_ids))
        best: list[tuple[float, str]] = []
        for rows in transaction.execute(query.execution_options(yield_per=ROWS_SCORED)).partitions():
            best = sorted([*best, *_nearest(rows, vector, limit)], key=lambda scored: (-scored[0], scored[1]))[:limit]
        return [VectorHit(chunk_id, similarity) for similarity, chunk_id in best]

    @reading
    def indexed_matters(self, transaction: Connection, model_id: str) -> Mapping[tuple[str, str], int]:
        query = (
            select(documents.c.tenant, documents.c.matter_id, func.count())
            .select_from(documents.join(chunks))
            .where(documents.c.status == DocumentStatus.READY, chunks.c.model_id == model_id)
            .group_by(documents.c.tenant, documents.c.matter_id)
        )
        return {(tenant, matter_id): count for tenant, matter_id, count in transaction.execute(query)}

    async def matter_vectors(
        self, tenant: str, matter_id: str, model_id: str, batch_size: int
    ) -> AsyncIterator[Sequence[VectorRecord]]:
        # No transaction is held while the caller works on a batch.
        for ids, first in _batches(await self._chunk_counts(tenant, matter_id), batch_size):
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
        ready = select(chunks.c.chunk_id).select_from(chunks.join(documents))
        ready = ready.where(chunks.c.tenant == tenant, chunks.c.chunk_id.in_(list(document_of)), *_ready(model_id))
        claimed = set(transaction.execute(ready).scalars())
        return [
            chunk_id
            for chunk_id, document_id in document_of.items()
            if chunk_id not in claimed and final.get(document_id, True)
        ]

    @reading
    def unfinished(self, transaction: Connection, documents_asked: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
        found: list[tuple[str, str]] = []
        for start in range(0, len(documents_asked), DOCUMENTS_PER_QUERY):
            asked = documents_asked[start : start + DOCUMENTS_PER_QUERY]
            query = select(documents.c.tenant, documents.c.document_id).where(
                tuple_(documents.c.tenant, documents.c.document_id).in_(asked),
                documents.c.status.not_in((DocumentStatus.READY, DocumentStatus.FAILED)),
            )
            found += [(tenant, document_id) for tenant, document_id in transaction.execute(query)]
        return found

    @reading
    def _chunk_counts(self, transaction: Connection, tenant: str, matter_id: str) -> Mapping[str, int]:
        query = select(documents.c.document_id, documents.c.chunk_count).where(
            documents.c.tenant == tenant,
            documents.c.matter_id == matter_id,
            documents.c.status == DocumentStatus.READY,
        )
        return {row.document_id: row.chunk_count for row in transaction.execute(query)}

    @reading
    def _vectors(
        self, transaction: Connection, tenant: str, model_id: str, *conditions: ColumnElement[bool]
    ) -> list[VectorRecord]:
        query = (
            select(chunks.c.chunk_id, documents.c.matter_id, documents.c.document_id, embeddings.c.vector)
            .select_from(_JOINED)
            .where(documents.c.tenant == tenant, *_ready(model_id), *conditions)
        )
        return [VectorRecord(*row[:3], _vector(row.vector)) for row in transaction.execute(query)]


def _ready(model_id: str) -> tuple[ColumnElement[bool], ...]:
    return (documents.c.status == DocumentStatus.READY, chunks.c.model_id == model_id)


def _of_matter(tenant: str, matter_id: str, model_id: str) -> tuple[ColumnElement[bool], ...]:
    return (documents.c.tenant == tenant, documents.c.matter_id == matter_id, *_ready(model_id))


def _batches(counts: Mapping[str, int], size: int) -> Iterator[tuple[list[str], int]]:
    """Documents of together at most `size` chunks, and the ordinal from which on they are meant: a longer document
    comes in several batches of its own."""
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


def _nearest(rows: Sequence[Row[Any, Any]], vector: Vectors, limit: int) -> list[tuple[float, str]]:
    packed = np.frombuffer(b"".join(row.vector for row in rows), dtype="<f4")
    similarities = packed.reshape(len(rows), -1) @ vector
    best = np.argsort(-similarities)[:limit]
    return [(float(similarities[row]), rows[row].chunk_id) for row in best]


def _vector(packed: bytes) -> Vectors:
    return np.frombuffer(packed, dtype="<f4").astype(np.float32, copy=False)
