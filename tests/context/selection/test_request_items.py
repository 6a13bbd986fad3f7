"""What enters a request besides the session's items, what is left out and why."""

import asyncio
from collections.abc import Sequence

import numpy as np
import pytest

from proviso_service.context.catalog.items import CatalogItem
from proviso_service.context.model import IncludeMode, OmissionReason, OmittedItem, SessionItem
from proviso_service.errors import NotReady
from proviso_service.models import Vectors
from tests.support.selection_world import BY_MEANING, ToldEmbedder, built, catalog_item, reference, rule

MANUAL = IncludeMode.MANUAL
BELOW, BUDGET = OmissionReason.BELOW_THRESHOLD, OmissionReason.BUDGET


class FailingEmbedder(ToldEmbedder):
    """Fails for messages."""

    def __init__(self, error: Exception) -> None:
        super().__init__({})
        self._error = error

    async def embed_query(self, text: str) -> Vectors:
        raise self._error


class StuckEmbedder(ToldEmbedder):
    """Never answers."""

    async def embed_documents(self, texts: Sequence[str]) -> Vectors:
        await asyncio.Event().wait()
        raise AssertionError


def named(*scores: float) -> tuple[list[CatalogItem], ToldEmbedder]:
    """Rules 0, 1, ... whose descriptions have these cosines."""
    items = [catalog_item(rule(str(place)), description=f"rule {place}") for place in range(len(scores))]
    return items, ToldEmbedder({f"rule {place}": score for place, score in enumerate(scores)})


def omissions(omitted: Sequence[OmittedItem]) -> list[tuple[str, OmissionReason, float | None]]:
    return [(one.ref.name, one.reason, one.score and round(one.score, 3)) for one in omitted]


async def test_items_below_the_threshold_are_left_out_with_their_scores() -> None:
    items, embedder = named(0.4, 0.9, 0.49, 0.5)
    request = await built((), items, embedder)
    assert [item.ref.name for item in request.items] == ["1", "3"]
    assert omissions(request.omitted) == [("2", BELOW, 0.49), ("0", BELOW, 0.4)]


async def test_items_too_far_below_the_best_are_below_the_threshold() -> None:
    items, embedder = named(0.9, 0.81, 0.79)
    settings = BY_MEANING.model_copy(update={"max_distance": 0.1})
    request = await built((), items, embedder, settings=settings)
    assert [item.ref.name for item in request.items] == ["0", "1"]
    assert omissions(request.omitted) == [("2", BELOW, 0.79)]


async def test_no_more_than_top_n_items_are_taken_and_the_rest_made_way_for_better_ones() -> None:
    items, embedder = named(0.6, 0.9, 0.7, 0.8)
    request = await built((), items, embedder, settings=BY_MEANING.model_copy(update={"top_n": 2}))
    assert [item.ref.name for item in request.items] == ["1", "3"]
    assert omissions(request.omitted) == [("2", BUDGET, 0.7), ("0", BUDGET, 0.6)]


async def test_only_items_with_one_of_the_best_chunks_are_taken() -> None:
    long = catalog_item(rule("long"), content="First.\n\nSecond.")
    short = catalog_item(rule("short"), content="Third.")
    embedder = ToldEmbedder({"First.": 0.9, "Second.": 0.8, "Third.": 0.7})
    request = await built((), [long, short], embedder, settings=BY_MEANING.model_copy(update={"top_k": 2}))
    assert [item.ref.name for item in request.items] == ["long"]
    assert omissions(request.omitted) == [("short", BUDGET, 0.7)]


async def test_the_score_of_an_item_is_that_of_its_best_chunk() -> None:
    item = catalog_item(rule("A"), description="About.", content="First.\n\nSecond.")
    request = await built((), [item], ToldEmbedder({"About.": 0.3, "First.": 0.2, "Second.": 0.8}))
    assert request.items[0].similarity_score == pytest.approx(0.8)


async def test_agent_items_come_in_order_of_priority_then_score() -> None:
    items, embedder = named(0.6, 0.9, 0.7)
    items[0] = catalog_item(rule("0"), description="rule 0", priority=10)
    request = await built((), items, embedder)
    assert [item.ref.name for item in request.items] == ["0", "1", "2"]


