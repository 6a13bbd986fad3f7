"""Rows of chunks, and the packed rows from which matters are loaded to be searched."""

import asyncio
import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from sqlalchemy import ColumnElement, Connection, Integer, Row, Select, Text, and_, bindparam, func, select, update

from proviso_service.backends.sql.database import Store, reading, writing
from proviso_service.backends.sql.dialects import JsonTexts
from proviso_service.backends.sql.prepared import Prepared
from proviso_service.backends.sql.tables import chunks, documents, matters, outlines, packed_documents
from proviso_service.errors import MatterNotFound
from proviso_service.matters import DocumentStatus, Outline, PackedDocument, PackedWords, StoredChunk
from proviso_service.models import Vectors
from proviso_service.reading import Chunk

VALUES_PER_QUERY = 500

VECTOR_BYTES = func.length(packed_documents.c.vectors, type_=Integer) // func.nullif(
    documents.c.chunk_count, 0, type_=Integer
)
"""The size of one vector in a packed row of a READY document."""


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
        of_model = (chunks.c.tenant == tenant, chunks.c.model_id == model_id)
        vector = func.substr(packed_documents.c.vectors, chunks.c.ordinal * VECTOR_BYTES + 1, VECTOR_BYTES)
        stored = select(chunks.c.content_sha256, vector).select_from(
            chunks.join(documents).join(packed_documents, IS_PACKED)
        )
        known: dict[str, Vectors] = {}
        for some in _slices(content_sha256):
            first = select(func.min(chunks.c.chunk_id)).where(*of_model, chunks.c.content_sha256.in_(some))
            one_each = transaction.execute(first.group_by(chunks.c.content_sha256)).scalars().all()
            rows = transaction.execute(stored.where(*of_model, chunks.c.chunk_id.in_(one_each))) if one_each else ()
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
        new = [document_id for document_id in rows if document_id not in known]
        contents = select(packed_documents).where(packed_documents.c.tenant == tenant)
        packed: dict[str, PackedDocument] = {}
        for some in _slices(new):
            for row in transaction.execute(contents.where(packed_documents.c.document_id.in_(some))):
                count = rows[row.document_id].chunk_count if row.model_id == model_id else 0
                vectors = unpacked_vectors(row.vectors if count else b"", count)
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
