"""Chunks of READY documents: by id, beside one another, and by their words."""

import json
from collections.abc import Sequence
from typing import Any

from sqlalchemy import ColumnElement, Connection, FromClause, Row, Select, func, select

from proviso_service.backends.sql.database import Store, reading
from proviso_service.backends.sql.fulltext import all_words, any_clause, any_clause_or_below, any_word, found, holds
from proviso_service.backends.sql.tables import chunks, documents
from proviso_service.matters.model import DocumentHits, DocumentStatus, StoredChunk
from proviso_service.matters.ports import LexicalHit
from proviso_service.reading.model import Chunk
from proviso_service.reading.words import significant_words, telling_words

_POSITION = (documents.c.upload_time, documents.c.document_id, chunks.c.ordinal)


class ChunkRows(Store):
    """Chunks and full text of the MatterStore port."""

    @reading
    def chunks(self, transaction: Connection, tenant: str, chunk_ids: Sequence[str]) -> Sequence[StoredChunk]:
        query = (
            select(chunks, documents.c.filename)
            .join_from(chunks, documents)
            .where(chunks.c.tenant == tenant, chunks.c.chunk_id.in_(chunk_ids), _ready())
        )
        rows = transaction.execute(query).all()
        stored = {row.chunk_id: _stored(row) for row in rows}
        return [stored[chunk_id] for chunk_id in chunk_ids if chunk_id in stored]

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
                _ready(),
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
        # Without a filter nothing that is found is dropped below: the index holds chunks of READY documents only. Twice
        # as many as wanted, so that an order of equals by position has room.
        best = None if document_ids or phrases else 2 * limit
        hits = found(any_word(tenant, matter_id, telling_words(words), phrases), best)
        complete = holds(chunks.c.row_id, all_words(tenant, matter_id, words, phrases))
        statement = (
            select(chunks.c.chunk_id, complete.label("all_terms"))
            .select_from(_with_chunks(hits))
            .where(*_within(tenant, matter_id, document_ids), *_holding(phrases))
            # Where ranks are equal the order must not depend on which document was ingested first.
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
            .where(*_within(tenant, matter_id, document_ids))
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
            .where(*_within(tenant, matter_id, document_ids), *_holding(phrases))
            .group_by(documents.c.document_id, documents.c.filename, documents.c.upload_time)
            .order_by(passages.desc(), documents.c.upload_time, documents.c.document_id)
        )
        rows = transaction.execute(statement).all()
        return [DocumentHits(row.document_id, row.filename, row.passages) for row in rows]


def _with_chunks(hits: FromClause) -> FromClause:
    return hits.join(chunks, chunks.c.row_id == hits.c.row_id).join(documents)


def _within(tenant: str, matter_id: str, document_ids: Sequence[str]) -> list[ColumnElement[bool]]:
    conditions = [documents.c.tenant == tenant, documents.c.matter_id == matter_id, _ready()]
    if document_ids:
        conditions.append(documents.c.document_id.in_(document_ids))
    return conditions


def _holding(phrases: Sequence[str]) -> list[ColumnElement[bool]]:
    """The index knows stems and no marks: whether the very phrases are there is told by the text."""
    return [func.holds_phrases(chunks.c.text, json.dumps(phrases)) == 1] if phrases else []


def _ready() -> ColumnElement[bool]:
    return documents.c.status == DocumentStatus.READY


def _stored(row: Row[Any]) -> StoredChunk:
    chunk = Chunk(
        row.ordinal, row.start_offset, row.end_offset, row.text, row.page, row.section_path, row.clause_numbers
    )
    return StoredChunk(row.chunk_id, row.document_id, row.filename, chunk)
