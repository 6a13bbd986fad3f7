"""The blocking side of the Chroma index: every call here runs in a thread of the index."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np

from proviso_service.matters.ports import VectorHit, VectorRecord
from proviso_service.models.ports import Vectors
from proviso_service.storage.vectors.layout import (
    VectorIndexCorrupt,
    VectorIndexFailed,
    VectorLayout,
    claim_folder,
    id_prefix,
    scope_of,
)
from proviso_service.storage.vectors.open_files import raise_open_file_limit

_SCOPE = "scope"
_DOCUMENT = "document"
_BATCH_DELETIONS = 64  # as with writing, the event loop stands still for each; a filter instead of ids is far slower
_CONFIGURATION = {"hnsw": {"space": "cosine"}}


class ChromaDatabase:
    """Collections are made when the first vector of one of their matters arrives."""

    def __init__(self, folder: Path, layout: VectorLayout) -> None:
        """Imports Chroma, which takes seconds. Raises VectorIndexCorrupt."""
        raise_open_file_limit()
        claim_folder(folder, layout)
        self._layout = layout
        with _failures_as(lambda problem: VectorIndexCorrupt(folder, f"cannot be opened: {problem}")):
            self._client = _open_client(folder)
            try:
                self._collections = {found.name: found for found in self._client.list_collections()}
                self._count()  # reads every index, so that damage is found now and not in somebody's search
            except BaseException:
                self._client.close()
                raise
        self._making = Lock()

    def close(self) -> None:
        self._client.close()

    def upsert(self, tenant: str, matter_id: str, records: Sequence[VectorRecord]) -> None:
        """Raises ValueError for vectors of the wrong size."""
        vectors = np.stack([record.vector for record in records])
        if vectors.shape[1] != self._layout.dimensions:
            raise ValueError(f"vectors have {vectors.shape[1]} values, the index {self._layout.dimensions}")
        prefix, scope = id_prefix(tenant), scope_of(tenant, matter_id)
        with _failures_as(VectorIndexFailed):
            self._make_collection(self._layout.collection_of(tenant, matter_id)).upsert(
                ids=[prefix + record.chunk_id for record in records],
                embeddings=vectors,
                metadatas=[{_SCOPE: scope, _DOCUMENT: record.document_id} for record in records],
            )

    def search(
        self, tenant: str, matter_id: str, vector: Vectors, limit: int, document_ids: Sequence[str]
    ) -> list[VectorHit]:
        collection = self._collections.get(self._layout.collection_of(tenant, matter_id))
        if collection is None:
            return []
        with _failures_as(VectorIndexFailed):
            found = collection.query(
                query_embeddings=[vector],
                n_results=limit,
                where=_where(tenant, matter_id, document_ids),
                include=["distances"],
            )
        prefix = id_prefix(tenant)
        return [
            VectorHit(name.removeprefix(prefix), 1.0 - distance)
            for name, distance in zip(found["ids"][0], found["distances"][0], strict=True)
        ]

    def delete(self, tenant: str, matter_id: str, document_ids: Sequence[str] = ()) -> None:
        """The whole matter, or only these documents of it."""
        collection = self._collections.get(self._layout.collection_of(tenant, matter_id))
        if collection is None:
            return
        with _failures_as(VectorIndexFailed):
            found = collection.get(where=_where(tenant, matter_id, document_ids), include=[])["ids"]
            for start in range(0, len(found), _BATCH_DELETIONS):
                collection.delete(ids=found[start : start + _BATCH_DELETIONS])

    def count(self) -> int:
        with _failures_as(VectorIndexFailed):
            return self._count()

    def _count(self) -> int:
        return sum(collection.count() for collection in list(self._collections.values()))

    def _make_collection(self, name: str) -> Any:
        with self._making:
            if name not in self._collections:
                self._collections[name] = self._client.get_or_create_collection(
                    name, embedding_function=None, configuration=_CONFIGURATION
                )
            return self._collections[name]


def _open_client(folder: Path) -> Any:
    import chromadb
    from chromadb.config import Settings

    # Chroma would read other settings from a file `.env` where the service happens to be started.
    settings = Settings(_env_file=None, anonymized_telemetry=False, allow_reset=False)
    return chromadb.PersistentClient(str(folder.resolve()), settings=settings)


def _where(tenant: str, matter_id: str, document_ids: Sequence[str]) -> dict[str, Any]:
    scope = {_SCOPE: scope_of(tenant, matter_id)}
    if not document_ids:
        return scope
    return {"$and": [scope, {_DOCUMENT: {"$in": list(document_ids)}}]}


@contextmanager
def _failures_as(make: Callable[[str], VectorIndexFailed]) -> Iterator[None]:
    from chromadb.errors import ChromaError

    try:
        yield
    except ChromaError as error:
        raise make(str(error)) from error
    except BaseException as error:
        # A panic in Chroma's native code is no Exception, and would slip past everything that handles failures.
        if type(error).__name__ == "PanicException":
            raise make("a fault inside Chroma") from error
        raise
