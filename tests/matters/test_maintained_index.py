"""The vector index that keeps itself: real Chroma, real folders, a real database."""

import asyncio
import logging
import os
import shutil
import signal
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from pathlib import Path

import pytest

from proviso_service.backends.vectors.chroma import ChromaIndex
from proviso_service.errors import Draining, IndexRebuilding, Unavailable
from proviso_service.matters.maintained_index import MaintainedIndex
from proviso_service.matters.model import Document, DocumentStatus
from proviso_service.matters.reconciling import RebuildProgress
from proviso_service.models import Vectors
from tests.support.index_world import TENANT, IndexWorld, found, index_world, nearest, random_units, records

VECTORS = random_units(1_200, seed=1)
QUERY = random_units(1, seed=2)[0]


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[IndexWorld]:
    async with index_world(tmp_path) as world:
        yield world


def logged(caplog: pytest.LogCaptureFixture, event: str) -> list[str]:
    return [record.getMessage() for record in caplog.records if f"event='{event}'" in record.getMessage()]


def worker_of(index: MaintainedIndex) -> int:
    current = index._index
    assert isinstance(current, ChromaIndex)
    return current.worker.pid


async def vectors_of(index: MaintainedIndex) -> set[tuple[str, str]]:
    """Every vector in the index itself."""
    current = index._index
    assert current is not None
    return {(v.tenant, v.chunk_id) for part in current.parts for v in await current.survey(part, QUERY)}


async def assert_right(index: MaintainedIndex, document: Document, vectors: Vectors = VECTORS) -> None:
    hits = await index.search(TENANT, document.matter_id, QUERY, 10)
    assert found(hits) == nearest(document, vectors, QUERY, 10)


async def progress_of(index: MaintainedIndex) -> list[RebuildProgress]:
    return [progress async for progress in index.rebuild()]


@pytest.fixture(scope="module")
def made_folder(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Document]:
    """A folder with the state and the index of one document, whose vectors are VECTORS; to be copied."""
    folder = tmp_path_factory.mktemp("made")

    async def make() -> Document:
        async with index_world(folder) as world, world.running() as index:
            return await world.ingested(index, await world.matter(), VECTORS)

    return folder, asyncio.run(make())


@pytest.fixture
async def stored(tmp_path: Path, made_folder: tuple[Path, Document]) -> AsyncIterator[tuple[IndexWorld, Document]]:
    """A world with one document, in which nothing runs."""
    made, document = made_folder
    async with index_world(Path(shutil.copytree(made, tmp_path / "stored"))) as world:
        yield world, document


async def test_a_new_index_is_made_without_a_word(world: IndexWorld, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.WARNING)
    async with world.running() as index:
        assert await index.count() == 0
    assert caplog.records == []
    assert [path.name for path in sorted(world.vectors.iterdir())] == ["current", "generation-1"]


async def test_what_was_written_is_found_after_a_restart(world: IndexWorld, caplog: pytest.LogCaptureFixture) -> None:
    matter = await world.matter()
    async with world.running() as index:
        document = await world.ingested(index, matter, VECTORS)
        await assert_right(index, document)
    async with world.running() as index:
        await assert_right(index, document)
        assert len(await vectors_of(index)) == len(VECTORS)
    assert logged(caplog, "vector_index_repaired") == []


async def test_searches_are_answered_before_the_index_is_open(world: IndexWorld) -> None:
    document = await world.ingested(None, await world.matter(), VECTORS)
    index = world.new_index()
    await assert_right(index, document)
    hits = await index.search(TENANT, document.matter_id, QUERY, 10, ["another"])
    assert hits == []


def overwritten(pattern: str, fill: Callable[[int], bytes], keep: float = 1.0) -> Callable[[Path], None]:
    def damage(generation: Path) -> None:
        for path in generation.glob(pattern):
            size = path.stat().st_size
            path.write_bytes(fill(size)[: int(size * keep)])

    return damage


def gone(pattern: str) -> Callable[[Path], None]:
    def damage(generation: Path) -> None:
        for path in generation.glob(pattern):
            shutil.rmtree(path) if path.is_dir() else path.unlink()

    return damage


def ones(size: int) -> bytes:
    return b"\xff" * size


DAMAGES: dict[str, Callable[[Path], object]] = {
    "the folder is gone": shutil.rmtree,
    "the current generation is not named": lambda generation: (generation.parent / "current").unlink(),
    "another generation is named": lambda generation: (generation.parent / "current").write_text("generation-7"),
    "a path is named": lambda generation: (generation.parent / "current").write_text("../elsewhere"),
    "the layout is garbage": overwritten("layout.json", ones),
    "the database is gone": gone("chroma.sqlite3*"),
    "the database is cut": overwritten("chroma.sqlite3", bytes, 0.5),
    "the database is garbage": overwritten("chroma.sqlite3", ones),
    "all segments are gone": gone("*-*-*"),
    "vectors are gone": gone("*/data_level0.bin"),
    "vectors are zero": overwritten("*/data_level0.bin", bytes),
    "vectors are garbage, which crashes": overwritten("*/data_level0.bin", ones),
    "names are gone": gone("*/index_metadata.pickle"),
    "names are garbage": overwritten("*/index_metadata.pickle", ones),
    "the header is cut": overwritten("*/header.bin", bytes, 0.5),
    "the graph is zero, which crashes": overwritten("*/link_lists.bin", bytes),
}


