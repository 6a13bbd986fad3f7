"""A passage is judged once for each statement: in memory, after a restart, in a new version of its document."""

import asyncio

import pytest

from proviso_service.analysis.model import IqlQuery
from proviso_service.analysis.scoring import PASSAGES_AT_ONCE
from proviso_service.iql import canonical_text
from tests.support.analysis_world import TENANT, AnalysisWorld
from tests.support.stored import a_document, committed
from tests.support.word_classifier import WordClassifier


async def stored(world: AnalysisWorld) -> int:
    """Rows of scores."""
    query = "SELECT count(*) FROM statement_scores"
    return await world.database.read(lambda connection: int(connection.exec_driver_sql(query).scalar_one()))


async def test_each_distinct_statement_is_judged_once_on_each_passage(world: AnalysisWorld) -> None:
    await world.add("one", "two")
    await world.ask("({rent} AND {notice}) OR (NOT {rent} + {notice})")
    assert sorted(world.asked()) == [
        ("notice", "one"), ("notice", "two"), ("rent", "one"), ("rent", "two"),
    ]  # fmt: skip


async def test_a_template_and_the_statement_it_stands_for_are_one(world: AnalysisWorld) -> None:
    await world.add("one")
    inspected = await world.analysis.inspect(TENANT, "{IS termination clause}")
    assert inspected.tree is not None
    await world.ask("{IS termination clause}")
    assert len(world.asked()) == 1
    words = getattr(inspected.tree, "text", "")
    assert canonical_text(inspected.tree) != words
    await world.ask(f"{{{words}}}")
    assert world.asked() == []


@pytest.mark.parametrize("restart", [False, True], ids=["memory", "restarted"])
async def test_a_repeated_or_recombined_query_asks_no_model(world: AnalysisWorld, restart: bool) -> None:
    await world.add("rent due", "notice", filename="a.txt")
    await world.add("rent", filename="b.txt")
    first = await world.ask("{rent} AND NOT {notice}")
    world.asked()
    if restart:
        world.restart()
    assert await world.ask("{rent} AND NOT {notice}") == first
    assert [result.score for result in (await world.ask("{notice} > {rent}")).results] == [1.0, 0.0]
    assert (await world.ask("{notice}", min_score=0.9, explain=True)).summary.total_matches == 1
    assert world.asked() == []


async def test_only_new_statements_are_judged(world: AnalysisWorld) -> None:
    await world.add("rent")
    await world.ask("{rent}")
    world.asked()
    await world.ask("{rent} AND {notice}")
    assert world.asked() == [("notice", "rent")]


async def test_only_new_documents_are_judged(world: AnalysisWorld) -> None:
    await world.add("rent", filename="a.txt")
    await world.ask("{rent}")
    world.asked()
    await world.add("new rent", filename="b.txt")
    assert [result.score for result in (await world.ask("{rent}")).results] == [1.0, 1.0]
    assert world.asked() == [("rent", "new rent")]


async def test_a_new_version_is_judged_only_where_it_changed(world: AnalysisWorld) -> None:
    await world.add("rent", "notice", "term")
    await world.ask("{rent} OR {notice}")
    world.asked()
    await world.add("preamble", "rent", "notice", "new term")
    results = (await world.ask("{rent} OR {notice}")).results
    assert [len(result.matches) for result in results] == [2, 2]
    assert [match.chunk.ordinal for match in results[1].matches] == [1, 2]
    assert sorted({passage for _, passage in world.asked()}) == ["new term", "preamble"]


async def test_equal_words_under_other_headings_are_judged_again(world: AnalysisWorld) -> None:
    await world.add_under(("It is due.", ["Rent"]))
    await world.ask("{rent}")
    world.asked()
    await world.add_under(("It is due.", ["Deposit"]))
    assert [result.score for result in (await world.ask("{rent}")).results] == [1.0, 0.0]
    assert len(world.asked()) == 1


