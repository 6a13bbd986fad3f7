"""Rows of batches: the texts of large documents that processes embed together."""

import json
import zlib
from collections.abc import Sequence
from datetime import timedelta

import numpy as np
from sqlalchemy import ColumnElement, Connection, delete, func, select, update

from proviso_service.backends.sql.claims import NOBODY
from proviso_service.backends.sql.database import Store, across_tenants, reading, writing
from proviso_service.backends.sql.dialects import insert
from proviso_service.backends.sql.documents import lock_document
from proviso_service.backends.sql.tables import embedding_batches as batches
from proviso_service.matters import Document, EmbeddingBatch
from proviso_service.models import Vectors


class BatchRows(Store):
    """The methods of MatterStore for batches of texts."""

    @writing
    def share_batches(self, transaction: Connection, document: Document, texts: Sequence[Sequence[str]]) -> None:
        lock_document(transaction, document)
        transaction.execute(delete(batches).where(*_of(document)))
        of_document = {"tenant": document.tenant, "document_id": document.document_id, "owner": NOBODY}
        now = self._database.now()
        for number, some in enumerate(texts):
            packed = zlib.compress(json.dumps(some).encode(), 1)
            row = of_document | {"number": number, "texts": packed, "lease_expire_time": now}
            transaction.execute(insert(batches).values(row))

    @writing
    @across_tenants
    def claim_batch(
        self, transaction: Connection, owner: str, lease_s: float, document: Document | None = None
    ) -> EmbeddingBatch | None:
        now = self._database.now()
        free = batches.c.vectors.is_(None), (batches.c.owner == NOBODY) | (batches.c.lease_expire_time <= now)
        query = select(batches).where(*free, *(_of(document) if document else ()))
        # The first batch of each document before the second of any, so that none waits for the whole of another.
        query = query.order_by(batches.c.number, batches.c.lease_expire_time).limit(1)
        row = transaction.execute(query.with_for_update(skip_locked=True)).one_or_none()
        if row is None:
            return None
        claimed = EmbeddingBatch(row.tenant, row.document_id, row.number, tuple(json.loads(zlib.decompress(row.texts))))
        until = now + timedelta(seconds=lease_s)
        transaction.execute(update(batches).where(*_is(claimed)).values(owner=owner, lease_expire_time=until))
        return claimed

    @writing
    @across_tenants
    def finish_batch(self, transaction: Connection, batch: EmbeddingBatch, vectors: Vectors | None) -> None:
        made = None if vectors is None else np.ascontiguousarray(vectors, dtype="<f4").tobytes()
        transaction.execute(update(batches).where(*_is(batch)).values(owner=NOBODY, vectors=made))

    @reading
    def unfinished_batches(self, transaction: Connection, document: Document) -> int:
        missing = select(func.count()).select_from(batches).where(*_of(document), batches.c.vectors.is_(None))
        return int(transaction.execute(missing).scalar_one())

    @reading
    def finished_batches(self, transaction: Connection, document: Document) -> Sequence[bytes]:
        query = select(batches.c.vectors).where(*_of(document)).order_by(batches.c.number)
        return list(transaction.execute(query).scalars())


def _of(document: Document) -> tuple[ColumnElement[bool], ...]:
    return batches.c.tenant == document.tenant, batches.c.document_id == document.document_id


def _is(batch: EmbeddingBatch) -> tuple[ColumnElement[bool], ...]:
    of_document = batches.c.tenant == batch.tenant, batches.c.document_id == batch.document_id
    return *of_document, batches.c.number == batch.number
