"""SqlScoreStore keeps the scores of statements on documents, and reads chunks in the form that a classifier needs."""

import hashlib
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from sqlalchemy import (
    ColumnElement,
    Connection,
    FromClause,
    and_,
    bindparam,
    delete,
    exists,
    func,
    select,
)

from proviso_service.analysis.scores import ScoresByStatement
from proviso_service.backends.sql.database import growing, reading
from proviso_service.backends.sql.dialects import insert
from proviso_service.backends.sql.passages import PassageRows
from proviso_service.backends.sql.tables import chunks, documents, statement_scores
from proviso_service.matters import Document, DocumentStatus
from proviso_service.models import Scores

DOCUMENTS_PER_QUERY = 500
SHARING_DOCUMENTS = 16
"""The most documents whose scores a new document takes over: those that have the most passages in common with it."""

MAX_EQUAL_PASSAGES = 10_000
"""The most pairs of equal passages that are counted to find those documents: a standard clause may stand in thousands
of documents."""


class SqlScoreStore(PassageRows):
    """A ScoreStore in a Database."""

    @reading
    def known_scores(
        self,
        transaction: Connection,
        tenant: str,
        model_id: str,
        document_ids: Sequence[str],
        statements: Sequence[str],
    ) -> Mapping[str, ScoresByStatement]:
        return _known_scores(transaction, tenant, model_id, document_ids, statements)

    @reading
    def shared_scores(
        self, transaction: Connection, tenant: str, model_id: str, document: Document, statements: Sequence[str]
    ) -> ScoresByStatement:
        others = _most_similar(transaction, tenant, model_id, document.document_id, statements)
        if not others:
            return {}
        known = _known_scores(transaction, tenant, model_id, others, statements)
        shared = {s: np.full(document.chunk_count, np.nan, dtype=np.float32) for s in statements}
        for mine, other_id, theirs in _equal_passages(transaction, tenant, document.document_id, others):
            for statement, scores in known[other_id].items():
                if np.isnan(shared[statement][mine]):
                    shared[statement][mine] = scores[theirs]
        return shared

    @reading
    def scored_documents(
        self, transaction: Connection, tenant: str, model_id: str, statements: Sequence[str], limit: int
    ) -> Sequence[str]:
        query = (
            select(statement_scores.c.document_id)
            .distinct()
            .where(
                statement_scores.c.tenant == tenant,
                statement_scores.c.model_id == model_id,
                statement_scores.c.statement_sha256.in_([_hash(statement) for statement in statements]),
            )
            .limit(limit)
        )
        return transaction.execute(query).scalars().all()

    @growing
    def save_scores(
        self,
        transaction: Connection,
        tenant: str,
        model_id: str,
        scores: Mapping[str, ScoresByStatement],
        max_statements: int,
    ) -> Sequence[str]:
        is_ready = (
            documents.c.tenant == tenant,
            documents.c.document_id.in_(list(scores)),
            documents.c.status == DocumentStatus.READY,
        )
        ready = transaction.execute(select(documents.c.document_id).where(*is_ready)).scalars().all()
        rows = [
            {
                "tenant": tenant,
                "document_id": document_id,
                "model_id": model_id,
                "statement_sha256": _hash(statement),
                "scored": int(np.count_nonzero(~np.isnan(values))),
                "scores": values.astype("<f4").tobytes(),
            }
            for document_id in ready
            for statement, values in scores[document_id].items()
        ]
        if rows:
            _replace(transaction, tenant, model_id, rows)
            _prune(transaction, tenant, ready, max_statements)
        return ready

    @reading
    def count_scores(
        self, transaction: Connection, tenant: str, matter_id: str, model_id: str, statements: Sequence[str]
    ) -> int:
        query = (
            select(func.coalesce(func.sum(statement_scores.c.scored), 0))
            .join_from(documents, statement_scores)
            .where(
                documents.c.tenant == tenant,
                documents.c.matter_id == matter_id,
                documents.c.status == DocumentStatus.READY,
                statement_scores.c.model_id == model_id,
                statement_scores.c.statement_sha256.in_([_hash(statement) for statement in statements]),
            )
        )
        return int(transaction.execute(query).scalar_one())


def _replace(transaction: Connection, tenant: str, model_id: str, rows: Sequence[dict[str, Any]]) -> None:
    same = and_(
        statement_scores.c.tenant == tenant,
        statement_scores.c.model_id == model_id,
        statement_scores.c.document_id == bindparam("of_document"),
        statement_scores.c.statement_sha256 == bindparam("of_statement"),
    )
    old = [{"of_document": row["document_id"], "of_statement": row["statement_sha256"]} for row in rows]
    transaction.execute(delete(statement_scores).where(same), old)
    transaction.execute(insert(statement_scores), rows)