@pytest.mark.parametrize("damage", DAMAGES)
async def test_a_damaged_index_is_built_anew_while_searches_are_answered(
    stored: tuple[IndexWorld, Document], caplog: pytest.LogCaptureFixture, damage: str
) -> None:
    world, document = stored
    DAMAGES[damage](world.vectors / "generation-1")

    async with world.starting() as index:
        await assert_right(index, document)
        await index.until_whole()
        await assert_right(index, document)
        assert len(await vectors_of(index)) == len(VECTORS)
        await world.until(lambda: len(list(world.vectors.glob("generation-*"))) == 1)
    assert len(logged(caplog, "vector_index_rebuilding")) + len(logged(caplog, "vector_index_repaired")) == 1


async def test_an_index_of_another_model_or_layout_is_built_anew(
    stored: tuple[IndexWorld, Document], caplog: pytest.LogCaptureFixture
) -> None:
    world, document = stored
    world.layout = replace(world.layout, collections=2)
    async with world.running() as index:
        await assert_right(index, document)
        await world.until(lambda: logged(caplog, "vector_index_rebuilt") != [])
    (line,) = logged(caplog, "vector_index_rebuilding")
    assert "other settings" in line
    (line,) = logged(caplog, "vector_index_rebuilt")
    assert "vectors=1200" in line


async def test_an_index_of_an_earlier_version_is_built_anew_and_its_files_go(
    world: IndexWorld, caplog: pytest.LogCaptureFixture
) -> None:
    document = await world.ingested(None, await world.matter(), VECTORS)
    segment = world.vectors / "b40525c0-4c14-478f-8e40-f1d2f0fcd88b"
    segment.mkdir(parents=True)
    for name in ("chroma.sqlite3", "layout.json", "letter.txt"):
        (world.vectors / name).write_text("{}")
    async with world.running() as index:
        await assert_right(index, document)
        left = {"current", "generation-1", "letter.txt"}
        await world.until(lambda: {path.name for path in world.vectors.iterdir()} == left)
    assert "earlier version" in logged(caplog, "vector_index_rebuilding")[0]


@pytest.mark.parametrize("number", [signal.SIGSEGV, signal.SIGKILL])
async def test_a_process_that_dies_is_replaced_and_no_search_fails(world: IndexWorld, number: signal.Signals) -> None:
    matter = await world.matter()
    async with world.running() as index:
        document = await world.ingested(index, matter, VECTORS)
        os.kill(worker_of(index), number)
        await assert_right(index, document)
        other = await world.matter()
        second = await world.ingested(index, other, VECTORS[:20])
        await index.until_whole()
        await assert_right(index, document)
        await assert_right(index, second, VECTORS[:20])
        assert len(await vectors_of(index)) == 1_220


