"""ChromaIndex, the approximate index of the vectors of large matters, through Chroma's public client.

Whatever it holds is made of a MatterIndex, and is deleted and made anew when the matter's version is another one. An
embedded Chroma has a folder of its own for each matter and version, and a server a collection, so that deleting either
leaves nothing behind."""

import asyncio
import hashlib
import re
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING, Protocol, cast
from urllib.parse import urlsplit

import numpy as np
import structlog

from proviso_service.concurrency import with_timeout
from proviso_service.matters import MatterIndex, Rows
from proviso_service.models import Vectors

if TYPE_CHECKING:
    from chromadb.api import ClientAPI
    from chromadb.api.client import Client
    from chromadb.api.models.Collection import Collection

BATCH_VECTORS = 2_000

TIME_LIMIT_S = 2.0
"""A search does not wait longer; Chroma's client itself would wait for ever."""

Key = tuple[str, str]

_NAME = re.compile("[0-9a-f]{24}-[0-9a-f]{24}")
"""The name of a collection: that of its matter, and that of its contents."""

_log = structlog.get_logger(__name__)


def approximate_index(wanted: str, folder: Path, model_id: str) -> "ChromaIndex | None":
    """The index that `settings.documents.vector_index` asks for; None for an exact search. Whatever the folder has that
    it does not use is deleted. Raises ModuleNotFoundError where Chroma is asked for and not installed."""
    is_there = find_spec("chromadb") is not None
    if wanted != "exact" and not is_there and wanted != "auto":
        raise ModuleNotFoundError("chromadb")
    if wanted in ("auto", "chroma") and is_there:
        return ChromaIndex(_Folders(folder), model_id)
    shutil.rmtree(folder, ignore_errors=True)
    return None if wanted in ("auto", "exact") else ChromaIndex(_Server(wanted), model_id)


class _Place(Protocol):
    """Where collections are kept, by the name of their matter."""

    def open(self, name: str) -> "Collection":
        """Opens the collection of this name, or makes it."""
        ...

    def forget_others(self, matter: str, name: str = "") -> None:
        """Deletes the collections of a matter, except for the one of this name."""
        ...

    def close(self) -> None: ...


class ChromaIndex:
    """NearestPassages in Chroma. It builds one index at a time, in a thread; until one is ready, and whenever Chroma
    fails, the search is exact."""

    def __init__(self, place: _Place, model_id: str) -> None:
        self._place = place
        self._model_id = model_id
        self._ready: dict[Key, tuple[int, Collection]] = {}
        self._builds: dict[Key, _Build] = {}
        self._building = asyncio.Lock()

    def follow(self, tenant: str, matter_id: str, index: MatterIndex) -> None:
        key = (tenant, matter_id)
        build = self._builds.get(key)
        if index.version in {self._version(key), build.version if build else -1}:
            return
        self._stop(key)
        stopped = Event()
        self._builds[key] = _Build(index.version, stopped, asyncio.create_task(self._build(key, index, stopped)))

    async def nearest(
        self, tenant: str, matter_id: str, index: MatterIndex, vector: Vectors, limit: int
    ) -> Rows | None:
        key = (tenant, matter_id)
        if self._version(key) != index.version:
            return None
        _, collection = self._ready[key]
        try:
            query = asyncio.to_thread(
                collection.query, query_embeddings=vector[np.newaxis], n_results=limit, include=[]
            )
            found = await with_timeout(TIME_LIMIT_S, query)
        except Exception as failure:  # Chroma has errors of many kinds, and none of them is the caller's
            _log.warning("chroma_failed", failure=repr(failure))
            self._ready.pop(key, None)
            return None
        return np.array([int(row) for row in found["ids"][0]], dtype=np.intp)

    async def forget(self, tenant: str, matter_id: str) -> None:
        key = (tenant, matter_id)
        self._stop(key)
        async with self._building:
            await asyncio.to_thread(self._place.forget_others, _name(key))

    async def close(self) -> None:
        for key in list(self._builds):
            self._stop(key)
        async with self._building:
            await asyncio.to_thread(self._place.close)

    def _version(self, key: Key) -> int:
        return self._ready[key][0] if key in self._ready else -1

    def _stop(self, key: Key) -> None:
        """Ends the use of what is there, and what is under way."""
        self._ready.pop(key, None)
        if build := self._builds.pop(key, None):
            build.stopped.set()

    async def _build(self, key: Key, index: MatterIndex, stopped: Event) -> None:
        async with self._building:
            try:
                collection = await asyncio.to_thread(self._filled, key, index, stopped.is_set)
            except Exception as failure:
                _log.warning("chroma_failed", failure=repr(failure))
                return
        if not stopped.is_set():
            self._ready[key] = (index.version, collection)

    def _filled(self, key: Key, index: MatterIndex, is_stopped: Callable[[], bool]) -> "Collection":
        """The collection of this very version, which an earlier process may have filled."""
        contents = "\n".join([self._model_id, str(index.version), *(one.document_id for one in index.documents)])
        name = f"{_name(key)}-{_digest(contents)}"
        self._place.forget_others(_name(key), name)
        collection = self._place.open(name)
        rows = np.flatnonzero(index.embedded)
        for start in range(collection.count(), len(rows), BATCH_VECTORS):
            if is_stopped():
                break
            some = rows[start : start + BATCH_VECTORS]
            collection.upsert(ids=[str(row) for row in some], embeddings=index.vectors[some])
        return collection


