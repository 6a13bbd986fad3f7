"""Everything that is kept of matters, counted and compared: nothing lost, nothing doubled, nothing left behind."""

import hashlib
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, select, text

from proviso_service.backends.sql.documents import document_of
from proviso_service.backends.sql.tables import documents
from proviso_service.errors import DocumentNotFound
from proviso_service.matters.model import Document, DocumentStatus
from proviso_service.matters.model import document_of as document_of_chunk
from proviso_service.matters.search_index import MatterIndex
from tests.support.matters_world import MattersWorld

COMMON_WORD = "everywhere"
"""Every passage of the tests' texts holds it, so that a search for it finds all there is."""

TABLES = ("matters", "documents", "leftovers", "outlines", "segments", "chunks", "packed_documents", "document_vectors")


@dataclass(frozen=True)
class Inventory:
    """What there is: rows by table, documents, names of blobs, and the passages in the indexes of matters."""

    rows: dict[str, int]
    documents: tuple[Document, ...]
    blobs: frozenset[str]
    indexed: int

    @property
    def ready(self) -> tuple[Document, ...]:
        return tuple(document for document in self.documents if document.status is DocumentStatus.READY)


async def inventory(world: MattersWorld) -> Inventory:
    rows, found = await world.database.read(_rows)
    matters = {(document.tenant, document.matter_id) for document in found}
    indexed = sum([len(await _index(world, *matter)) for matter in matters])
    return Inventory(rows, found, _blobs(world.folder / "blobs"), indexed)


async def check_sound(world: MattersWorld) -> Inventory:
    """What there is, once nothing is under way: each document whole or absent, and nothing besides."""
    found = await inventory(world)
    assert {document.status for document in found.documents} <= {DocumentStatus.READY, DocumentStatus.FAILED}
    passages = sum(document.chunk_count for document in found.documents)
    counts = {"indexed": found.indexed, "chunks": found.rows["chunks"]}
    assert counts == dict.fromkeys(counts, passages), f"{counts} of {passages} passages"
    assert found.rows["outlines"] == found.rows["packed_documents"] == len(found.ready)
    assert found.rows["document_vectors"] == sum(document.chunk_count > 0 for document in found.ready)
    assert found.rows["leftovers"] == 0
    assert found.blobs == {document.document_id for document in found.documents}
    await world.database.write(_check_files)
    for document in found.documents:
        await _check_text(world, document)
    for tenant, matter_id in {(document.tenant, document.matter_id) for document in found.documents}:
        here = [document for document in found.ready if document.matter_id == matter_id]
        index = await _index(world, tenant, matter_id)
        holding = Counter(map(document_of_chunk, index.chunk_ids(index.holding([COMMON_WORD], None))))
        assert holding == {d.document_id: d.chunk_count for d in here}
    return found


async def _index(world: MattersWorld, tenant: str, matter_id: str) -> MatterIndex:
    version = (await world.store.get_matter(tenant, matter_id)).index_version
    return await world.indexes.at(tenant, matter_id, version)


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
    columns = [column for column in documents.c if column.name != "filename_folded"]
    rows: Any = transaction.execute(select(*columns).order_by(documents.c.upload_time))
    return counts, tuple(document_of(row) for row in rows)


def _check_files(transaction: Connection) -> None:
    assert transaction.execute(text("PRAGMA integrity_check")).scalar_one() == "ok"
    assert transaction.execute(text("PRAGMA foreign_key_check")).all() == []


def _blobs(root: Path) -> frozenset[str]:
    return frozenset(path.name for path in root.rglob("*") if path.is_file())
