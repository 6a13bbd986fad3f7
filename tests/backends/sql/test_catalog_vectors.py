"""The vectors of the catalog's items are kept in the state, so that the next start need not make them again."""

import numpy as np
import pytest

from proviso_service.backends.sql import catalog_vectors
from proviso_service.backends.sql.catalog_vectors import SqlCatalogVectors
from proviso_service.backends.sql.database import Database
from proviso_service.context.model import ItemRef, ItemType
from proviso_service.context.selection.search import ItemSearch
from proviso_service.errors import Unavailable
from proviso_service.models import Vectors
from tests.support.selection_world import BY_MEANING, ToldEmbedder, catalog_item


def _vectors(*numbers: float) -> dict[str, Vectors]:
    return {f"sha{number:g}": np.full(3, number, np.float32) for number in numbers}


async def test_vectors_are_found_by_model_and_hash(database: Database) -> None:
    kept = SqlCatalogVectors(database)
    await kept.put("a", _vectors(1, 2))
    await kept.put("a", _vectors(2, 3))
    found = await kept.get("a", ["sha1", "sha3", "sha4"])
    assert {sha256: vector.tolist() for sha256, vector in found.items()} == {"sha1": [1, 1, 1], "sha3": [3, 3, 3]}
    assert await kept.get("b", ["sha1"]) == {}


async def test_the_earliest_are_dropped_where_there_are_too_many(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(catalog_vectors, "MAX_VECTORS", 2)
    kept = SqlCatalogVectors(database)
    await kept.put("a", _vectors(1, 2))
    await kept.put("a", _vectors(3))
    assert set(await kept.get("a", ["sha1", "sha2", "sha3"])) == {"sha2", "sha3"}


async def test_the_next_start_embeds_only_what_is_new(database: Database) -> None:
    first, second = (ToldEmbedder({"about cats": 0.9, "about dogs": 0.8}) for _ in range(2))
    cats, dogs = (
        catalog_item(ItemRef(ItemType.RULE, name), content=content)
        for name, content in (("cats", "about cats"), ("dogs", "about dogs"))
    )
    await ItemSearch(first, SqlCatalogVectors(database), BY_MEANING).prepare([cats])
    assert first.embedded
    await ItemSearch(second, SqlCatalogVectors(database), BY_MEANING).prepare([cats])
    assert second.embedded == []
    await ItemSearch(second, SqlCatalogVectors(database), BY_MEANING).prepare([cats, dogs])
    assert second.embedded
    assert not set(second.embedded) & set(first.embedded)


async def test_items_are_found_where_the_state_keeps_no_vectors(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def refused(*_arguments: object) -> None:
        raise Unavailable("the disk is full")

    kept = SqlCatalogVectors(database)
    monkeypatch.setattr(kept, "put", refused)
    item = catalog_item(ItemRef(ItemType.RULE, "cats"), content="about cats")
    search = ItemSearch(ToldEmbedder({"about cats": 0.9}), kept, BY_MEANING)
    matches = await search.matches([item], "cats?", np.array([True]))
    assert matches.scores.tolist() == pytest.approx([0.9])