async def test_all_items_of_a_request_come_in_order_of_priority_the_sessions_first() -> None:
    catalog = [
        catalog_item(rule("held low"), MANUAL, priority=-1),
        catalog_item(rule("held"), MANUAL),
        catalog_item(rule("found"), description="found"),
        catalog_item(rule("found high"), description="found high", priority=7),
        catalog_item(rule("held high"), MANUAL, priority=7),
    ]
    held = [SessionItem(rule(name), MANUAL) for name in ("held low", "gone", "held", "held high")]
    request = await built(held, catalog, ToldEmbedder({"found": 0.9, "found high": 0.6}))
    assert [item.ref.name for item in request.items] == [
        "held high",
        "found high",
        "gone",
        "held",
        "found",
        "held low",
    ]


async def test_a_disabled_item_of_the_session_is_not_given_and_says_why() -> None:
    items = [catalog_item(rule("off"), MANUAL, content="x" * 50, enabled=False)]
    request = await built((SessionItem(rule("off"), MANUAL),), items, ToldEmbedder({}))
    (item,) = request.items
    assert (item.is_given, item.missing, item.content_sha256) == (False, False, "")
    assert item.note == "it is disabled in the catalog"
    assert (request.characters, request.tokens) == (0, 0)


async def test_disabled_items_are_recorded_without_a_score_unless_the_session_holds_them() -> None:
    items = [catalog_item(rule("off"), enabled=False), catalog_item(rule("held"), enabled=False)]
    request = await built((SessionItem(rule("held"), MANUAL),), items, ToldEmbedder({}))
    assert [item.ref.name for item in request.items] == ["held"]
    assert omissions(request.omitted) == [("off", OmissionReason.DISABLED, None)]


async def test_what_has_left_the_catalog_stays_in_the_request_and_is_marked_missing() -> None:
    request = await built((SessionItem(reference("gone"), MANUAL),), [], ToldEmbedder({}))
    (item,) = request.items
    assert (item.ref.name, item.missing, item.content_sha256) == ("gone", True, "")
    assert (item.is_given, item.note) == (False, "the catalog does not have it")


async def test_items_carry_the_hash_of_the_content_that_was_used() -> None:
    held, found = catalog_item(rule("held"), content="One."), catalog_item(rule("found"), content="Two.")
    request = await built((SessionItem(rule("held"), MANUAL),), [held, found], ToldEmbedder({"Two.": 1.0}))
    assert [item.content_sha256 for item in request.items] == [held.content_sha256, found.content_sha256]


async def test_the_budget_drops_agent_items_only_and_goes_by_priority() -> None:
    held = catalog_item(rule("held"), content="x" * 90)
    low = catalog_item(rule("low"), description="low", content="l" * 40)
    high = catalog_item(rule("high"), description="high", content="h" * 40, priority=1)
    settings = BY_MEANING.model_copy(update={"max_chars": 140})
    embedder = ToldEmbedder({"low": 0.9, "high": 0.8})
    request = await built((SessionItem(rule("held"), MANUAL),), [held, low, high], embedder, settings=settings)
    assert [item.ref.name for item in request.items] == ["high", "held"]
    assert omissions(request.omitted) == [("low", BUDGET, 0.9)]
    assert (request.characters, request.tokens) == (134, 34)


async def test_session_items_stay_when_they_alone_are_over_the_budget() -> None:
    held, found = catalog_item(rule("held"), content="x" * 900), catalog_item(rule("found"), description="found")
    settings = BY_MEANING.model_copy(update={"max_chars": 100})
    embedder = ToldEmbedder({"found": 1.0})
    request = await built((SessionItem(rule("held"), MANUAL),), [held, found], embedder, settings=settings)
    assert [item.ref.name for item in request.items] == ["held"]
    assert omissions(request.omitted) == [("found", BUDGET, 1.0)]
    assert request.near_limit


