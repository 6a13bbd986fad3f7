"""A state that an earlier version wrote can still be used."""

from pathlib import Path
from typing import Any

from alembic.operations import Operations
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, text

from proviso_service.backends.sql import migrations
from proviso_service.backends.sql.database import Database
from proviso_service.backends.sql.matters import SqlMatterStore
from proviso_service.matters.packing import PackedWords
from proviso_service.reading.model import Chunk

FIRST = """
INSERT INTO matters VALUES ('acme', 'm', 'Lease', '2026-01-01', 1);
INSERT INTO documents (tenant, document_id, matter_id, filename, filename_folded, media_type, size_bytes, sha256,
    status, failure_reason, character_count, chunk_count, page_count, upload_time, replaces_document_id)
VALUES ('acme', 'd', 'm', 'lease.txt', 'lease.txt', 'text/plain', 9, 'aa', 'ready', '', 9, 1, 0, '2026-01-01', '');
INSERT INTO embeddings VALUES ('acme', 'model', 'hash', x'0000003f');
INSERT INTO chunks (row_id, tenant, chunk_id, document_id, ordinal, start_offset, end_offset, page, section_path,
    model_id, content_sha256, text)
VALUES (7, 'acme', 'd:0', 'd', 0, 0, 9, 0, '[]', 'model', 'hash', 'The o\ufb03ce\u2019s rent.')
"""


def _first_version(connection: Connection) -> None:
    """A state in the form that migration 0001 made."""
    scripts = ScriptDirectory(str(Path(migrations.__file__).parent))

    def first(current: Any, _context: MigrationContext) -> Any:
        return scripts._upgrade_revs("0001", current)

    context = MigrationContext.configure(connection, opts={"fn": first})
    context.run_migrations(op=Operations(context))
    for statement in FIRST.split(";"):
        connection.execute(text(statement))


async def test_documents_of_the_first_version_are_found_and_deleted(tmp_path: Path) -> None:
    database = Database(f"sqlite:///{tmp_path / 'state.sqlite3'}")
    await database.write(_first_version)
    await database.migrate()
    matters = SqlMatterStore(database)
    version, [packed] = await matters.packed_documents("acme", "m", "model", {})
    assert (version, packed.filename, packed.chunk_count, packed.vectors.tolist()) == (1, "lease.txt", 1, [[0.5]])
    assert set(PackedWords.unpacked(packed.words).terms) == {"the", "offic", "s", "rent"}
    known = await matters.known_embeddings("acme", "model", ["hash"])
    assert {sha256: vector.tolist() for sha256, vector in known.items()} == {"hash": [0.5]}
    [stored] = await matters.chunks("acme", ["d:0"])
    assert stored.chunk == Chunk(0, 0, 9, "The o\ufb03ce\u2019s rent.")
    await matters.delete_document("acme", "m", "d")
    assert await matters.packed_documents("acme", "m", "model", {}) == (2, [])
    await database.close()
