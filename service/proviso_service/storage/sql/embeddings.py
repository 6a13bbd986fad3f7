"""Vectors by the text they belong to, and by chunk."""

from collections.abc import AsyncIterator, Mapping, Sequence
from itertools import groupby
from typing import Any

import numpy as np
from sqlalchemy import Connection, Row, Select, select

from proviso_service.matters.model import DocumentStatus
from proviso_service.matters.ports import VectorRecord
from proviso_service.models.ports import Vectors
from proviso_service.storage.sql.database import Store, reading
from proviso_service.storage.sql.tables import chunks, documents, embeddings

HASHES_PER_QUERY = 500


class EmbeddingRows(Store):
    """Embeddings of the MatterStore port."""

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

    async def all_vectors(self, model_id: str, batch_size: int) -> AsyncIterator[tuple[str, Sequence[VectorRecord]]]:
        last = 0
        # No transaction is held while the caller works on a batch.
        while rows := await self._batch_after(last, model_id, batch_size):
            last = rows[-1].row_id
            for tenant, group in groupby(sorted(rows, key=lambda row: row.tenant), key=lambda row: row.tenant):
                yield (
                    tenant,
                    [VectorRecord(row.chunk_id, row.matter_id, row.document_id, _vector(row.vector)) for row in group],
                )

    @reading
    def _batch_after(self, transaction: Connection, row_id: int, model_id: str, size: int) -> Sequence[Row[Any]]:
        return transaction.execute(_vectors_after(row_id, model_id, size)).all()


def _vectors_after(row_id: int, model_id: str, limit: int) -> Select[Any]:
    return (
        select(
            chunks.c.row_id,
            chunks.c.tenant,
            chunks.c.chunk_id,
            chunks.c.document_id,
            documents.c.matter_id,
            embeddings.c.vector,
        )
        .select_from(chunks.join(documents).join(embeddings))
        .where(
            chunks.c.row_id > row_id,
            chunks.c.model_id == model_id,
            documents.c.status == DocumentStatus.READY,
        )
        .order_by(chunks.c.row_id)
        .limit(limit)
    )


def _vector(packed: bytes) -> Vectors:
    return np.frombuffer(packed, dtype="<f4").astype(np.float32, copy=False)
