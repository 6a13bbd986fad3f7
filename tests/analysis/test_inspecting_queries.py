"""Reading queries without running them."""

from uuid import uuid4

import pytest

from proviso_service.errors import MatterNotFound
from proviso_service.iql import statements
from proviso_service.matters.model import DocumentStatus
from tests.support.analysis_world import TENANT, AnalysisWorld


async def estimate(world: AnalysisWorld, query: str) -> int:
    return (await world.analysis.inspect(TENANT, query, world.matter.matter_id.upper())).estimated_calls


async def test_a_query_is_read_without_a_model(world: AnalysisWorld) -> None:
    inspected = await world.analysis.inspect(TENANT, "{rent} AND {rent} OR {notice}")
    assert inspected.tree is not None
    assert statements(inspected.tree) == ("rent", "notice")
    assert (inspected.problems, inspected.estimated_calls) == ((), 0)
    assert world.asked() == []


async def test_faults_are_in_the_answer(world: AnalysisWorld) -> None:
    inspected = await world.analysis.inspect(TENANT, "{rent} {notice", world.matter.matter_id)
    assert inspected.tree is None
    assert inspected.problems


async def test_the_estimate_counts_what_has_not_been_scored(world: AnalysisWorld) -> None:
    assert await estimate(world, "{rent}") == 0
    await world.add("one", "two", "three", filename="a.txt")
    await world.add_unready(DocumentStatus.PROCESSING)
    assert await estimate(world, "{rent} AND {rent}") == 3
    assert await estimate(world, "{rent} AND {notice}") == 6
    await world.ask("{rent}")
    assert await estimate(world, "{rent} AND {notice}") == 3
    await world.add("four", filename="b.txt")
    assert await estimate(world, "{rent} AND {notice}") == 5
    world.asked()
    await world.ask("{rent} AND {notice}")
    assert len(world.asked()) == 5
    assert await estimate(world, "{rent} AND {notice}") == 0


async def test_a_matter_that_does_not_exist_is_an_error(world: AnalysisWorld) -> None:
    with pytest.raises(MatterNotFound):
        await world.analysis.inspect(TENANT, "{rent}", str(uuid4()))
