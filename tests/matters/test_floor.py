"""Queries that have nothing to do with a matter."""

import tomllib
from collections.abc import Mapping
from importlib import resources
from pathlib import Path

import pytest

from evals.extraction_data import plain_questions
from proviso_service.matters import DEFAULT_THRESHOLD, EmptyReason, Matter
from proviso_service.matters.ranking import FLOOR
from tests.support.matters_world import MattersWorld

OFF_TOPIC: Mapping[str, list[str]] = tomllib.loads(resources.files("evals").joinpath("off_topic.toml").read_text())
SAMPLES = Path(str(resources.files("proviso_service"))) / "samples" / "northwind"


@pytest.fixture
async def northwind(world: MattersWorld) -> Matter:
    matter = await world.matter()
    await world.ingest(matter, {path.name: path.read_text() for path in SAMPLES.iterdir()})
    return matter


async def answered(world: MattersWorld, matter: Matter, queries: list[str]) -> list[str]:
    return [query for query in queries if (await world.search(matter, query)).hits]


async def test_nonsense_gives_nothing(world: MattersWorld, northwind: Matter) -> None:
    assert await answered(world, northwind, OFF_TOPIC["letters"]) == []
    outcome = await world.search(northwind, "zzqqxx")
    assert (outcome.size.total, outcome.empty_reason) == (0, EmptyReason.NO_MATCH)
    assert len(outcome.documents_available) == 8


async def test_a_query_about_something_else_gives_nothing(world: MattersWorld, northwind: Matter) -> None:
    assert await answered(world, northwind, OFF_TOPIC["elsewhere"]) == []


async def test_questions_of_lawyers_keep_their_results(world: MattersWorld, northwind: Matter) -> None:
    asked = [question for pair in plain_questions().values() for question in pair]
    found = await answered(world, northwind, asked)
    nearest = [
        one
        for one in asked
        if any(hit.similarity >= FLOOR for hit in (await world.search(northwind, one, threshold=0)).hits)
    ]
    assert set(nearest) - set(found) == set()


async def test_meaning_alone_finds_a_passage_that_is_near(world: MattersWorld, northwind: Matter) -> None:
    hits = (await world.search(northwind, "wages")).hits
    assert hits
    assert {hit.lexical_score for hit in hits} == {0}


async def test_a_threshold_below_the_usual_one_finds_what_is_far(world: MattersWorld, northwind: Matter) -> None:
    for threshold, found in ((DEFAULT_THRESHOLD, 0), (0.1, 5), (0, 5)):
        assert len((await world.search(northwind, "recipe for apple pie", threshold=threshold)).hits) == found


@pytest.mark.parametrize("query", ["!!! ???", "🦀🦩", "§"])
async def test_a_query_without_any_word_gives_nothing(world: MattersWorld, northwind: Matter, query: str) -> None:
    outcome = await world.search(northwind, query, threshold=0)
    assert (outcome.hits, outcome.empty_reason) == ((), EmptyReason.NO_MATCH)


async def test_a_result_says_how_many_of_the_words_it_holds(world: MattersWorld) -> None:
    matter = await world.matter()
    await world.ingest(matter, {"a.md": "# One\n\nThe rent is due in May.\n\n# Two\n\nThe tenant insures the glass.\n"})
    hits = (await world.search(matter, "When are rents for the glass due?", threshold=0)).hits
    assert [(hit.stored.chunk.heading, round(hit.lexical_score, 2)) for hit in hits] == [("One", 0.67), ("Two", 0.33)]
