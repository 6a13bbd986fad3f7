"""Rows of chunks, and the packed rows from which matters are loaded to be searched."""

import asyncio
import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from sqlalchemy import (
    ColumnElement,
    Connection,
    Integer,
    Row,
    Select,
    Text,
    and_,
    bindparam,
    delete,
    exists,
    func,
    select,
    update,
)

from proviso_service.backends.sql.contents import packed_vectors
from proviso_service.backends.sql.database import Store, growing, reading, writing
from proviso_service.backends.sql.dialects import JsonTexts, insert
from proviso_service.backends.sql.documents import bump_index_version
from proviso_service.backends.sql.prepared import Prepared
from proviso_service.backends.sql.tables import (
    chunks,
    document_vectors,
    documents,
    matters,
    outlines,
    packed_documents,
)
from proviso_service.errors import MatterNotFound
from proviso_service.matters import Document, DocumentStatus, Outline, PackedDocument, PackedWords, StoredChunk
from proviso_service.models import Vectors
from proviso_service.reading import Chunk

VALUES_PER_QUERY = 500

VECTOR_BYTES = func.length(document_vectors.c.vectors, type_=Integer) // func.nullif(
    documents.c.chunk_count, 0, type_=Integer
)
"""The size of one of the vectors of a READY document."""


OPENING_CHARS = 2_500
"""The chunks that begin in so much of its text are the opening of a document: title, date, parties and recitals."""

OPENING_CHUNKS = 16


class ChunkRows(Store):
    """The methods of MatterStore for chunks."""

    @reading
    def chunks(self, transaction: Connection, tenant: str, chunk_ids: Sequence[str]) -> Sequence[StoredChunk]:
        ready = select(chunks, documents.c.filename).join_from(chunks, documents).where(_is_ready())
        stored: dict[str, StoredChunk] = {}
        for some in _slices(chunk_ids):
            rows = transaction.execute(ready.where(chunks.c.tenant == tenant, chunks.c.chunk_id.in_(some)))
            stored |= {row.chunk_id: _stored_chunk(row) for row in rows}
        return [stored[chunk_id] for chunk_id in chunk_ids if chunk_id in stored]

    @reading
    def texts_of_chunks(self, transaction: Connection, tenant: str, chunk_ids: Sequence[str]) -> Mapping[str, str]:
        return dict(_TEXTS.rows(transaction, {"of_tenant": tenant, "ids": json.dumps(chunk_ids)}))

    @reading
    def outlines(self, transaction: Connection, tenant: str, document_ids: Sequence[str]) -> Mapping[str, Outline]:
        query = (
            select(outlines.c.document_id, outlines.c.headings, outlines.c.pages)
            .join_from(outlines, documents)
            .where(outlines.c.tenant == tenant, outlines.c.document_id.in_(document_ids), _is_ready())
        )
        return {row.document_id: Outline(row.headings, row.pages) for row in transaction.execute(query)}

    @reading
    def openings(self, transaction: Connection, tenant: str, matter_id: str) -> Mapping[str, str]:
        query = (
            select(chunks.c.document_id, chunks.c.text)
            .join_from(chunks, documents)
            .where(
                chunks.c.tenant == tenant,
                documents.c.matter_id == matter_id,
                chunks.c.ordinal < OPENING_CHUNKS,
                chunks.c.start_offset < OPENING_CHARS,
                _is_ready(),
            )
            .order_by(chunks.c.document_id, chunks.c.ordinal)
        )
        found: dict[str, str] = {}
        for row in transaction.execute(query):
            found[row.document_id] = f"{found.get(row.document_id, '')}\n\n{row.text}".lstrip()
        return found

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
    def known_embeddings(
        self, transaction: Connection, tenant: str, model_id: str, content_sha256: Sequence[str]
    ) -> Mapping[str, Vectors]:
        vector = func.substr(document_vectors.c.vectors, chunks.c.ordinal * VECTOR_BYTES + 1, VECTOR_BYTES)
        embedded = chunks.join(documents).join(document_vectors, embedded_by(model_id))
        first = select(func.min(chunks.c.chunk_id)).select_from(embedded).group_by(chunks.c.content_sha256)
        stored = select(chunks.c.content_sha256, vector).select_from(embedded).where(chunks.c.tenant == tenant)
        known: dict[str, Vectors] = {}
        for some in _slices(content_sha256):
            one_each = (
                transaction.execute(first.where(chunks.c.tenant == tenant, chunks.c.content_sha256.in_(some)))
                .scalars()
                .all()
            )
            rows = transaction.execute(stored.where(chunks.c.chunk_id.in_(one_each))) if one_each else ()
            known |= {sha256: unpacked_vectors(packed, 1)[0] for sha256, packed in rows}
        return known