def _prune(transaction: Connection, tenant: str, document_ids: Sequence[str], max_statements: int) -> None:
    """Deletes the scores of all but the latest `max_statements` statements of each document."""
    of_documents = (statement_scores.c.tenant == tenant, statement_scores.c.document_id.in_(document_ids))
    full = (
        select(statement_scores.c.document_id)
        .where(*of_documents)
        .group_by(statement_scores.c.document_id)
        .having(func.count() > max_statements)
    )
    for document_id in transaction.execute(full).scalars().all():
        older = (
            select(statement_scores.c.row_id)
            .where(statement_scores.c.tenant == tenant, statement_scores.c.document_id == document_id)
            .order_by(statement_scores.c.row_id.desc())
            .offset(max_statements)
        )
        transaction.execute(delete(statement_scores).where(statement_scores.c.row_id.in_(older)))


def _known_scores(
    transaction: Connection, tenant: str, model_id: str, document_ids: Sequence[str], statements: Sequence[str]
) -> dict[str, dict[str, Scores]]:
    by_hash = {_hash(statement): statement for statement in statements}
    known: dict[str, dict[str, Scores]] = defaultdict(dict)
    for start in range(0, len(document_ids), DOCUMENTS_PER_QUERY):
        query = select(
            statement_scores.c.document_id, statement_scores.c.statement_sha256, statement_scores.c.scores
        ).where(
            statement_scores.c.tenant == tenant,
            statement_scores.c.document_id.in_(document_ids[start : start + DOCUMENTS_PER_QUERY]),
            statement_scores.c.model_id == model_id,
            statement_scores.c.statement_sha256.in_(by_hash),
        )
        for row in transaction.execute(query):
            known[row.document_id][by_hash[row.statement_sha256]] = _unpacked(row.scores).copy()
    return known


def _most_similar(
    transaction: Connection, tenant: str, model_id: str, document_id: str, statements: Sequence[str]
) -> list[str]:
    """The ids of the documents with scores of the statements that have the most passages in common with this one."""
    mine, theirs = chunks.alias("mine"), chunks.alias("theirs")
    equal = (
        select(theirs.c.document_id)
        .join_from(mine, theirs, _same_text(mine, theirs))
        .where(mine.c.tenant == tenant, mine.c.document_id == document_id, theirs.c.document_id != document_id)
        .limit(MAX_EQUAL_PASSAGES)
        .subquery("equal")
    )
    is_scored = exists().where(
        statement_scores.c.tenant == tenant,
        statement_scores.c.document_id == equal.c.document_id,
        statement_scores.c.model_id == model_id,
        statement_scores.c.statement_sha256.in_([_hash(statement) for statement in statements]),
    )
    query = (
        select(equal.c.document_id)
        .group_by(equal.c.document_id)
        .having(is_scored)
        .order_by(func.count().desc(), equal.c.document_id)
        .limit(SHARING_DOCUMENTS)
    )
    return list(transaction.execute(query).scalars())


def _equal_passages(
    transaction: Connection, tenant: str, document_id: str, others: Sequence[str]
) -> list[tuple[int, str, int]]:
    """Pairs of equal chunks: the ordinal of a chunk of the document, the id of another document, and the ordinal of the
    chunk with the same text and headings in it."""
    mine, theirs = chunks.alias("mine"), chunks.alias("theirs")
    query = (
        select(mine.c.ordinal, theirs.c.document_id, theirs.c.ordinal)
        .join_from(mine, theirs, and_(_same_text(mine, theirs), theirs.c.section_path == mine.c.section_path))
        .where(mine.c.tenant == tenant, mine.c.document_id == document_id, theirs.c.document_id.in_(others))
    )
    return [(row[0], row[1], row[2]) for row in transaction.execute(query)]


def _same_text(mine: FromClause, theirs: FromClause) -> ColumnElement[bool]:
    return and_(
        theirs.c.tenant == mine.c.tenant,
        theirs.c.content_sha256 == mine.c.content_sha256,
    )


def _hash(statement: str) -> bytes:
    return hashlib.sha256(statement.encode(errors="surrogatepass")).digest()


def _unpacked(packed: bytes) -> Scores:
    return np.frombuffer(packed, dtype="<f4").astype(np.float32, copy=False)
