"""Chroma inside the process of its own; knows collections, ids and filters, and nothing of matters.

The native part of Chroma is used as its wheel ships it: importing the Python package around it takes a process three
seconds and 100 MB, and adds only conversions and telemetry. `tests/backends/vectors` runs all of it, so that a release
that changes it is noticed.
"""

import json
import resource
import sys
from array import array
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from math import inf
from threading import Lock
from types import ModuleType
from typing import Any

import chromadb_rust_bindings as chroma

from proviso_service.backends.vectors.frames import Header

SEARCH_BREADTH = 1_000
"""Neighbours that a search follows (HNSW `ef`). Chroma's 100 misses 2 in 100 of the ten nearest in a matter of 20,000;
a filter by matter, where one is used, takes most of the time either way."""

UNFILTERED_SHARE = 3
"""A search in a matter looks first at three times as many neighbours of any matter, which takes 8 ms among 25,000
vectors; Chroma's filter takes 30 ms for a small matter and 140 ms for one of all these. Where the matter is at least a
third of what is near, as large matters are in their collection, nothing more is needed."""

BATCH_DELETIONS = 64
"""Chroma keeps the interpreter for each batch, so that searches wait; a filter instead of ids is far slower."""

WRITTEN_MEANWHILE = 1_000
"""More than come to a collection between its counting and the survey, which would leave out as many others."""

_FILES_PER_COLLECTION = 5
_WHERE = ("default_tenant", "default_database")
_CONFIGURATION = json.dumps({"hnsw": {"space": "cosine", "ef_search": SEARCH_BREADTH}})

Answer = tuple[Header, bytes | memoryview]


class WorkerDatabase:
    """Blocking; any number of threads may read while one writes."""

    def __init__(self, folder: str) -> None:
        migrations = chroma.SqliteDBConfig(
            url=f"{folder}/chroma.sqlite3",
            hash_type=chroma.MigrationHash.MD5,
            migration_mode=chroma.MigrationMode.Apply,
        )
        self._chroma = chroma.Bindings(
            allow_reset=False,
            sqlite_db_config=migrations,
            persist_path=folder,
            hnsw_cache_size=resource.getrlimit(resource.RLIMIT_NOFILE)[0] // _FILES_PER_COLLECTION,
        )
        self._ids = {found.name: str(found.id) for found in self._chroma.list_collections(None, None, *_WHERE)}
        self._making = Lock()

    @property
    def reads(self) -> dict[str, Callable[[Header, memoryview], Answer]]:
        return {"count": self._count, "search": self._search, "survey": self._survey}

    @property
    def writes(self) -> dict[str, Callable[[Header, memoryview], Answer]]:
        return {"upsert": self._upsert, "delete": self._delete, "remove": self._remove}

    def _count(self, _header: Header, _payload: memoryview) -> Answer:
        return {"count": sum(self._chroma.count(known, *_WHERE) for known in list(self._ids.values()))}, b""

    def _search(self, header: Header, payload: memoryview) -> Answer:
        found = self._ids.get(header["collection"])
        if found is None:
            return {"ids": []}, b""
        limit, where = header["limit"], header["where"]
        return self._nearest_unfiltered(found, payload, limit, where) or self._nearest(
            found, payload, limit, json.dumps(where)
        )

    def _nearest_unfiltered(self, collection: str, vector: memoryview, limit: int, where: Header) -> Answer | None:
        """Those of the nearest of all that have the one value asked for; None where they may be too few, and for
        filters of more than one condition."""
        ((key, value),) = where.items()
        if key.startswith("$"):
            return None
        found = self._query(collection, vector, limit * UNFILTERED_SHARE, None, ["distances", "metadatas"])
        rows = zip(found.ids[0], found.distances[0], found.metadatas[0], strict=True)
        wanted = [(row_id, distance) for row_id, distance, metadata in rows if metadata.get(key) == value][:limit]
        if len(wanted) < limit:
            return None
        return {"ids": [row_id for row_id, _ in wanted]}, _packed([distance for _, distance in wanted])

    def _survey(self, header: Header, payload: memoryview) -> Answer:
        """Every vector that a search can reach, and at an infinite distance those that it cannot."""
        found = self._ids.get(header["collection"])
        held = self._chroma.count(found, *_WHERE) if found else 0
        if not found or not held:
            return {"ids": []}, b""
        reached, distances = self._nearest(found, payload, held + WRITTEN_MEANWHILE, None)
        unreached = set(self._chroma.get(found, None, None, None, 0, None, [], *_WHERE).ids).difference(reached["ids"])
        return {"ids": [*reached["ids"], *unreached]}, bytes(distances) + _packed([inf] * len(unreached))

    def _nearest(self, collection: str, vector: memoryview, limit: int, where: str | None) -> Answer:
        found = self._query(collection, vector, limit, where, ["distances"])
        return {"ids": found.ids[0]}, _packed(found.distances[0])

    def _query(self, collection: str, vector: memoryview, limit: int, where: str | None, fields: list[str]) -> Any:
        return self._chroma.query(collection, None, [vector.cast("f").tolist()], limit, where, None, fields, *_WHERE)

    def _upsert(self, header: Header, payload: memoryview) -> Answer:
        ids, values = header["ids"], payload.cast("f")
        size = len(values) // len(ids)
        rows = [values[start : start + size].tolist() for start in range(0, len(values), size)]
        self._chroma.upsert(
            self._make_collection(header["collection"]), ids, rows, header["metadatas"], None, None, *_WHERE
        )
        return {}, b""

    def _delete(self, header: Header, _payload: memoryview) -> Answer:
        """What the filter finds."""
        if found := self._ids.get(header["collection"]):
            where = json.dumps(header["where"])
            self._delete_ids(found, self._chroma.get(found, None, where, None, 0, None, [], *_WHERE).ids)
        return {}, b""

    def _remove(self, header: Header, _payload: memoryview) -> Answer:
        if found := self._ids.get(header["collection"]):
            self._delete_ids(found, header["ids"])
        return {}, b""

    def _delete_ids(self, collection: str, ids: Sequence[str]) -> None:
        for start in range(0, len(ids), BATCH_DELETIONS):
            self._chroma.delete(collection, ids[start : start + BATCH_DELETIONS], None, None, None, *_WHERE)

    def _make_collection(self, name: str) -> str:
        """A collection is made when the first vector of one of its matters arrives."""
        with self._making:
            if name not in self._ids:
                made = self._chroma.create_collection(name, _CONFIGURATION, None, None, True, *_WHERE)
                self._ids[name] = str(made.id)
            return self._ids[name]


def _packed(distances: Sequence[float]) -> bytes:
    return array("f", distances).tobytes()


def spare_the_package() -> None:
    """Has Chroma's failures, which are classes of `chromadb.errors`, made without all the rest of that package."""
    package = ModuleType("chromadb")
    found = find_spec("chromadb")
    package.__path__ = list(found.submodule_search_locations or ()) if found else []
    sys.modules["chromadb"] = package


def describe(error: BaseException) -> str:
    """The first line of a failure."""
    return (str(error) or type(error).__name__).splitlines()[0][:300]