async def test_a_process_that_hangs_is_replaced(world: IndexWorld, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("proviso_service.backends.vectors.chroma.READ_LIMIT_S", 0.2)
    async with world.running() as index:
        document = await world.ingested(index, await world.matter(), VECTORS)
        stopped = worker_of(index)
        os.kill(stopped, signal.SIGSTOP)
        await assert_right(index, document)
        await index.until_whole()
        assert worker_of(index) != stopped
        await assert_right(index, document)


async def test_an_index_that_keeps_failing_is_built_anew(world: IndexWorld, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("proviso_service.matters.maintained_index.LONGEST_PAUSE_S", 0.0)
    async with world.running() as index:
        document = await world.ingested(index, await world.matter(), VECTORS)
        for _ in range(3):
            os.kill(worker_of(index), signal.SIGKILL)
            await assert_right(index, document)
            await index.until_whole()
        await assert_right(index, document)
    assert (world.vectors / "current").read_text() == "generation-2"


async def test_vectors_that_nothing_claims_are_removed_and_missing_ones_written(
    world: IndexWorld, caplog: pytest.LogCaptureFixture
) -> None:
    matter = await world.matter()
    async with world.running() as index:
        kept = await world.ingested(index, matter, VECTORS[:30])
        deleted = await world.ingested(index, matter, VECTORS[30:50])
        failed = await world.begun(matter)
        await index.upsert(TENANT, records(failed, VECTORS[:5]))
        under_way = await world.begun(matter)
        await index.upsert(TENANT, records(under_way, VECTORS[:7]))
        shrunk = await world.begun(matter)
        await index.upsert(TENANT, records(shrunk, VECTORS[:9]))
    await world.committed(shrunk, VECTORS[:4])
    await world.store.set_status(failed, DocumentStatus.FAILED, "It is encrypted.")
    await world.store.delete_document(TENANT, matter.matter_id, deleted.document_id)
    unwritten = await world.ingested(None, matter, VECTORS[50:60])

    async with world.running() as index:
        sizes = ((kept, 30), (under_way, 7), (shrunk, 4), (unwritten, 10))
        expected = {(TENANT, f"{document.document_id}:{row}") for document, size in sizes for row in range(size)}
        assert await vectors_of(index) == expected
    (line,) = logged(caplog, "vector_index_repaired")
    assert "written=10" in line
    assert f"removed={20 + 5 + 5}" in line


async def test_a_rebuilding_takes_writes_and_deletions_with_it(world: IndexWorld) -> None:
    matter, other = await world.matter(), await world.matter()
    async with world.running() as index:
        documents = [
            await world.ingested(index, matter, VECTORS[start : start + 100]) for start in range(0, 1_000, 100)
        ]
        begun_before = await world.begun(other)
        await index.upsert(TENANT, records(begun_before, VECTORS[:50]))
        rebuilding = asyncio.create_task(progress_of(index))
        late: list[Document] = []
        for document in documents[:5]:
            await world.store.delete_document(TENANT, matter.matter_id, document.document_id)
            await index.delete_document(TENANT, matter.matter_id, document.document_id)
            late.append(await world.ingested(index, matter, VECTORS[:20]))
            assert found(await index.search(TENANT, matter.matter_id, VECTORS[0], 1)) != []
        with pytest.raises(IndexRebuilding):
            await progress_of(index)
        assert not rebuilding.done()  # it waits for the document that was under way as it began
        await index.upsert(TENANT, records(begun_before, VECTORS[50:60], first=50))
        await world.committed(begun_before, VECTORS[:60])
        progress = await rebuilding

        sizes = [(document, 100) for document in documents[5:]] + [(document, 20) for document in late]
        sizes.append((begun_before, 60))
        expected = {(TENANT, f"{document.document_id}:{row}") for document, size in sizes for row in range(size)}
        assert await vectors_of(index) == expected
        assert [p.done for p in progress] == sorted(p.done for p in progress)
        assert progress[-1].done == progress[-1].total
    assert (world.vectors / "current").read_text() == "generation-2"
    assert not (world.vectors / "generation-1").exists()


async def test_a_rebuilding_goes_on_without_its_caller(world: IndexWorld) -> None:
    async with world.running() as index:
        document = await world.ingested(index, await world.matter(), VECTORS)
        states = index.rebuild()
        await anext(states)
        await states.aclose()
        with pytest.raises(IndexRebuilding):
            await progress_of(index)
        await world.until(lambda: not (world.vectors / "generation-1").exists())
        await assert_right(index, document)


async def test_half_a_generation_of_a_stopped_rebuilding_is_removed_by_the_next_start(world: IndexWorld) -> None:
    async with world.running() as index:
        document = await world.ingested(index, await world.matter(), VECTORS)
        states = index.rebuild()
        await anext(states)
        await world.until((world.vectors / "generation-2").exists)
    assert (world.vectors / "current").read_text() == "generation-1"
    async with world.running() as index:
        await assert_right(index, document)
        await world.until(lambda: not (world.vectors / "generation-2").exists())


async def test_a_closing_index_ends_its_rebuilding_and_takes_no_other(world: IndexWorld) -> None:
    async with world.running() as index:
        await world.ingested(index, await world.matter(), VECTORS)
        rebuilding = asyncio.create_task(progress_of(index))
        await world.until((world.vectors / "generation-2").exists)
    with pytest.raises(Draining):
        await rebuilding
    with pytest.raises(Draining):
        await progress_of(index)


async def test_a_rebuilding_that_fails_leaves_the_old_index_in_use(
    world: IndexWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with world.running() as index:
        document = await world.ingested(index, await world.matter(), VECTORS)

        async def keeps_nothing(*_: object) -> None:
            return None

        with monkeypatch.context() as broken:
            broken.setattr(ChromaIndex, "upsert", keeps_nothing)
            with pytest.raises(Unavailable):
                await progress_of(index)
        await assert_right(index, document)
        assert len(await vectors_of(index)) == len(VECTORS)
    assert (world.vectors / "current").read_text() == "generation-1"


async def test_a_search_among_few_vectors_is_answered_by_the_database(world: IndexWorld) -> None:
    index = world.new_index(few=len(VECTORS))
    index.open()
    await index.until_whole()
    matter = await world.matter()
    document = await world.ingested(index, matter, VECTORS)
    other = await world.ingested(index, matter, VECTORS[:5])
    assert index._index is not None
    await index._index.delete_matter(TENANT, matter.matter_id)  # so that only the database can answer
    assert await index.search(TENANT, matter.matter_id, QUERY, 10) == []  # more than few
    of_one = await index.search(TENANT, matter.matter_id, QUERY, 10, [document.document_id])
    assert found(of_one) == nearest(document, VECTORS, QUERY, 10)
    assert len(await index.search(TENANT, matter.matter_id, QUERY, 10, [other.document_id])) == 5
    await index.close()
