"""Tests of the cache of vectors in memory."""

import numpy as np

from proviso_service.backends.memory import MemoryVectorCache


async def test_vectors_are_found_by_model_and_hash() -> None:
    cache = MemoryVectorCache(10)
    await cache.put("one", {"a": np.array([1.0], dtype=np.float32)})
    assert (await cache.get("one", ["a", "b"]))["a"].tolist() == [1.0]
    assert await cache.get("other", ["a"]) == {}


async def test_what_was_used_longest_ago_goes_first() -> None:
    cache = MemoryVectorCache(2)
    for name in "ab":
        await cache.put("m", {name: np.zeros(1, dtype=np.float32)})
    await cache.get("m", ["a"])
    await cache.put("m", {"c": np.zeros(1, dtype=np.float32)})
    assert set(await cache.get("m", ["a", "b", "c"])) == {"a", "c"}
    assert len(cache) == 2


async def test_a_kept_row_does_not_hold_its_matrix() -> None:
    cache = MemoryVectorCache(1)
    await cache.put("m", {"a": np.zeros((100, 4), dtype=np.float32)[3]})
    assert (await cache.get("m", ["a"]))["a"].base is None
