"""Rows for tests of the stores: documents, texts, vectors, turns."""

import hashlib
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from uuid import uuid4

import numpy as np
from sqlalchemy import Connection

from proviso_service.backends.sql.documents import bump_index_version, change_document
from proviso_service.backends.sql.matters import SqlMatterStore
from proviso_service.matters.model import Document, DocumentStatus, Matter
from proviso_service.models import Vectors
from proviso_service.reading.model import Chunk, ParsedDocument
from proviso_service.turns import ChatMessage, ExitReason, FinalState, MessageRole, Retryable, TurnOutcome

MODEL = "test-model"
DIMENSIONS = 4


class Clock:
    """Tells a time that moves only when told to."""

    def __init__(self) -> None:
        self.time = datetime(2026, 1, 1, 12, 0, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.time

    def advance(self, seconds: float) -> None:
        self.time += timedelta(seconds=seconds)


def a_document(matter: Matter, filename: str = "lease.txt", *, uploaded: datetime | None = None) -> Document:
    """A document of its own bytes, not stored yet."""
    document_id = str(uuid4())
    return Document(
        document_id=document_id,
        matter_id=matter.matter_id,
        tenant=matter.tenant,
        filename=filename,
        media_type="text/plain",
        size_bytes=10,
        sha256=hashlib.sha256(document_id.encode()).hexdigest(),
        status=DocumentStatus.PENDING,
        upload_time=uploaded or datetime.now(UTC),
    )


def a_text(*passages: str) -> tuple[ParsedDocument, list[Chunk]]:
    """A text of one chunk for each passage."""
    chunks: list[Chunk] = []
    start = 0
    for ordinal, passage in enumerate(passages):
        chunks.append(Chunk(ordinal, start, start + len(passage), passage))
        start += len(passage) + 1
    return ParsedDocument("\n".join(passages)), chunks


def vectors_of(chunks: Sequence[Chunk]) -> Vectors:
    """A unit vector for each chunk, decided by its text."""
    seeds = [int(chunk.content_sha256[:8], 16) for chunk in chunks]
    rows = [np.random.default_rng(seed).normal(size=DIMENSIONS) for seed in seeds]
    vectors = np.array(rows, dtype=np.float32).reshape(len(rows), DIMENSIONS)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors


async def ingested(store: SqlMatterStore, matter: Matter, *passages: str, filename: str = "lease.txt") -> Document:
    """A READY document of these passages."""
    document, _ = await store.add_document(a_document(matter, filename))
    return await committed(store, document, *passages)


async def set_status(store: SqlMatterStore, document: Document, status: DocumentStatus, reason: str = "") -> Document:
    """Sets a status that no process would set now, such as that of a READY document which is not."""

    def change(transaction: Connection) -> Document:
        bump_index_version(transaction, document.tenant, document.matter_id)
        return change_document(transaction, document, status=status, failure_reason=reason)

    return await store._database.write(change, document.tenant)


async def committed(store: SqlMatterStore, document: Document, *passages: str) -> Document:
    parsed, chunks = a_text(*passages)
    return await store.commit_ready(document, parsed, chunks, MODEL, vectors_of(chunks))


def an_outcome(message: str = "Done.", *conversation: str) -> TurnOutcome:
    """A completed turn that leaves `conversation` in its session, the user's messages first of each pair."""
    roles = (MessageRole.USER, MessageRole.ASSISTANT)
    new = tuple(ChatMessage(roles[i % 2], content) for i, content in enumerate(conversation))
    return TurnOutcome(FinalState(ExitReason.COMPLETED, Retryable.NOT_APPLICABLE, True, message), new)
