"""The embedded vector index, on real folders."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import numpy as np
import pytest

from proviso_service.errors import NotReady
from proviso_service.matters.ports import VectorRecord
from proviso_service.models.ports import Vectors
from proviso_service.storage.vectors.chroma import ChromaVectorIndex
from proviso_service.storage.vectors.chroma_database import ChromaDatabase
from proviso_service.storage.vectors.layout import VectorIndexCorrupt, VectorIndexFailed, VectorLayout

DIMENSIONS = 8
COLLECTIONS = 4


@pytest.fixture
async def index(tmp_path: Path) -> AsyncIterator[ChromaVectorIndex]:
    index = await open_index(tmp_path / "vectors")
    yield index
    await index.close()


async def open_index(folder: Path, collections: int = COLLECTIONS) -> ChromaVectorIndex:
    return await ChromaVectorIndex.open(folder, collections, DIMENSIONS)


def unit(*values: float) -> Vectors:
    vector = np.zeros(DIMENSIONS, dtype=np.float32)
    vector[: len(values)] = values
    return vector / np.linalg.norm(vector)


def random_units(count: int, seed: int) -> Vectors:
    vectors = np.random.default_rng(seed).normal(size=(count, DIMENSIONS)).astype(np.float32)
    normed: Vectors = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    return normed


def records(matter: str, document: str, vectors: Vectors) -> list[VectorRecord]:
    return [VectorRecord(f"{document}-{number}", matter, document, vector) for number, vector in enumerate(vectors)]


def overwrite(folder: Path, pattern: str) -> None:
    (path,) = folder.glob(pattern)
    path.write_bytes(b"\xff" * path.stat().st_size)


def fill(folder: Path, collections: int, matter: str, vectors: Vectors) -> None:
    """Writes at once what the index would write in many small batches."""
    database = ChromaDatabase(folder, VectorLayout(collections=collections, dimensions=DIMENSIONS))
    database.upsert("t", matter, records(matter, "d", vectors))
    database.close()


async def ids(index: ChromaVectorIndex, tenant: str, matter: str, documents: Sequence[str] = ()) -> set[str]:
    return {hit.chunk_id for hit in await index.search(tenant, matter, unit(1), 100, documents)}


async def test_search_gives_the_cosine_best_first(index: ChromaVectorIndex) -> None:
    vectors = np.stack([unit(0, 1), unit(1, 1), unit(1)])
    await index.upsert("t", records("m", "d", vectors))

    hits = await index.search("t", "m", unit(1), 10)

    assert [hit.chunk_id for hit in hits] == ["d-2", "d-1", "d-0"]
    assert [hit.similarity for hit in hits] == pytest.approx([1.0, 2**-0.5, 0.0], abs=1e-5)


async def test_search_is_as_good_as_comparing_with_every_vector_of_the_matter(tmp_path: Path) -> None:
    wanted = random_units(60, seed=2)
    fill(tmp_path, 1, "crowded", random_units(3_000, seed=1))
    fill(tmp_path, 1, "small", wanted)
    index = await open_index(tmp_path, collections=1)
    query = random_units(1, seed=3)[0]

    hits = await index.search("t", "small", query, 10)

    assert [hit.chunk_id for hit in hits] == [f"d-{row}" for row in np.argsort(-(wanted @ query))[:10]]
    await index.close()


async def test_matters_tenants_and_documents_are_kept_apart(tmp_path: Path) -> None:
    index = await open_index(tmp_path, collections=1)
    for tenant, matter, document in [("a", "m", "d"), ("b", "m", "d"), ("a", "n", "e"), ("a", "m", "f")]:
        await index.upsert(tenant, records(matter, document, unit(1)[None]))

    assert await ids(index, "a", "m") == {"d-0", "f-0"}
    assert await ids(index, "a", "m", ["f", "unknown"]) == {"f-0"}
    assert await ids(index, "b", "m") == {"d-0"}
    assert await ids(index, "b", "n") == set()
    assert await index.count() == 4
    await index.close()


async def test_names_that_read_alike_when_joined_are_kept_apart(tmp_path: Path) -> None:
    index = await open_index(tmp_path, collections=1)
    await index.upsert("a:b", [VectorRecord("c", "m", "d", unit(1))])
    await index.upsert("a", [VectorRecord("b:c", "b:m", "d", unit(1))])

    assert await ids(index, "a:b", "m") == {"c"}
    assert await ids(index, "a", "b:m") == {"b:c"}
    assert await index.count() == 2
    await index.close()


async def test_upserting_again_replaces(index: ChromaVectorIndex) -> None:
    await index.upsert("t", records("m", "d", unit(1)[None]))
    await index.upsert("t", records("m", "d", unit(0, 1)[None]))

    (hit,) = await index.search("t", "m", unit(0, 1), 10)

    assert hit.similarity == pytest.approx(1.0, abs=1e-5)
    assert await index.count() == 1


async def test_more_records_than_one_batch_takes_are_all_kept(index: ChromaVectorIndex) -> None:
    many = records("m", "d", random_units(170, seed=4))
    await index.upsert("t", many + records("n", "e", random_units(5, seed=5)))

    assert await index.count() == 175
    assert len(await ids(index, "t", "m")) == 100


async def test_deletion_takes_a_document_or_a_whole_matter(index: ChromaVectorIndex) -> None:
    for matter, document in [("m", "d"), ("m", "e"), ("n", "f")]:
        await index.upsert("t", records(matter, document, random_units(3, seed=6)))

    await index.delete_document("t", "m", "d")
    assert await ids(index, "t", "m") == {"e-0", "e-1", "e-2"}
    await index.delete_document("other", "m", "e")
    assert await index.count() == 6
    await index.delete_matter("t", "m")
    assert await ids(index, "t", "m") == set()
    assert await ids(index, "t", "n") == {"f-0", "f-1", "f-2"}


async def test_a_deletion_comes_after_the_writing_that_was_cancelled_before_it(index: ChromaVectorIndex) -> None:
    writing = asyncio.create_task(index.upsert("t", records("m", "d", random_units(16, seed=7))))
    await asyncio.sleep(0)  # one step: the batch is handed to the writing thread
    writing.cancel()
    await index.delete_document("t", "m", "d")

    assert await index.count() == 0
    assert (await asyncio.gather(writing, return_exceptions=True))[0].__class__ is asyncio.CancelledError


async def test_an_unknown_matter_and_an_empty_index_have_no_neighbours(index: ChromaVectorIndex) -> None:
    assert await index.search("t", "m", unit(1), 5) == []
    assert await index.count() == 0
    await index.delete_matter("t", "m")
    await index.delete_document("t", "m", "d")


async def test_vectors_of_another_size_are_refused(index: ChromaVectorIndex) -> None:
    with pytest.raises(ValueError, match="3 values"):
        await index.upsert("t", [VectorRecord("c", "m", "d", np.ones(3, dtype=np.float32))])


async def test_vectors_outlive_closing(tmp_path: Path) -> None:
    fill(tmp_path, COLLECTIONS, "m", random_units(1_200, seed=8))
    first = await open_index(tmp_path)
    await first.upsert("t", records("n", "e", unit(1)[None]))
    await first.close()

    second = await open_index(tmp_path)

    assert await second.count() == 1_201
    assert await ids(second, "t", "n") == {"e-0"}
    assert len(await ids(second, "t", "m")) == 100
    await second.close()


async def test_a_closed_index_is_not_ready(tmp_path: Path) -> None:
    index = await open_index(tmp_path)
    await index.close()

    with pytest.raises(NotReady):
        await index.search("t", "m", unit(1), 5)


async def test_another_layout_is_told_apart(tmp_path: Path) -> None:
    await (await open_index(tmp_path)).close()

    with pytest.raises(VectorIndexCorrupt, match="collections=4"):
        await open_index(tmp_path, collections=5)


async def test_a_folder_of_something_else_is_refused(tmp_path: Path) -> None:
    (tmp_path / "letter.txt").write_text("Dear Sir or Madam")

    with pytest.raises(VectorIndexCorrupt, match="laid out"):
        await open_index(tmp_path)


@pytest.mark.parametrize("damaged", ["chroma.sqlite3", "*/header.bin", "*/index_metadata.pickle"])
async def test_damage_is_found_on_opening(tmp_path: Path, damaged: str) -> None:
    fill(tmp_path, COLLECTIONS, "m", random_units(1_500, seed=9))
    overwrite(tmp_path, damaged)

    with pytest.raises(VectorIndexCorrupt) as caught:
        await open_index(tmp_path)

    assert caught.value.folder == tmp_path
    assert isinstance(caught.value, VectorIndexFailed)
