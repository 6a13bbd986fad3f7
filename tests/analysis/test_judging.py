"""The likeliest passages of a statement are judged, and what the judge says takes the place of their scores."""

from collections.abc import Sequence

import numpy as np
import pytest

from proviso_service.analysis.model import IqlQuery
from proviso_service.models import ModelBusy, ModelPassage, Scores
from tests.support.analysis_world import TENANT, AnalysisWorld


class NoSayer:
    """Denies every passage that says "not"; every call is on record."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, tuple[str, ...]]] = []
        self.failure: Exception | None = None

    def judges(self, statement: str) -> bool:
        return "unjudged" not in statement

    async def judge(self, statement: str, passages: Sequence[ModelPassage], scores: Scores) -> Scores:
        if self.failure:
            raise self.failure
        self.calls.append((statement, tuple(passage.text for passage in passages)))
        denied = np.array([" not " in passage.text for passage in passages])
        return np.where(denied, 0.1, scores).astype(np.float32)


@pytest.fixture
def judge(world: AnalysisWorld) -> NoSayer:
    found = NoSayer()
    world.restart(judge=found)
    return found


async def scores_of(world: AnalysisWorld, query: str) -> list[tuple[str, float]]:
    outcome = await world.ask(query)
    return [(match.chunk.text, round(match.score, 2)) for result in outcome.results for match in result.matches]


async def test_a_judged_passage_has_the_judges_score(world: AnalysisWorld, judge: NoSayer) -> None:
    await world.add("rent is due", "rent is not due", "weather")
    assert await scores_of(world, "{rent}") == [("rent is due", 1.0)]
    assert judge.calls == [("rent", ("rent is due", "rent is not due"))]


async def test_what_was_judged_is_judged_once(world: AnalysisWorld, judge: NoSayer) -> None:
    await world.add("rent is due")
    await world.ask("{rent}")
    await world.add("more rent", filename="more.txt")
    await world.ask("{rent} AND {due}")
    assert [call for call in judge.calls if call[0] == "rent"] == [("rent", ("rent is due",)), ("rent", ("more rent",))]


async def test_the_likeliest_of_all_documents_are_judged(world: AnalysisWorld, judge: NoSayer) -> None:
    world.restart(judge=judge, judged_passages=3)
    await world.add("rent alone", "rent is not due now", "rent due today", filename="a.txt")
    await world.add("rent due tomorrow", "rent due", filename="b.txt")
    found = await scores_of(world, "{rent due}")
    assert judge.calls == [("rent due", ("rent is not due now", "rent due today", "rent due tomorrow"))]
    assert found == [("rent due today", 1.0), ("rent due tomorrow", 1.0), ("rent due", 1.0)]


async def test_what_is_not_judged_is_as_much_less_likely_as_most_of_what_is(
    world: AnalysisWorld, judge: NoSayer
) -> None:
    world.restart(judge=judge, judged_passages=2)
    await world.add("rent alone", "rent is not due now", filename="a.txt")
    await world.add("rent is not due", "rent due", "weather", filename="b.txt")
    query = IqlQuery(world.matter.matter_id, "{rent due}", min_score=0.0)
    outcome = await world.analysis.execute(TENANT, query)
    scores = {match.chunk.text: round(match.score, 2) for result in outcome.results for match in result.matches}
    assert scores == {"rent is not due now": 0.1, "rent is not due": 0.1, "rent due": 0.1}


async def test_statements_that_gain_nothing_are_not_judged(world: AnalysisWorld, judge: NoSayer) -> None:
    await world.add("unjudged rent is not due")
    assert await scores_of(world, "{unjudged rent}") == [("unjudged rent is not due", 1.0)]
    assert judge.calls == []


async def test_a_stream_says_what_an_answer_says(world: AnalysisWorld, judge: NoSayer) -> None:
    await world.add("rent is not due", "rent", filename="judged.txt")
    await world.add("weather", filename="other.txt")
    query = IqlQuery(world.matter.matter_id, "{rent}")
    steps = [step async for step in world.analysis.stream(TENANT, query)]
    results = [step.result for step in steps if step.result]
    assert [result.filename for result in results] == ["other.txt", "judged.txt"]
    outcome = await world.analysis.execute(TENANT, query)
    assert sorted(results, key=lambda one: one.index) == list(outcome.results)


async def test_a_busy_judge_is_told(world: AnalysisWorld, judge: NoSayer) -> None:
    await world.add("rent")
    judge.failure = ModelBusy("Too many texts are waiting to be judged", 1.0)
    with pytest.raises(ModelBusy):
        await world.ask("{rent}")
    steps = [step async for step in world.analysis.stream(TENANT, IqlQuery(world.matter.matter_id, "{rent}"))]
    assert [step.result.error for step in steps if step.result] == ["Too many texts are waiting to be judged"]


async def test_clauses_are_judged_too(world: AnalysisWorld, judge: NoSayer) -> None:
    await world.add("rent is due", "rent is not due")
    outcome = await world.classify("{rent}")
    assert [clause.chunk.text for clause in outcome.clauses] == ["rent is due"]
