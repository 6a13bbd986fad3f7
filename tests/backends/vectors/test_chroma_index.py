"""Tests of the vector index with its real process, on real folders."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import numpy as np
import pytest

from proviso_service.backends.vectors.chroma import ChromaIndex, VectorLayout
from proviso_service.matters.indexes import IndexFailed
from proviso_service.matters.stores import VectorRecord
from proviso_service.models import Vectors

DIMENSIONS = 8
COLLECTIONS = 4


@pytest.fixture
async def index(tmp_path: Path) -> AsyncIterator[ChromaIndex]:
    index = await open_index(tmp_path)
    yield index
    await index.close()


async def open_index(folder: Path, collections: int = COLLECTIONS) -> ChromaIndex:
    return await ChromaIndex.open(folder, VectorLayout(collections, DIMENSIONS, "test-model"))


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


async def ids(index: ChromaIndex, tenant: str, matter: str, documents: Sequence[str] = ()) -> set[str]:
    return {hit.chunk_id for hit in await index.search(tenant, matter, unit(1), 100, documents)}


async def test_search_gives_the_cosine_best_first(index: ChromaIndex) -> None:
    vectors = np.stack([unit(0, 1), unit(1, 1), unit(1)])
    await index.upsert("t", records("m", "d", vectors))

    hits = await index.search("t", "m", unit(1), 10)

    assert [hit.chunk_id for hit in hits] == ["d-2", "d-1", "d-0"]
    assert [hit.similarity for hit in hits] == pytest.approx([1.0, 2**-0.5, 0.0], abs=1e-5)


async def test_search_is_as_good_as_comparing_with_every_vector_of_the_matter(tmp_path: Path) -> None:
    wanted = random_units(60, seed=2)
    index = await open_index(tmp_path, collections=1)
    await index.upsert("t", records("crowded", "d", random_units(3_000, seed=1)))
    await index.upsert("t", records("small", "d", wanted))
    query = random_units(1, seed=3)[0]

    hits = await index.search("t", "small", query, 10)

    assert [hit.chunk_id for hit in hits] == [f"d-{row}" for row in np.argsort(-(wanted @ query))[:10]]
    await index.close()


@pytest.mark.parametrize("others", [0, 30, 3_000])
async def test_search_in_a_large_matter_is_exact_whatever_shares_its_collection(tmp_path: Path, others: int) -> None:
    wanted = random_units(600, seed=2)
    index = await open_index(tmp_path, collections=1)
    await index.upsert("t", records("large", "d", wanted))
    if others:
        await index.upsert("t", records("other", "e", random_units(others, seed=1)))
        await index.upsert("u", records("large", "f", random_units(others, seed=4)))
    query = random_units(1, seed=3)[0]

    hits = await index.search("t", "large", query, 10)

    best = np.argsort(-(wanted @ query))[:10]
    assert [hit.chunk_id for hit in hits] == [f"d-{row}" for row in best]
    assert [hit.similarity for hit in hits] == pytest.approx((wanted @ query)[best].tolist(), abs=1e-4)
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


async def test_upserting_again_replaces(index: ChromaIndex) -> None:
    await index.upsert("t", records("m", "d", unit(1)[None]))
    await index.upsert("t", records("m", "d", unit(0, 1)[None]))

    (hit,) = await index.search("t", "m", unit(0, 1), 10)

    assert hit.similarity == pytest.approx(1.0, abs=1e-5)
    assert await index.count() == 1


async def test_more_records_than_one_batch_takes_are_all_kept(index: ChromaIndex) -> None:
    many = records("m", "d", random_units(170, seed=4))
    await index.upsert("t", many + records("n", "e", random_units(5, seed=5)))

    assert await index.count() == 175
    assert len(await ids(index, "t", "m")) == 100


async def test_deletion_takes_a_document_or_a_whole_matter(index: ChromaIndex) -> None:
    for matter, document in [("m", "d"), ("m", "e"), ("n", "f")]:
        await index.upsert("t", records(matter, document, random_units(3, seed=6)))

    await index.delete_document("t", "m", "d")
    assert await ids(index, "t", "m") == {"e-0", "e-1", "e-2"}
    await index.delete_document("other", "m", "e")
    assert await index.count() == 6
    await index.delete_matter("t", "m")
    assert await ids(index, "t", "m") == set()
    assert await ids(index, "t", "n") == {"f-0", "f-1", "f-2"}


async def test_a_deletion_comes_after_the_writing_that_was_cancelled_before_it(index: ChromaIndex) -> None:
    writing = asyncio.create_task(index.upsert("t", records("m", "d", random_units(16, seed=7))))
    await asyncio.sleep(0)  # one step: the batch is handed to the writing thread
    writing.cancel()
    await index.delete_document("t", "m", "d")

    assert await index.count() == 0
    assert (await asyncio.gather(writing, return_exceptions=True))[0].__class__ is asyncio.CancelledError


async def test_an_unknown_matter_and_an_empty_index_have_no_neighbours(index: ChromaIndex) -> None:
    assert await index.search("t", "m", unit(1), 5) == []
    assert await index.count() == 0
    await index.delete_matter("t", "m")
    await index.delete_document("t", "m", "d")


async def test_vectors_of_another_size_are_refused(index: ChromaIndex) -> None:
    with pytest.raises(ValueError, match="8 values"):
        await index.upsert("t", [VectorRecord("c", "m", "d", np.ones(3, dtype=np.float32))])


async def test_a_survey_shows_every_vector_as_searches_see_it(tmp_path: Path) -> None:
    index = await open_index(tmp_path, collections=1)
    vectors = random_units(300, seed=12)
    await index.upsert("t", records("m", "d", vectors[:200]))
    await index.upsert("a:b", records("m", "e", vectors[200:]))
    await index.remove("vectors-000", [("t", "d-0"), ("t", "absent")])

    seen = await index.survey("vectors-000", unit(1))

    expected = {("t", f"d-{row}"): vectors[row][0] for row in range(1, 200)}
    expected |= {("a:b", f"e-{row}"): vectors[200 + row][0] for row in range(100)}
    assert {(found.tenant, found.chunk_id): found.similarity for found in seen} == pytest.approx(expected, abs=1e-5)
    await index.close()


async def test_vectors_outlive_closing(tmp_path: Path) -> None:
    first = await open_index(tmp_path)
    await first.upsert("t", records("m", "d", random_units(1_200, seed=8)))
    await first.upsert("t", records("n", "e", unit(1)[None]))
    await first.close()

    second = await open_index(tmp_path)

    assert await second.count() == 1_201
    assert await ids(second, "t", "n") == {"e-0"}
    assert len(await ids(second, "t", "m")) == 100
    await second.close()


async def test_a_closed_index_fails(tmp_path: Path) -> None:
    index = await open_index(tmp_path)
    await index.close()

    with pytest.raises(IndexFailed, match="closed"):
        await index.search("t", "m", unit(1), 5)


async def test_what_chroma_refuses_fails_with_its_reason_and_leaves_the_index_open(index: ChromaIndex) -> None:
    await index.upsert("t", records("m", "d", unit(1)[None]))

    with pytest.raises(IndexFailed, match="dimension"):
        await index.survey(index.part_of("t", "m"), np.ones(3, dtype=np.float32))

    assert await index.count() == 1
