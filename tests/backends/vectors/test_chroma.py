"""Chroma itself, embedded and as a server on loopback, as the approximate index of a matter."""

import asyncio
import gc
import socket
import sys
import threading
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from urllib.request import urlopen

import numpy as np
import pytest
from chromadb.api.models.Collection import Collection
from structlog.testing import capture_logs

from proviso_service.backends.vectors import chroma
from proviso_service.backends.vectors.chroma import ChromaIndex, approximate_index
from proviso_service.matters.search_index import MatterIndex
from proviso_service.wiring_models import BackEndUnavailable, VectorModel, search_indexes
from tests.support.indexed import index_of, packed

pytestmark = pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning")

MODEL = "test-model"
PASSAGES = 400
Place = Callable[[], str]
MATTER = ("acme", "m")


def matter(version: int = 1, passages: int = PASSAGES) -> MatterIndex:
    names = [f"Passage {n} of version {version}." for n in range(passages)]
    return index_of(packed("a", *names[:100]), packed("b", *names[100:]), version=version)


@asynccontextmanager
async def chroma_server(folder: Path) -> AsyncIterator[str]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = ("run", "--path", str(folder), "--host", "127.0.0.1", "--port", str(port))
    program = Path(sys.executable).with_name("chroma")
    quiet = asyncio.subprocess.DEVNULL
    server = await asyncio.create_subprocess_exec(program, *command, stdout=quiet, stderr=quiet)
    url = f"http://127.0.0.1:{port}"
    try:
        async with asyncio.timeout(60):
            await asyncio.to_thread(_until_it_answers, url)
        yield url
    finally:
        server.kill()
        await server.wait()


def _until_it_answers(url: str) -> None:
    while True:
        try:
            with urlopen(f"{url}/api/v2/heartbeat", timeout=1):  # noqa: S310  # our own server
                return
        except OSError:
            time.sleep(0.1)


