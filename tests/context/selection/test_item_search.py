"""The index of the catalog: what is embedded, and how often."""

import asyncio
from collections.abc import Sequence

import numpy as np
import pytest

from proviso_service.backends.memory import MemoryVectorCache
from proviso_service.context.catalog.items import CatalogItem
from proviso_service.context.model import IncludeMode
from proviso_service.context.selection.config import SelectionConfig
from proviso_service.context.selection.search import ItemSearch
from proviso_service.models import Vectors
from tests.support.selection_world import BY_MEANING, ToldEmbedder, catalog_item, reference, rule, search_of


def every(items: Sequence[CatalogItem]) -> np.typing.NDArray[np.bool_]:
    return np.ones(len(items), dtype=np.bool_)


async def test_every_text_is_embedded_once_however_often_it_is_searched() -> None:
    items = [
        catalog_item(rule("A"), description="same", content="one"),
        catalog_item(rule("B"), description="same", content="two"),
    ]
    embedder = ToldEmbedder({})
    search = search_of(embedder)
    await search.prepare(items)
    await search.matches(items, "message", every(items))
    await search.matches(list(items), "another", every(items))
    assert sorted(embedder.embedded) == ["one", "same", "two"]


async def test_a_changed_catalog_embeds_what_is_new_and_forgets_what_is_gone() -> None:
    embedder = ToldEmbedder({"old": 0.9, "new": 0.6})
    search = search_of(embedder)
    kept = catalog_item(reference("kept"), description="kept")
    await search.prepare([kept, catalog_item(rule("A"), content="old")])
    changed = [kept, catalog_item(rule("A"), content="new")]
    matches = await search.matches(changed, "message", every(changed))
    assert embedder.embedded == ["kept", "old", "new"]
    assert matches.scores.tolist() == pytest.approx([0.0, 0.6])


async def test_messages_at_the_same_time_share_one_index() -> None:
    items = [catalog_item(rule("A"), description="one")]
    embedder = ToldEmbedder({})
    search = search_of(embedder)
    await asyncio.gather(*(search.matches(items, "message", every(items)) for _ in range(5)))
    assert embedder.embedded == ["one"]


async def test_what_was_embedded_before_the_time_was_over_is_kept() -> None:
    class SlowSecondBatch(ToldEmbedder):
        slow = True

        async def embed_documents(self, texts: Sequence[str]) -> Vectors:
            if self.slow and self.embedded:
                await asyncio.Event().wait()
            return await super().embed_documents(texts)

    items = [catalog_item(rule(str(number)), description=f"text {number}") for number in range(40)]
    embedder = SlowSecondBatch({})
    search = ItemSearch(embedder, MemoryVectorCache(100), BY_MEANING.model_copy(update={"time_limit_s": 0.05}))
    with pytest.raises(TimeoutError):
        await search.matches(items, "message", every(items))
    embedder.slow = False
    await search.prepare(items)
    assert sorted(embedder.embedded) == sorted(f"text {number}" for number in range(40))


async def test_items_that_are_not_wanted_take_no_place_among_the_best() -> None:
    items = [catalog_item(rule("held"), description="held"), catalog_item(rule("free"), description="free")]
    settings = BY_MEANING.model_copy(update={"top_k": 1})
    search = search_of(ToldEmbedder({"held": 0.9, "free": 0.6}), settings)
    matches = await search.matches(items, "message", np.array([False, True]))
    assert (matches.scores.tolist(), matches.in_top.tolist()) == (pytest.approx([0.6]), [True])


async def test_an_item_without_any_text_is_known_by_its_name() -> None:
    items = [catalog_item(rule("bare"))]
    embedder = ToldEmbedder({"bare": 0.7})
    matches = await search_of(embedder).matches(items, "message", every(items))
    assert matches.scores.tolist() == pytest.approx([0.7])


async def test_common_words_count_beside_the_meaning() -> None:
    items = [catalog_item(rule("A"), description="Escrow of source code"), catalog_item(rule("B"), description="Rent")]
    settings = BY_MEANING.model_copy(update={"word_weight": 0.5})
    search = search_of(ToldEmbedder({"Escrow of source code": 0.6, "Rent": 0.6}), settings)
    matches = await search.matches(items, "Is the code in escrow?", every(items))
    assert matches.scores[1] == pytest.approx(0.3)
    assert 0.3 < matches.scores[0] < 0.8


async def test_only_agent_items_that_may_be_chosen_are_embedded() -> None:
    catalog = [
        catalog_item(rule("A"), description="agent"),
        catalog_item(rule("B"), IncludeMode.ALWAYS, description="always"),
        catalog_item(rule("C"), description="off", enabled=False),
    ]
    embedder = ToldEmbedder({})
    await search_of(embedder).prepare(catalog)
    assert embedder.embedded == ["agent"]
    await search_of(embedder).prepare(catalog[1:])
    assert embedder.embedded == ["agent"]


async def test_what_is_not_english_is_compared_as_it_is_and_in_english() -> None:
    asked: list[str] = []

    class Asked(ToldEmbedder):
        async def embed_query(self, text: str) -> Vectors:
            asked.append(text)
            return await super().embed_query(text)

    items = [catalog_item(rule("A"), description="one")]
    search = search_of(Asked({}, {"terminate termination end agreement": {"one": 0.75}}))
    for message in ("What does Kündigungsfrist mean?", "Which pension is paid?", "Wir kündigen den Vertrag."):
        matches = await search.matches(items, message, every(items))
    assert asked[:2] == ["What does Kündigungsfrist mean?", "Which pension is paid?"]
    assert asked[2:] == ["Wir kündigen den Vertrag.", "terminate termination end agreement"]
    assert matches.scores.tolist() == [0.75]


@pytest.mark.parametrize(
    ("message", "embedded"),
    [
        ("Who pays the rent?", 0),
        ("Which clauses are there?", 0),  # every item is about clauses
        ("Which clauses are about notices?", 1),
        ("Welche Fristen gibt es?", 0),
    ],
)
async def test_a_message_is_embedded_only_where_a_word_of_it_tells_items_apart(message: str, embedded: int) -> None:
    asked: list[str] = []

    class Asked(ToldEmbedder):
        async def embed_query(self, text: str) -> Vectors:
            asked.append(text)
            return await super().embed_query(text)

    items = [catalog_item(rule(f"Clause {number}"), description="a clause") for number in range(4)]
    items.append(catalog_item(rule("Notice"), description="the notices of a clause"))
    search = ItemSearch(Asked({}), MemoryVectorCache(), SelectionConfig())
    matches = await search.matches(items, message, every(items))
    assert len(asked) == embedded
    assert bool(embedded) or matches.scores.max() < SelectionConfig().min_score
