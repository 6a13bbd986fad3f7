"""Documents run side by side under a bound; results stream; what is stopped stops."""

import asyncio
from contextlib import aclosing
from pathlib import Path

import pytest

from proviso_service.analysis.model import InvalidIql, IqlQuery
from proviso_service.errors import ModelApiUnavailable, NoReadyDocuments
from proviso_service.matters.model import DocumentStatus
from tests.support.analysis_world import TENANT, AnalysisWorld, analysis_world


@pytest.mark.parametrize("bound", [1, 3])
async def test_batches_are_scored_side_by_side_under_a_bound(tmp_path: Path, bound: int) -> None:
    async with analysis_world(tmp_path, batch_passages=1, batches_at_once=bound) as world:
        for number in range(8):
            await world.add(f"rent {number}", filename=f"{number}.txt")
        world.classifier.shut()
        both = [asyncio.create_task(world.ask("{rent}")) for _ in range(2)]
        await world.classifier.until_running(bound)
        world.classifier.open()
        first, second = await asyncio.gather(*both)
        assert world.classifier.most_running == bound
        names = [f"{number}.txt" for number in range(8)]
        assert [result.filename for result in first.results] == names
        assert [result.filename for result in second.results] == names


async def test_results_stream_as_they_are_there_with_running_totals(world: AnalysisWorld) -> None:
    scored = await world.add("rent", "rent", filename="scored.txt")
    await world.ask("{rent}")
    await world.add("poison", filename="fails.txt")
    await world.add_unready(DocumentStatus.PROCESSING)
    await world.add("rent", filename="new.txt")
    world.classifier.fail_on("poison", RuntimeError("no"))
    world.classifier.shut()
    stream = world.analysis.stream(TENANT, IqlQuery(world.matter.matter_id, "{rent}"))
    async with aclosing(stream):
        at_once = [await anext(stream), await anext(stream)]
        world.classifier.open()
        later = [step async for step in stream]
    steps = [*at_once, *later]
    results = [step.result for step in steps if step.result]
    assert {result.document_id for result in results[:2]} >= {scored.document_id}
    assert {result.index for result in results} == {0, 1, 2, 3}
    assert [step.summary.documents_done for step in steps] == [1, 2, 3, 4, 4]
    last = steps[-1]
    assert last.result is None
    assert (last.summary.total_matches, last.summary.average_score, last.summary.document_count) == (3, 1.0, 4)


async def test_a_stream_and_an_answer_say_the_same(world: AnalysisWorld) -> None:
    for number in range(5):
        await world.add("rent", "notice", filename=f"{number}.txt")
    query = IqlQuery(world.matter.matter_id, "{rent} OR {notice}", explain=True, max_matches=1)
    steps = [step async for step in world.analysis.stream(TENANT, query)]
    outcome = await world.analysis.execute(TENANT, query)
    streamed = sorted((step.result for step in steps if step.result), key=lambda result: result.index)
    assert (tuple(streamed), steps[-1].summary) == (outcome.results, outcome.summary)


async def test_a_stream_of_a_matter_that_was_scored_before_asks_no_model(world: AnalysisWorld) -> None:
    await world.add("rent")
    await world.ask("{rent}")
    world.asked()
    async for _ in world.analysis.stream(TENANT, IqlQuery(world.matter.matter_id, "{rent}")):
        pass
    assert world.asked() == []


async def test_a_stream_that_is_closed_stops_the_work(tmp_path: Path) -> None:
    async with analysis_world(tmp_path, batch_passages=1) as world:
        for number in range(20):
            await world.add(f"rent {number}", filename=f"{number}.txt")
        stream = world.analysis.stream(TENANT, IqlQuery(world.matter.matter_id, "{rent}"))
        await anext(stream)
        await stream.aclose()
        assert world.classifier.running == 0
        judged = len(world.asked())
        assert judged < 20
        await asyncio.sleep(0)
        assert world.asked() == []


async def test_a_stream_begins_with_one_document_and_goes_on_in_ever_larger_batches(tmp_path: Path) -> None:
    async with analysis_world(tmp_path, batches_at_once=1) as world:
        for number in range(40):
            await world.add(*(f"rent {number} {passage}" for passage in range(5)), filename=f"{number:02}.txt")
        query = IqlQuery(world.matter.matter_id, "{rent}")
        found = [step.result.match_count async for step in world.analysis.stream(TENANT, query) if step.result]
        assert (found, world.classifier.sizes) == ([5] * 40, [5, 60, 125, 10])


async def test_statements_are_judged_side_by_side(world: AnalysisWorld) -> None:
    await world.add("one two three")
    world.classifier.shut()
    asking = asyncio.create_task(world.ask_one("{one} AND {two} AND {three} AND {four} AND {five} AND {six}"))
    await world.classifier.until_running(4)
    world.classifier.open()
    assert (await asking).score == 0
    assert world.classifier.most_running == 4


async def test_a_cancelled_query_stops_the_work_and_the_next_one_goes_on(world: AnalysisWorld) -> None:
    for number in range(3):
        await world.add(f"rent {number}", filename=f"{number}.txt")
    world.classifier.shut()
    asking = asyncio.create_task(world.ask("{rent}"))
    await world.classifier.entered.wait()
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking
    assert world.classifier.running == 0
    world.classifier.open()
    assert (await world.ask("{rent}")).summary.total_matches == 3


async def test_what_is_not_done_in_time_says_so_and_is_gone_on_with(tmp_path: Path) -> None:
    async with analysis_world(tmp_path, time_limit_s=0.5) as world:
        await world.add("rent", filename="a.txt")
        await world.ask("{rent}")
        await world.add("new rent", filename="b.txt")
        world.classifier.shut()
        known, late = (await world.ask("{rent}")).results
        assert (known.error, known.match_count) == ("", 1)
        assert late.error.startswith("This document was not analysed within the time limit of 0.5 s")
        world.classifier.open()
        world.restart()
        assert [result.error for result in (await world.ask("{rent}")).results] == ["", ""]


@pytest.mark.parametrize(("query", "error"), [("{", InvalidIql), ("{rent}", NoReadyDocuments)])
async def test_a_stream_is_refused_before_its_first_result(
    world: AnalysisWorld, query: str, error: type[Exception]
) -> None:
    stream = world.analysis.stream(TENANT, IqlQuery(world.matter.matter_id, query))
    with pytest.raises(error):
        await anext(stream)


async def test_a_model_that_is_away_is_not_asked_again_for_each_document(world: AnalysisWorld) -> None:
    for number in range(10):
        await world.add(f"poison {number}", filename=f"{number}.txt")
    world.classifier.fail_on("poison", ModelApiUnavailable("Isaacus", "no answer"))
    with pytest.raises(ModelApiUnavailable, match="Isaacus API error: no answer"):
        await world.ask("{rent}")
    assert sorted(world.classifier.sizes) == [1, 9]