async def test_an_item_with_room_is_taken_after_one_without() -> None:
    large, small = (
        catalog_item(rule("large"), description="large", content="x" * 200),
        catalog_item(rule("small"), description="small"),
    )
    embedder = ToldEmbedder({"large": 0.9, "small": 0.8})
    request = await built((), [large, small], embedder, settings=BY_MEANING.model_copy(update={"max_chars": 100}))
    assert [item.ref.name for item in request.items] == ["small"]


async def test_tokens_have_a_limit_of_their_own() -> None:
    item = catalog_item(rule("A"), description="", content="法" * 100)
    embedder = ToldEmbedder({"法" * 100: 1.0})
    for max_tokens, taken in ((75, 1), (74, 0)):
        settings = BY_MEANING.model_copy(update={"max_tokens": max_tokens})
        assert len((await built((), [item], embedder, settings=settings)).items) == taken


@pytest.mark.parametrize(
    ("limits", "chars", "near"),
    [
        ({"max_chars": 100}, 79, False),
        ({"max_chars": 100}, 80, True),
        ({"max_chars": 100}, 300, True),
        ({"max_tokens": 100}, 316, False),
        ({"max_tokens": 100}, 317, True),
    ],
)
async def test_a_request_warns_from_its_share_of_either_budget(limits: dict[str, int], chars: int, near: bool) -> None:
    settings = BY_MEANING.model_copy(update={**limits, "warn_share": 0.8})
    held = catalog_item(rule("held"), content="x" * chars)
    request = await built((SessionItem(rule("held"), MANUAL),), [held], ToldEmbedder({}), settings=settings)
    assert request.near_limit is near


async def test_a_failed_search_leaves_the_session_items_and_says_what_it_failed_for() -> None:
    items = [catalog_item(rule("A"), priority=1), catalog_item(rule("B"), priority=2), catalog_item(rule("held"))]
    request = await built((SessionItem(rule("held"), MANUAL),), items, FailingEmbedder(NotReady("closed")))
    assert [item.ref.name for item in request.items] == ["held"]
    assert omissions(request.omitted) == [
        ("B", OmissionReason.SEARCH_FAILED, None),
        ("A", OmissionReason.SEARCH_FAILED, None),
    ]


async def test_a_search_that_takes_too_long_has_failed() -> None:
    settings = BY_MEANING.model_copy(update={"time_limit_s": 0.01})
    request = await built((), [catalog_item(rule("A"))], StuckEmbedder({}), settings=settings)
    assert omissions(request.omitted) == [("A", OmissionReason.SEARCH_FAILED, None)]


async def test_cancelling_the_turn_cancels_its_search() -> None:
    building = asyncio.ensure_future(built((), [catalog_item(rule("A"))], StuckEmbedder({})))
    await asyncio.wait([building], timeout=0)
    building.cancel()
    with pytest.raises(asyncio.CancelledError):
        await building


async def test_without_candidates_the_model_is_not_asked() -> None:
    request = await built((), [catalog_item(rule("A"), MANUAL)], FailingEmbedder(NotReady("closed")))
    assert request.omitted == ()


async def test_what_is_recorded_of_omitted_items_is_bounded_and_the_best_of_them() -> None:
    items, embedder = named(*np.linspace(0.0, 0.4, 50).tolist())
    request = await built((), items, embedder, settings=BY_MEANING.model_copy(update={"max_omitted": 3}))
    assert [one.ref.name for one in request.omitted] == ["49", "48", "47"]


async def test_items_that_could_not_be_compared_or_are_disabled_are_recorded_within_the_same_bound() -> None:
    settings = BY_MEANING.model_copy(update={"max_omitted": 3})
    items = [catalog_item(rule(str(number)), enabled=number % 2 == 0) for number in range(8)]
    request = await built((), items, FailingEmbedder(NotReady("closed")), settings=settings)
    assert omissions(request.omitted) == [(name, OmissionReason.SEARCH_FAILED, None) for name in ("0", "2", "4")]
    disabled = [catalog_item(rule(str(number)), enabled=False) for number in range(8)]
    assert len((await built((), disabled, ToldEmbedder({}), settings=settings)).omitted) == 3