async def test_other_tenants_share_nothing(world: AnalysisWorld) -> None:
    await world.add("rent")
    await world.ask("{rent}")
    world.asked()
    theirs = await world.store.create_matter("other", "Theirs")
    document, _ = await world.store.add_document(a_document(theirs))
    await committed(world.store, document, "rent")
    await world.analysis.execute("other", IqlQuery(theirs.matter_id, "{rent}"))
    assert world.asked() == [("rent", "rent")]


async def test_another_model_judges_anew(world: AnalysisWorld) -> None:
    await world.add("rent")
    await world.ask("{rent}")
    other = WordClassifier("word-classifier-2")
    outcome = await world.restarted(other).execute(TENANT, IqlQuery(world.matter.matter_id, "{rent}"))
    assert (outcome.summary.model, len(other.calls)) == ("word-classifier-2", 1)


async def test_scores_go_with_their_document(world: AnalysisWorld) -> None:
    kept = await world.add("rent", filename="a.txt")
    gone = await world.add("notice", filename="b.txt")
    await world.ask("{rent} OR {notice}")
    assert await stored(world) == 4
    await world.store.delete_document(TENANT, world.matter.matter_id, gone.document_id)
    assert await stored(world) == 2
    assert [result.document_id for result in (await world.ask("{rent}")).results] == [kept.document_id]


async def test_scores_go_with_their_matter(world: AnalysisWorld) -> None:
    await world.add("rent")
    await world.ask("{rent}")
    await world.store.delete_matter(TENANT, world.matter.matter_id)
    while await world.store.delete_documents(TENANT, world.matter.matter_id):
        pass
    assert await stored(world) == 0


async def test_a_document_deleted_while_it_is_scored_leaves_nothing(world: AnalysisWorld) -> None:
    document = await world.add("rent")
    world.classifier.shut()
    asking = asyncio.create_task(world.ask_one("{rent}"))
    await world.classifier.entered.wait()
    await world.store.delete_document(TENANT, world.matter.matter_id, document.document_id)
    world.classifier.open()
    assert (await asking).error == "There is no such document in this matter"
    assert await stored(world) == 0


async def test_only_the_latest_statements_of_a_document_are_stored(world: AnalysisWorld) -> None:
    await world.add("rent")
    world.restart(max_kept_statements=128)
    for number in range(130):
        await world.ask(f"{{statement {number}}}")
    assert await stored(world) == 128
    world.asked()
    world.restart()
    await world.ask("{statement 129}")
    assert world.asked() == []
    await world.ask("{statement 0}")
    assert len(world.asked()) == 1


async def test_memory_is_bounded_and_nothing_is_judged_twice_for_it(world: AnalysisWorld) -> None:
    await world.add("rent", filename="a.txt")
    await world.add("notice", filename="b.txt")
    world.restart(max_cached_scores=0)
    first = await world.ask("{rent}")
    world.asked()
    assert await world.ask("{rent}") == first
    assert world.asked() == []


async def test_what_was_scored_before_a_failure_is_kept(world: AnalysisWorld) -> None:
    passages = [f"rent {number}" for number in range(PASSAGES_AT_ONCE)]
    await world.add(*passages, "poison")
    await world.add("rent", filename="other.txt")
    world.classifier.fail_on("poison", RuntimeError("no"))
    long, _ = (await world.ask("{rent}")).results
    assert long.error
    world.asked()
    world.classifier.failures.clear()
    world.restart()
    long, _ = (await world.ask("{rent}")).results
    assert long.match_count == PASSAGES_AT_ONCE
    assert world.asked() == [("rent", "poison")]


async def test_two_queries_at_once_judge_a_passage_once(world: AnalysisWorld) -> None:
    await world.add("rent")
    world.classifier.shut()
    both = [asyncio.create_task(world.ask("{rent}")) for _ in range(2)]
    await world.classifier.entered.wait()
    world.classifier.open()
    assert (await both[0]) == (await both[1])
    assert len(world.asked()) == 1
