"""What holds for every catalog, session and message."""

import asyncio
import itertools

from hypothesis import given
from hypothesis import strategies as st

from proviso_service.context.catalog.items import CatalogItem
from proviso_service.context.model import IncludeMode, ItemRef, ItemType, SessionItem
from proviso_service.context.selection.config import SelectionConfig
from tests.support.selection_world import built, catalog_item
from tests.support.word_embedder import WordEmbedder

WORDS = st.lists(
    st.sampled_from(["cap", "liability", "court", "notice", "data", "licence", "rent", "\u6cd5", "\ud800"]), max_size=12
)
TEXTS = WORDS.map(" ".join)
REFS = st.builds(ItemRef, st.sampled_from(ItemType), st.sampled_from("abcdef"), st.sampled_from(["", "s"]))
ITEMS = st.builds(
    catalog_item,
    REFS,
    st.sampled_from([*IncludeMode, IncludeMode.AGENT, IncludeMode.AGENT]),
    TEXTS,
    TEXTS,
    st.integers(-2, 2),
    enabled=st.sampled_from([True, True, False]),
)
CATALOGS = st.lists(ITEMS, min_size=4, max_size=12, unique_by=lambda item: item.ref)
SESSIONS = st.lists(st.builds(SessionItem, REFS, st.sampled_from([IncludeMode.ALWAYS, IncludeMode.MANUAL])), max_size=6)
SETTINGS = st.builds(
    SelectionConfig,
    top_k=st.integers(1, 5),
    top_n=st.integers(0, 5),
    min_score=st.sampled_from([0.0, 0.1, 0.5, 1.0]),
    max_distance=st.floats(0, 1),
    word_weight=st.floats(0, 1),
    max_chars=st.sampled_from([10_000, 200, 60, 0]),
    max_tokens=st.sampled_from([10_000, 30, 0]),
)


@given(SESSIONS, CATALOGS, TEXTS, SETTINGS)
def test_a_request_is_a_superset_of_its_session_and_names_no_item_twice(
    session: list[SessionItem], catalog: list[CatalogItem], message: str, settings: SelectionConfig
) -> None:
    request = asyncio.run(built(session, catalog, WordEmbedder(), message, settings))
    held = list(dict.fromkeys(item.ref for item in session))
    refs = [item.ref for item in request.items]
    assert set(held) <= set(refs)
    assert len({*refs, *(one.ref for one in request.omitted)}) == len(refs) + len(request.omitted)

    by_ref = {item.ref: item for item in catalog}
    chosen = [item for item in request.items if item.ref not in held]
    assert len(chosen) <= settings.top_n
    for item in chosen:
        assert item.include_mode is IncludeMode.AGENT
        assert item.ref not in held
        assert by_ref[item.ref].include_mode is IncludeMode.AGENT
        assert by_ref[item.ref].enabled
        assert item.similarity_score is not None
        assert settings.min_score <= item.similarity_score + 1e-6 <= 1 + 2e-6
    order = [(-by_ref[item.ref].priority, -(item.similarity_score or 0)) for item in chosen]
    assert all(one <= other for one, other in itertools.pairwise(order))

    agent = {item.ref for item in catalog if item.include_mode is IncludeMode.AGENT} - set(held)
    assert {item.ref for item in chosen} | {one.ref for one in request.omitted} == agent
    if chosen:
        assert request.characters <= settings.max_chars
        assert request.tokens <= settings.max_tokens


@given(SESSIONS, CATALOGS, TEXTS, SETTINGS)
def test_items_stand_by_priority_and_those_of_the_session_keep_their_order_before_others(
    session: list[SessionItem], catalog: list[CatalogItem], message: str, settings: SelectionConfig
) -> None:
    request = asyncio.run(built(session, catalog, WordEmbedder(), message, settings))
    held = list(dict.fromkeys(item.ref for item in session))
    priority = {item.ref: item.priority for item in catalog}
    place = {ref: number for number, ref in enumerate(held)}
    # An agent item stands behind all of the session's; among themselves they stand by their scores.
    order = [
        (-priority.get(item.ref, 0), place.get(item.ref, len(held)), -(item.similarity_score or 0.0))
        for item in request.items
    ]
    assert order == sorted(order)


@given(SESSIONS, CATALOGS, TEXTS, SETTINGS)
def test_the_same_request_is_built_every_time(
    session: list[SessionItem], catalog: list[CatalogItem], message: str, settings: SelectionConfig
) -> None:
    first = asyncio.run(built(session, catalog, WordEmbedder(), message, settings))
    assert asyncio.run(built(session, catalog, WordEmbedder(), message, settings)) == first
