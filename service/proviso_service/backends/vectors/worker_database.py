"""WorkerDatabase calls Chroma inside the process that owns the database. It knows collections, ids and filters, and
nothing of matters.

It uses the native module of Chroma's wheel directly. The Python package around it takes three seconds and 100 MB to
import, and adds only conversions and telemetry. `tests/backends/vectors` calls all of it, so that a release of Chroma
that changes it fails a test.
"""

import json
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
"""Neighbours that a search follows (HNSW `ef`). With Chroma's default of 100 a search in a matter of 20,000 chunks
misses 2 in 100 of the ten nearest. Most of a search's time goes into the filter by matter, where one is used."""

UNFILTERED_SHARE = 3
"""A search in a matter first gets three times as many neighbours as it needs, of all matters: that takes 8 ms among
25,000 vectors, while Chroma's filter takes 30 ms for a small matter and 140 ms for one that has all the vectors. Where
at least a third of these neighbours belong to the matter, as in a large matter, the filter is not needed."""

BATCH_DELETIONS = 64
"""Ids of one deletion. Chroma holds the interpreter lock for a whole batch, and searches wait for it; deleting by a
filter instead of ids is far slower."""

WRITTEN_MEANWHILE = 1_000
"""Added to the count of vectors that a survey asks for: more than can be written between the count and the survey."""

_CACHED_COLLECTIONS = 16_384
"""Collections that Chroma may keep open: all there are. Its cache is divided into shards, and a collection that a full
shard gives up between a write and the search after it is found neither in memory nor on disk. A layout has 16
collections of five files each, so that nothing need ever be given up."""

_WHERE = ("default_tenant", "default_database")
_CONFIGURATION = json.dumps({"hnsw": {"space": "cosine", "ef_search": SEARCH_BREADTH}})

WorkerAnswer = tuple[Header, bytes | memoryview]


class WorkerDatabase:
    """The database in a folder. Its calls block; any number of threads may read while one writes."""

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
            hnsw_cache_size=_CACHED_COLLECTIONS,
        )
        self._ids = {found.name: str(found.id) for found in self._chroma.list_collections(None, None, *_WHERE)}
        self._making = Lock()

    @property
    def reads(self) -> dict[str, Callable[[Header, memoryview], WorkerAnswer]]:
        return {"count": self._count, "search": self._search, "survey": self._survey}

    @property
    def writes(self) -> dict[str, Callable[[Header, memoryview], WorkerAnswer]]:
        return {"upsert": self._upsert, "delete": self._delete, "remove": self._remove}

    def _count(self, _header: Header, _payload: memoryview) -> WorkerAnswer:
        return {"count": sum(self._chroma.count(known, *_WHERE) for known in list(self._ids.values()))}, b""

    def _search(self, header: Header, payload: memoryview) -> WorkerAnswer:
        found = self._ids.get(header["collection"])
        if found is None:
            return {"ids": []}, b""
        limit, where = header["limit"], header["where"]
        return self._nearest_unfiltered(found, payload, limit, where) or self._nearest(
            found, payload, limit, json.dumps(where)
        )

    def _nearest_unfiltered(
        self, collection: str, vector: memoryview, limit: int, where: Header
    ) -> WorkerAnswer | None:
        """The nearest vectors of the collection, filtered here by the one condition in `where`. None where too few of
        them match, and for a filter of more than one condition."""
        ((key, value),) = where.items()
        if key.startswith("$"):
            return None
        found = self._query(collection, vector, limit * UNFILTERED_SHARE, None, ["distances", "metadatas"])
        rows = zip(found.ids[0], found.distances[0], found.metadatas[0], strict=True)
        wanted = [(row_id, distance) for row_id, distance, metadata in rows if metadata.get(key) == value][:limit]
        if len(wanted) < limit:
            return None
        return {"ids": [row_id for row_id, _ in wanted]}, _packed([distance for _, distance in wanted])

    def _survey(self, header: Header, payload: memoryview) -> WorkerAnswer:
        """Every vector with its distance; those that no search reaches have an infinite distance."""
        found = self._ids.get(header["collection"])
        held = self._chroma.count(found, *_WHERE) if found else 0
        if not found or not held:
            return {"ids": []}, b""
        reached, distances = self._nearest(found, payload, held + WRITTEN_MEANWHILE, None)
        unreached = set(self._chroma.get(found, None, None, None, 0, None, [], *_WHERE).ids).difference(reached["ids"])
        return {"ids": [*reached["ids"], *unreached]}, bytes(distances) + _packed([inf] * len(unreached))

    def _nearest(self, collection: str, vector: memoryview, limit: int, where: str | None) -> WorkerAnswer:
        found = self._query(collection, vector, limit, where, ["distances"])
        return {"ids": found.ids[0]}, _packed(found.distances[0])

    def _query(self, collection: str, vector: memoryview, limit: int, where: str | None, fields: list[str]) -> Any:
        return self._chroma.query(collection, None, [vector.cast("f").tolist()], limit, where, None, fields, *_WHERE)

    def _upsert(self, header: Header, payload: memoryview) -> WorkerAnswer:
        ids, values = header["ids"], payload.cast("f")
        size = len(values) // len(ids)
        rows = [values[start : start + size].tolist() for start in range(0, len(values), size)]
        self._chroma.upsert(
            self._make_collection(header["collection"]), ids, rows, header["metadatas"], None, None, *_WHERE
        )
        return {}, b""

    def _delete(self, header: Header, _payload: memoryview) -> WorkerAnswer:
        """Deletes what the filter finds."""
        if found := self._ids.get(header["collection"]):
            where = json.dumps(header["where"])
            self._delete_ids(found, self._chroma.get(found, None, where, None, 0, None, [], *_WHERE).ids)
        return {}, b""

    def _remove(self, header: Header, _payload: memoryview) -> WorkerAnswer:
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
    """Lets the native module import `chromadb.errors`, whose classes it raises, without the rest of that package."""
    package = ModuleType("chromadb")
    found = find_spec("chromadb")
    package.__path__ = list(found.submodule_search_locations or ()) if found else []
    sys.modules["chromadb"] = package


def describe(error: BaseException) -> str:
    """The first line of the exception's message, else the name of its class."""
    return (str(error) or type(error).__name__).splitlines()[0][:300]
