"""Everything that is kept of matters, counted and compared: nothing lost, nothing doubled, nothing left behind."""

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, select, text

from proviso_service.backends.sql.documents import document_of
from proviso_service.backends.sql.tables import documents
from proviso_service.errors import DocumentNotFound
from proviso_service.matters.model import Document, DocumentStatus
from tests.support.matters_world import MattersWorld

COMMON_WORD = "everywhere"
"""Every passage of the tests' texts holds it, so that a search for it finds all there is."""

TABLES = ("matters", "documents", "leftovers", "outlines", "segments", "embeddings", "chunks", "chunk_words_docsize")

UNUSED_EMBEDDINGS = """
    SELECT count(*) FROM embeddings e WHERE NOT EXISTS (
        SELECT 1 FROM chunks c
        WHERE c.tenant = e.tenant AND c.model_id = e.model_id AND c.content_sha256 = e.content_sha256)
"""


@dataclass(frozen=True)
class Inventory:
    """What there is: rows by table, documents, names of blobs, number of vectors."""

    rows: dict[str, int]
    documents: tuple[Document, ...]
    blobs: frozenset[str]
    vectors: int

    @property
    def ready(self) -> tuple[Document, ...]:
        return tuple(document for document in self.documents if document.status is DocumentStatus.READY)


async def inventory(world: MattersWorld) -> Inventory:
    rows, found = await world.database.read(_rows)
    return Inventory(rows, found, _blobs(world.folder / "blobs"), await world.vectors.count())


async def check_sound(world: MattersWorld) -> Inventory:
    """What there is, once nothing is under way: each document whole or absent, and nothing besides."""
    found = await inventory(world)
    assert {document.status for document in found.documents} <= {DocumentStatus.READY, DocumentStatus.FAILED}
    passages = sum(document.chunk_count for document in found.documents)
    counts = {"vectors": found.vectors} | {name: found.rows[name] for name in ("chunks", "chunk_words_docsize")}
    assert counts == dict.fromkeys(counts, passages), f"{counts} of {passages} passages"
    assert found.rows["outlines"] == len(found.ready)
    assert found.rows["leftovers"] == 0
    assert found.blobs == {document.document_id for document in found.documents}
    assert await world.database.read(lambda t: t.execute(text(UNUSED_EMBEDDINGS)).scalar_one()) == 0
    await world.database.write(_check_files)
    for document in found.documents:
        await _check_text(world, document)
    for tenant, matter_id in {(document.tenant, document.matter_id) for document in found.documents}:
        here = [document for document in found.ready if document.matter_id == matter_id]
        matching = await world.store.documents_matching(tenant, matter_id, COMMON_WORD)
        assert {hit.document_id: hit.passages for hit in matching} == {d.document_id: d.chunk_count for d in here}
    return found


async def _check_text(world: MattersWorld, document: Document) -> None:
    content = await world.blobs.get(document.tenant, document.document_id)
    assert hashlib.sha256(content).hexdigest() == document.sha256
    if document.status is DocumentStatus.READY:
        assert await world.store.text(document.tenant, document.document_id, 0) == content.decode()
        return
    try:
        await world.store.text(document.tenant, document.document_id, 0)
    except DocumentNotFound:
        return
    raise AssertionError("a document that is not READY has a text")


def _rows(transaction: Connection) -> tuple[dict[str, int], tuple[Document, ...]]:
    counts = {t: transaction.execute(text(f"SELECT count(*) FROM {t}")).scalar_one() for t in TABLES}  # noqa: S608
    rows: Any = transaction.execute(select(documents).order_by(documents.c.upload_time))
    return counts, tuple(document_of(row) for row in rows)


def _check_files(transaction: Connection) -> None:
    transaction.execute(text("INSERT INTO chunk_words (chunk_words) VALUES ('integrity-check')"))
    assert transaction.execute(text("PRAGMA integrity_check")).scalar_one() == "ok"
    assert transaction.execute(text("PRAGMA foreign_key_check")).all() == []


def _blobs(root: Path) -> frozenset[str]:
    return frozenset(path.name for path in root.rglob("*") if path.is_file())
