"""How vectors are spread over collections, and the note in the folder that says so.

A collection per matter would need four open files and 2.6 MB each, and one for all would make every search filter
every vector; so a fixed number of collections share the matters. A folder written with one layout cannot be read with
another.
"""

import hashlib
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

_NOTE_FILE = "layout.json"


class VectorIndexFailed(Exception):
    """The vector index could not do what was asked; search by words is not affected."""


class VectorIndexCorrupt(VectorIndexFailed):
    """The folder cannot be used: it has to be emptied and filled again from the vectors in the database."""

    def __init__(self, folder: Path, problem: str) -> None:
        super().__init__(f"The vector index in {folder} {problem}")
        self.folder = folder


class VectorLayout(BaseModel):
    """Number of collections and of values in a vector."""

    model_config = ConfigDict(frozen=True)

    collections: int
    dimensions: int
    version: int = 1

    def collection_of(self, tenant: str, matter_id: str) -> str:
        """The name of the collection that holds a matter; the same in every process and release."""
        digest = hashlib.blake2b(scope_of(tenant, matter_id).encode(), digest_size=8).digest()
        return f"vectors-{int.from_bytes(digest) % self.collections:03}"


def scope_of(tenant: str, matter_id: str) -> str:
    """One value for tenant and matter; the length keeps apart pairs that would read alike when joined."""
    return f"{len(tenant)}:{tenant}:{matter_id}"


def id_prefix(tenant: str) -> str:
    """What an id in the index has before the chunk's id, so that equal chunk ids of two tenants never meet."""
    return f"{len(tenant)}:{tenant}:"


def claim_folder(folder: Path, layout: VectorLayout) -> None:
    """Makes the folder with its note, or checks the note of an existing one. Raises VectorIndexCorrupt."""
    folder.mkdir(parents=True, exist_ok=True)
    note = folder / _NOTE_FILE
    if not any(folder.iterdir()):
        fresh = note.with_suffix(".new")
        fresh.write_text(layout.model_dump_json(), encoding="utf-8")
        fresh.replace(note)
        return
    try:
        found = VectorLayout.model_validate_json(note.read_bytes())
    except (OSError, ValidationError):
        raise VectorIndexCorrupt(folder, "does not say how it is laid out") from None
    if found != layout:
        raise VectorIndexCorrupt(folder, f"is laid out as {found!r}, not {layout!r}")