@pytest.fixture(params=["embedded", "server"])
async def wanted(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[str]:
    """What the setting says."""
    if request.param == "embedded":
        yield "chroma"
        return
    async with chroma_server(tmp_path / "server") as url:
        yield url


@asynccontextmanager
async def opened(wanted: str, folder: Path) -> AsyncIterator[ChromaIndex]:
    index = approximate_index(wanted, folder / "vectors", MODEL)
    assert index
    try:
        yield index
    finally:
        await index.close()
        gc.collect()  # Chroma's client leaves its sockets to the collector


async def built(chroma_index: ChromaIndex, index: MatterIndex) -> None:
    chroma_index.follow(*MATTER, index)
    await chroma_index._builds[MATTER].task


async def recall(chroma_index: ChromaIndex, index: MatterIndex, limit: int = 20) -> float:
    found = 0
    for row in range(0, len(index), 20):
        near = await chroma_index.nearest(*MATTER, index, index.vectors[row], limit)
        assert near is not None
        exact = np.argsort(-(index.vectors @ index.vectors[row]), kind="stable")[:limit]
        assert near[0] == row
        found += len(set(near.tolist()) & set(exact.tolist()))
    return found / (limit * len(range(0, len(index), 20)))


async def test_the_nearest_are_found_once_it_is_built(wanted: str, tmp_path: Path) -> None:
    index = matter()
    async with opened(wanted, tmp_path) as chroma_index:
        assert await chroma_index.nearest(*MATTER, index, index.vectors[0], 5) is None
        await built(chroma_index, index)
        assert await recall(chroma_index, index) > 0.95


async def test_another_version_is_another_index_and_the_old_one_is_gone(wanted: str, tmp_path: Path) -> None:
    first, second = matter(1), matter(2)
    async with opened(wanted, tmp_path) as chroma_index:
        await built(chroma_index, first)
        chroma_index.follow(*MATTER, second)
        assert await chroma_index.nearest(*MATTER, first, first.vectors[0], 5) is None
        assert await chroma_index.nearest(*MATTER, second, second.vectors[0], 5) is None
        await chroma_index._builds[MATTER].task
        assert await recall(chroma_index, second) > 0.95
        if wanted == "chroma":
            assert len(list((tmp_path / "vectors").iterdir())) == 1


async def test_what_an_earlier_process_has_built_is_used_again(
    wanted: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    index = matter()
    async with opened(wanted, tmp_path) as chroma_index:
        await built(chroma_index, index)
    monkeypatch.setattr(Collection, "upsert", None)  # nothing could be written
    async with opened(wanted, tmp_path) as again:
        await built(again, index)
        assert await recall(again, index) > 0.95


async def test_what_a_killed_process_has_half_built_is_completed(
    wanted: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    index = matter()
    monkeypatch.setattr(chroma, "BATCH_VECTORS", 150)
    async with opened(wanted, tmp_path) as chroma_index:
        asked: list[bool] = []

        def stopped_after_one() -> bool:
            asked.append(True)
            return len(asked) > 1

        collection = await asyncio.to_thread(chroma_index._filled, MATTER, index, stopped_after_one)
        assert await asyncio.to_thread(collection.count) == 150
    async with opened(wanted, tmp_path) as again:
        await built(again, index)
        assert await recall(again, index) > 0.95


async def test_a_deleted_matter_leaves_no_byte(wanted: str, tmp_path: Path) -> None:
    async with opened(wanted, tmp_path) as chroma_index:
        await built(chroma_index, matter())
        await chroma_index.forget(*MATTER)
        assert await chroma_index.nearest(*MATTER, matter(), matter().vectors[0], 5) is None
        if wanted == "chroma":
            assert list((tmp_path / "vectors").iterdir()) == []
        else:
            assert chroma_index._place._connected().list_collections() == []  # type: ignore[attr-defined]


async def test_a_matter_that_is_deleted_while_it_is_built_leaves_nothing(wanted: str, tmp_path: Path) -> None:
    async with opened(wanted, tmp_path) as chroma_index:
        chroma_index.follow(*MATTER, matter())
        await chroma_index.forget(*MATTER)
        assert await chroma_index.nearest(*MATTER, matter(), matter().vectors[0], 5) is None
        if wanted == "chroma":
            assert not (tmp_path / "vectors").exists() or list((tmp_path / "vectors").iterdir()) == []


async def test_files_that_no_search_uses_are_deleted(tmp_path: Path) -> None:
    vectors = tmp_path / "vectors"

    def earlier_version() -> None:
        (vectors / "generation-2").mkdir(parents=True)
        (vectors / "current").write_text("generation-2")

    earlier_version()
    async with opened("chroma", tmp_path) as chroma_index:
        assert list(vectors.iterdir()) == []
        await built(chroma_index, matter())
    async with opened("chroma", tmp_path):
        assert len(list(vectors.iterdir())) == 1
    assert approximate_index("exact", vectors, MODEL) is None
    assert not vectors.exists()


async def test_matters_of_tenants_are_apart(tmp_path: Path) -> None:
    index = matter()
    async with opened("chroma", tmp_path) as chroma_index:
        await built(chroma_index, index)
        assert await chroma_index.nearest("other", "m", index, index.vectors[0], 5) is None
        await chroma_index.forget("other", "m")
        assert await recall(chroma_index, index) > 0.95


async def test_a_server_that_is_away_leaves_the_search_exact(tmp_path: Path) -> None:
    index = matter()
    with capture_logs() as logged:
        async with opened("http://127.0.0.1:9", tmp_path) as chroma_index:
            await built(chroma_index, index)
            assert await chroma_index.nearest(*MATTER, index, index.vectors[0], 5) is None
    assert [line["event"] for line in logged if line["log_level"] == "warning"] == ["chroma_failed"]


async def test_a_server_that_does_not_answer_is_not_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    index = matter()
    monkeypatch.setattr(chroma, "TIME_LIMIT_S", 0.01)
    async with opened("chroma", tmp_path) as chroma_index:
        await built(chroma_index, index)
        released = threading.Event()
        monkeypatch.setattr(Collection, "query", lambda *_, **__: released.wait())
        assert await chroma_index.nearest(*MATTER, index, index.vectors[0], 5) is None
        released.set()


async def test_a_server_that_goes_away_leaves_the_search_exact(tmp_path: Path) -> None:
    index = matter()
    async with chroma_server(tmp_path / "server") as url, opened(url, tmp_path) as chroma_index:
        await built(chroma_index, index)
        collection = chroma_index._ready[MATTER][1]
        await asyncio.to_thread(chroma_index._place.forget_others, collection.name.partition("-")[0])
        assert await chroma_index.nearest(*MATTER, index, index.vectors[0], 5) is None
        assert await chroma_index.nearest(*MATTER, index, index.vectors[0], 5) is None


def test_without_the_package_auto_is_exact_and_chroma_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert approximate_index("exact", tmp_path, MODEL) is None
    monkeypatch.setattr(chroma, "find_spec", lambda _: None)
    assert approximate_index("auto", tmp_path, MODEL) is None
    with pytest.raises(ModuleNotFoundError):
        approximate_index("chroma", tmp_path, MODEL)


async def test_a_service_that_lacks_the_package_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    from proviso_service.settings import DocumentSettings, Settings

    monkeypatch.setattr(chroma, "find_spec", lambda _: None)
    settings = Settings(documents=DocumentSettings(vector_index="chroma"))
    with pytest.raises(BackEndUnavailable, match=r"proviso-service\[chroma\]"):
        search_indexes(settings, None, VectorModel(MODEL, 4))  # type: ignore[arg-type]