@dataclass(frozen=True, slots=True)
class _Build:
    version: int
    stopped: Event
    task: asyncio.Task[None]


class _Folders:
    """Embedded Chroma, which has all its files of a collection in one folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._open: dict[str, ClientAPI] = {}
        for path in folder.glob("*"):
            if not _NAME.fullmatch(path.name):  # an earlier version of the service has left it
                shutil.rmtree(path) if path.is_dir() else path.unlink()

    def open(self, name: str) -> "Collection":
        from chromadb import PersistentClient
        from chromadb.config import Settings

        if name not in self._open:
            path = self._folder / name
            path.mkdir(parents=True, exist_ok=True, mode=0o700)
            self._open[name] = PersistentClient(path, Settings(anonymized_telemetry=False))
        return _collection(self._open[name], name)

    def forget_others(self, matter: str, name: str = "") -> None:
        for path in self._folder.glob(f"{matter}-*"):
            if path.name != name:
                if client := self._open.pop(path.name, None):
                    _close(client)
                shutil.rmtree(path)

    def close(self) -> None:
        while self._open:
            _close(self._open.popitem()[1])


class _Server:
    """A Chroma server, which other services may use as well."""

    def __init__(self, url: str) -> None:
        self._url = urlsplit(url)
        self._client: ClientAPI | None = None

    def open(self, name: str) -> "Collection":
        return _collection(self._connected(), name)

    def forget_others(self, matter: str, name: str = "") -> None:
        client = self._connected()
        for one in client.list_collections():
            if one.name.startswith(f"{matter}-") and one.name != name:
                client.delete_collection(one.name)

    def close(self) -> None:
        if self._client:
            _close(self._client)
            self._client = None

    def _connected(self) -> "ClientAPI":
        from chromadb import HttpClient
        from chromadb.config import Settings

        if self._client is None:
            is_secure = self._url.scheme == "https"
            port = self._url.port or (443 if is_secure else 80)
            settings = Settings(anonymized_telemetry=False)
            self._client = HttpClient(self._url.hostname or "", port, ssl=is_secure, settings=settings)
        return self._client


def _close(client: "ClientAPI") -> None:
    cast("Client", client).close()  # the declared type lacks the method


def _collection(client: "ClientAPI", name: str) -> "Collection":
    """Vectors have the length 1, so their inner product is the cosine."""
    return client.get_or_create_collection(name, embedding_function=None, configuration={"hnsw": {"space": "ip"}})


def _name(key: Key) -> str:
    tenant, matter_id = key
    return _digest(f"{len(tenant)}:{tenant}:{matter_id}")


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:24]