class PackedRows(Store):
    """The rows from which MatterIndex is made: an IndexSource. They are rows of documents like all others, and go with
    their document."""

    @reading
    def packed_documents(
        self, transaction: Connection, tenant: str, matter_id: str, model_id: str, known: Mapping[str, PackedDocument]
    ) -> tuple[int, Sequence[PackedDocument]]:
        version = select(matters.c.index_version).where(
            matters.c.tenant == tenant, matters.c.matter_id == matter_id, ~matters.c.deleted
        )
        at = transaction.execute(version).scalar_one_or_none()
        if at is None:
            raise MatterNotFound(matter_id)
        here = (documents.c.tenant == tenant, documents.c.matter_id == matter_id, _is_ready())
        listed = select(documents.c.document_id, documents.c.filename, documents.c.chunk_count).where(*here)
        found = transaction.execute(listed.order_by(documents.c.upload_time, documents.c.document_id)).all()
        rows = {row.document_id: row for row in found}
        new = [document_id for document_id in rows if document_id not in known or not known[document_id].is_whole]
        contents = (
            select(packed_documents.c.document_id, packed_documents.c.words, document_vectors.c.vectors)
            .select_from(packed_documents.join(documents, IS_PACKED).outerjoin(document_vectors, embedded_by(model_id)))
            .where(packed_documents.c.tenant == tenant)
        )
        packed: dict[str, PackedDocument] = {}
        for some in _slices(new):
            for row in transaction.execute(contents.where(packed_documents.c.document_id.in_(some))):
                vectors = unpacked_vectors(row.vectors or b"", rows[row.document_id].chunk_count if row.vectors else 0)
                packed[row.document_id] = PackedDocument(
                    row.document_id,
                    rows[row.document_id].filename,
                    rows[row.document_id].chunk_count,
                    row.words,
                    vectors,
                )
        every = {**known, **packed}
        return at, [every[document_id] for document_id in rows if document_id in every]

    async def pack_again(self, tenant: str, document_id: str) -> None:
        words = await asyncio.to_thread(PackedWords.of, await self._chunks_of(tenant, document_id))
        await self._write_words(tenant, document_id, words.packed())

    @reading
    def chunks_not_embedded(
        self, transaction: Connection, tenant: str, document_id: str, model_id: str
    ) -> Sequence[Chunk]:
        mine = (document_vectors.c.document_id == chunks.c.document_id, document_vectors.c.tenant == chunks.c.tenant)
        here = (chunks.c.tenant == tenant, chunks.c.document_id == document_id)
        query = select(chunks).where(*here, ~exists().where(*mine, document_vectors.c.model_id == model_id))
        return [_chunk(row) for row in transaction.execute(query.order_by(chunks.c.ordinal))]

    async def keep_vectors(self, document: Document, model_id: str, vectors: Vectors) -> None:
        await self._write_vectors(document, model_id, await asyncio.to_thread(packed_vectors, vectors))

    @growing
    def _write_vectors(self, transaction: Connection, document: Document, model_id: str, packed: bytes) -> None:
        here = {"tenant": document.tenant, "document_id": document.document_id}
        mine = (documents.c.tenant == document.tenant, documents.c.document_id == document.document_id)
        if transaction.execute(select(documents.c.document_id).where(*mine, _is_ready())).one_or_none():
            row = insert(document_vectors).values(here | {"model_id": model_id, "vectors": packed})
            transaction.execute(row.on_conflict_do_nothing())
            bump_index_version(transaction, document.tenant, document.matter_id)

    @writing
    def forget_other_vectors(self, transaction: Connection, tenant: str, document_id: str, model_id: str) -> None:
        others = (document_vectors.c.tenant == tenant, document_vectors.c.document_id == document_id)
        transaction.execute(delete(document_vectors).where(*others, document_vectors.c.model_id != model_id))

    @reading
    def _chunks_of(self, transaction: Connection, tenant: str, document_id: str) -> Sequence[Chunk]:
        mine = (chunks.c.tenant == tenant, chunks.c.document_id == document_id)
        return [_chunk(row) for row in transaction.execute(select(chunks).where(*mine).order_by(chunks.c.ordinal))]

    @writing
    def _write_words(self, transaction: Connection, tenant: str, document_id: str, words: bytes) -> None:
        this = (packed_documents.c.tenant == tenant, packed_documents.c.document_id == document_id)
        transaction.execute(update(packed_documents).where(*this).values(words=words))


def unpacked_vectors(packed: bytes, count: int) -> Vectors:
    """The vectors of a packed row, or of a part of it, with one row for each of `count` chunks."""
    return (
        np.frombuffer(packed, dtype="<f4").astype(np.float32, copy=False).reshape(count, -1) if count else _NO_VECTORS
    )


_NO_VECTORS: Vectors = np.empty((0, 0), dtype=np.float32)


IS_PACKED = and_(
    packed_documents.c.tenant == documents.c.tenant, packed_documents.c.document_id == documents.c.document_id
)


def embedded_by(model_id: str) -> ColumnElement[bool]:
    """Joins documents with the vectors that a model made of them."""
    return and_(
        document_vectors.c.tenant == documents.c.tenant,
        document_vectors.c.document_id == documents.c.document_id,
        document_vectors.c.model_id == model_id,
    )


def _slices(values: Sequence[str]) -> list[Sequence[str]]:
    return [values[start : start + VALUES_PER_QUERY] for start in range(0, len(values), VALUES_PER_QUERY)]


def _is_ready() -> ColumnElement[bool]:
    return documents.c.status == DocumentStatus.READY


def chunks_by_id(*columns: ColumnElement[Any]) -> Select[Any]:
    """Selects the chunks of the tenant `of_tenant` whose ids `ids` holds, a list as JSON: thousands of parameters would
    take longer to write than the rows take to be read."""
    is_listed = chunks.c.chunk_id.op("IN", is_comparison=True)(JsonTexts(bindparam("ids", type_=Text)))
    return select(*columns).where(chunks.c.tenant == bindparam("of_tenant"), is_listed)


_TEXTS = Prepared(chunks_by_id(chunks.c.chunk_id, chunks.c.text).join_from(chunks, documents).where(_is_ready()))


def _stored_chunk(row: Row[Any]) -> StoredChunk:
    return StoredChunk(row.chunk_id, row.document_id, row.filename, _chunk(row))


def _chunk(row: Row[Any]) -> Chunk:
    return Chunk(
        row.ordinal, row.start_offset, row.end_offset, row.text, row.page, row.section_path, row.clause_numbers
    )
