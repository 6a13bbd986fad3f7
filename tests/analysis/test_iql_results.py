"""What a query finds: scores, matches, totals, and the error of each document."""

from uuid import uuid4

import pytest

from proviso_service.analysis.model import InvalidIql, IqlOutcome, IqlQuery, PageStart, StatementScore
from proviso_service.api.convert import values
from proviso_service.api.convert.iql import iql_response
from proviso_service.errors import InvalidRequest, MatterNotFound, NoReadyDocuments, TooBusy
from proviso_service.iql import ComparisonMode
from proviso_service.matters.model import DocumentStatus
from tests.support.analysis_world import TENANT, AnalysisWorld

RENT, NOTICE, BOTH = "The rent is due.", "The notice is short.", "Rent and notice."


def scores_of(outcome: IqlOutcome) -> list[float]:
    return [result.score for result in outcome.results]


async def test_a_document_scores_as_its_best_passage(world: AnalysisWorld) -> None:
    await world.add(NOTICE, RENT, NOTICE)
    found = await world.ask_one("{rent due}")
    assert (found.score, found.match_count, found.error) == (1.0, 1, "")
    [match] = found.matches
    assert (match.chunk.text, match.chunk.start, match.chunk.end) == (RENT, 21, 37)


async def test_operators_work_on_each_passage_by_itself(world: AnalysisWorld) -> None:
    await world.add(RENT, NOTICE)
    assert (await world.ask_one("{rent} AND {notice}")).score == 0.0
    assert (await world.ask_one("{rent} OR {notice}")).match_count == 2


@pytest.mark.parametrize(
    ("query", "scores"),
    [
        ("{rent}", [1.0, 0.0, 1.0]),
        ("{rent} AND {notice}", [0.0, 0.0, 1.0]),
        ("{rent} OR {notice}", [1.0, 1.0, 1.0]),
        ("NOT {rent}", [0.0, 1.0, 0.0]),
        ("{rent} > {notice}", [1.0, 0.0, 0.5]),
        ("{rent} < {notice}", [0.0, 1.0, 0.5]),
        ("{rent} + {notice}", [0.5, 0.5, 1.0]),
    ],
)
async def test_every_operator_scores_as_the_contract_says(
    world: AnalysisWorld, query: str, scores: list[float]
) -> None:
    for passage in (RENT, NOTICE, BOTH):
        await world.add(passage)
    assert scores_of(await world.ask(query)) == scores


async def test_comparisons_can_be_those_of_the_vendor(world: AnalysisWorld) -> None:
    await world.add(RENT, filename="a.txt")
    await world.add(BOTH, filename="b.txt")
    query = "{rent} > {notice}"
    assert scores_of(await world.ask(query, comparison=ComparisonMode.VENDOR)) == [1.0, 0.0]
    world.restart(comparison="vendor")
    assert scores_of(await world.ask(query)) == [1.0, 0.0]
    assert scores_of(await world.ask(query, comparison=ComparisonMode.CONTRACT)) == [1.0, 0.5]


async def test_a_match_is_above_the_least_score(world: AnalysisWorld) -> None:
    await world.add(RENT, BOTH)
    assert (await world.ask_one("{rent} + {notice}")).match_count == 1  # 0.5 is not above 0.5
    assert (await world.ask_one("{rent} + {notice}", min_score=0.4)).match_count == 2
    assert (await world.ask_one("{rent} + {notice}", min_score=1.0)).match_count == 0
    world.restart(min_score=0.2)
    assert (await world.ask_one("{rent} + {notice}")).match_count == 2


async def test_matches_are_cut_to_the_best_in_order_and_counted_in_full(world: AnalysisWorld) -> None:
    await world.add("rent", "rent due", "rent", "rent due", "rent due")
    found = await world.ask_one("{rent due}", max_matches=2, min_score=0.3)
    assert [match.chunk.ordinal for match in found.matches] == [1, 3]
    assert (found.match_count, found.truncated) == (5, True)
    whole = await world.ask_one("{rent due}", max_matches=5, min_score=0.3)
    assert [match.chunk.ordinal for match in whole.matches] == [0, 1, 2, 3, 4]
    assert not whole.truncated


async def test_the_average_is_over_all_matches_of_all_documents(world: AnalysisWorld) -> None:
    await world.add("rent due", "rent", filename="a.txt")
    await world.add("rent", filename="b.txt")
    summary = (await world.ask("{rent due}", min_score=0.3, max_matches=1)).summary
    assert summary.total_matches == 3
    assert summary.average_score == pytest.approx(2 / 3)


async def test_without_a_match_the_average_is_zero(world: AnalysisWorld) -> None:
    await world.add(RENT)
    summary = (await world.ask("{notice}")).summary
    assert (summary.total_matches, summary.average_score) == (0, 0.0)


async def test_an_explained_result_has_the_scores_of_each_statement(world: AnalysisWorld) -> None:
    await world.add(RENT, NOTICE)
    found = await world.ask_one("{rent} > {notice}", explain=True)
    assert found.statement_scores == (StatementScore("rent", 1.0), StatementScore("notice", 1.0))
    plain = await world.ask_one("{rent} > {notice}")
    assert (plain.statement_scores, plain.explanation, plain.matches[0].explanation) == ((), None, None)


async def test_an_explained_result_has_the_score_of_each_node(world: AnalysisWorld) -> None:
    await world.add(NOTICE, RENT)
    found = await world.ask_one("{rent} AND NOT {notice}", explain=True)
    explanation = found.matches[0].explanation
    assert explanation
    assert explanation.nodes == (1.0, 1.0, 1.0, 0.0), "AND, rent, NOT, notice"
    assert found.explanation == explanation, "that of the passage with the highest score"


async def test_a_document_that_could_not_be_scored_is_not_explained(world: AnalysisWorld) -> None:
    await world.add_unready(DocumentStatus.PROCESSING)
    await world.add(RENT)
    unready, _ = (await world.ask("{rent}", explain=True)).results
    assert unready.explanation is None


async def test_headings_are_part_of_what_is_judged(world: AnalysisWorld) -> None:
    await world.add_under(("It is due monthly.", ["Schedule", "Rent"]), ("It is due monthly.", ["Schedule"]))
    found = await world.ask_one("{rent}")
    assert [(match.chunk.ordinal, match.chunk.heading, match.chunk.page) for match in found.matches] == [(0, "Rent", 1)]


async def test_documents_are_in_the_order_of_upload_or_of_the_request(world: AnalysisWorld) -> None:
    first, second, third = [await world.add(RENT, filename=f"{name}.txt") for name in "abc"]
    outcome = await world.ask("{rent}")
    assert [result.document_id for result in outcome.results] == [
        first.document_id, second.document_id, third.document_id,
    ]  # fmt: skip
    outcome = await world.ask("{rent}", third, first)
    assert [result.filename for result in outcome.results] == ["c.txt", "a.txt"]
    assert outcome.summary.document_count == 2


async def test_documents_that_are_not_ready_are_there_with_their_errors(world: AnalysisWorld) -> None:
    await world.add_unready(DocumentStatus.PROCESSING)
    await world.add(RENT)
    await world.add_unready(DocumentStatus.FAILED, "The file is empty.", "broken.pdf")
    slow, ready, broken = (await world.ask("{rent}")).results
    assert slow.error == "slow.pdf is still being processed; try again shortly"
    assert broken.error == "broken.pdf could not be read: The file is empty."
    assert (ready.error, ready.match_count) == ("", 1)


async def test_an_id_that_is_not_in_the_matter_is_that_documents_error(world: AnalysisWorld) -> None:
    ready = await world.add(RENT)
    other = await world.store.create_matter(TENANT, "Other")
    absent = [str(uuid4()), str(uuid4())]
    query = IqlQuery(world.matter.matter_id, "{rent}", document_ids=[absent[0], ready.document_id, absent[1]])
    results = (await world.analysis.execute(TENANT, query)).results
    assert [result.error for result in results] == [
        "There is no such document in this matter", "", "There is no such document in this matter",
    ]  # fmt: skip
    elsewhere = IqlQuery(other.matter_id, "{rent}", document_ids=[ready.document_id])
    (result,) = (await world.analysis.execute(TENANT, elsewhere)).results
    assert result.error == "There is no such document in this matter"


async def test_an_error_in_one_document_spoils_no_other(world: AnalysisWorld) -> None:
    for name, passage in (("a", RENT), ("b", "poison"), ("c", RENT), ("d", "venom")):
        await world.add(passage, filename=f"{name}.txt")
    world.classifier.fail_on("poison", TooBusy("The model is busy", 1.0))
    world.classifier.fail_on("venom", RuntimeError("secret"))
    outcome = await world.ask("{rent}")
    assert [(result.score, result.error) for result in outcome.results] == [
        (1.0, ""),
        (0.0, "The model is busy"),
        (1.0, ""),
        (0.0, "This document could not be analysed; try again"),
    ]
    assert outcome.summary.total_matches == 2


async def test_what_fails_for_every_document_fails_the_query(world: AnalysisWorld) -> None:
    await world.add("poison", filename="a.txt")
    await world.add("poison", filename="b.txt")
    world.classifier.fail_on("poison", TooBusy("The model is busy", 1.0))
    with pytest.raises(TooBusy, match="The model is busy"):
        await world.ask("{rent}")


async def test_a_query_needs_a_document_that_is_ready(world: AnalysisWorld) -> None:
    with pytest.raises(NoReadyDocuments, match="No ready documents found in this matter"):
        await world.ask("{rent}")
    await world.add_unready(DocumentStatus.FAILED)
    with pytest.raises(NoReadyDocuments, match="No ready documents found in this matter: they could not be read"):
        await world.ask("{rent}")
    await world.add_unready(DocumentStatus.PROCESSING)
    with pytest.raises(NoReadyDocuments, match="are still being processed, and some could not be read") as raised:
        await world.ask("{rent}")
    assert (raised.value.processing, raised.value.failed) == (1, 1)


async def test_a_matter_of_another_tenant_does_not_exist(world: AnalysisWorld) -> None:
    await world.add(RENT)
    with pytest.raises(MatterNotFound):
        await world.analysis.execute("other", IqlQuery(world.matter.matter_id, "{rent}"))


async def test_a_query_that_cannot_be_read_is_refused_with_every_fault(world: AnalysisWorld) -> None:
    await world.add(RENT)
    with pytest.raises(InvalidIql) as caught:
        await world.ask("{rent} AND {IS rental clause}{}")
    assert caught.value.message.startswith("Invalid IQL query syntax: At character 16, unknown template")
    assert len(caught.value.violations) > 1
    first = caught.value.problems[0].span
    assert (first.start, first.end) == (15, 28)


async def test_a_query_over_the_limits_is_refused(world: AnalysisWorld) -> None:
    await world.add(RENT)
    with pytest.raises(InvalidIql):
        await world.ask(" OR ".join(f"{{{number}}}" for number in range(17)))


@pytest.mark.parametrize("model", ["", "kanon-universal-classifier", "word-classifier"])
async def test_names_of_the_classifier_mean_the_one_there_is(world: AnalysisWorld, model: str) -> None:
    await world.add(RENT)
    summary = (await world.ask("{rent}", model=model)).summary
    assert (summary.model, summary.warnings) == ("word-classifier", ())


async def test_the_small_classifier_is_mapped_with_a_warning(world: AnalysisWorld) -> None:
    await world.add(RENT)
    summary = (await world.ask("{rent}", model="kanon-universal-classifier-mini")).summary
    assert summary.model == "word-classifier"
    assert summary.warnings == ("kanon-universal-classifier-mini is no longer offered; word-classifier was used",)


async def test_another_model_is_refused(world: AnalysisWorld) -> None:
    await world.add(RENT)
    with pytest.raises(InvalidRequest) as caught:
        await world.ask("{rent}", model="gpt")
    [violation] = caught.value.violations
    assert violation.field == "model"
    assert "kanon-universal-classifier-mini" in violation.description


async def test_matches_of_a_large_answer_are_shared_out_between_the_documents(world: AnalysisWorld) -> None:
    await world.add(*[f"rent {n}" for n in range(9)], filename="a.txt")
    await world.add("rent", filename="b.txt")
    results = (await world.ask("{rent}", max_matches_in_all=4)).results
    assert [(len(result.matches), result.match_count) for result in results] == [(3, 9), (1, 1)]
    assert [result.truncated for result in results] == [True, False]


async def test_a_page_of_the_other_documents_counts_all_of_them(world: AnalysisWorld) -> None:
    for number in range(3):
        await world.add("rent", filename=f"{number}.txt")
    first = await world.ask("{rent}")
    start = PageStart(first.results[1].document_id, upload_time=first.results[1].upload_time)
    rest = await world.ask("{rent}", page_token=start.token(first.summary.scope))
    assert rest.results == first.results[1:]
    assert rest.summary == first.summary


async def test_a_document_deleted_between_two_pages_hides_no_other(
    world: AnalysisWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    documents = [await world.add("rent", filename=f"{number}.txt") for number in range(5)]
    monkeypatch.setattr(values, "MAX_ANSWER_BYTES", iql_response(await world.ask("{rent}")).ByteSize() // 2)
    answer = iql_response(await world.ask("{rent}"))
    shown = [result.filename for result in answer.document_results]
    assert len(shown) == 2
    next_one = documents[len(shown)]
    for gone in (documents[0], next_one):
        await world.store.delete_document(TENANT, world.matter.matter_id, gone.document_id)
    while token := answer.next_page_token:
        answer = iql_response(await world.ask("{rent}", page_token=token))
        shown += [result.filename for result in answer.document_results]
        assert (answer.document_count, answer.total_matches) == (3, 3)
    assert shown == [one.filename for one in documents if one is not next_one]


async def test_pages_of_documents_asked_for_by_id_show_each_in_its_place(
    world: AnalysisWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    documents = [await world.add("rent", filename=f"{number}.txt") for number in range(4)][::-1]
    whole = iql_response(await world.ask("{rent}", *documents))
    monkeypatch.setattr(values, "MAX_ANSWER_BYTES", whole.ByteSize() // 2)
    answer = iql_response(await world.ask("{rent}", *documents))
    shown = [result.document_id for result in answer.document_results]
    for gone in (documents[0], documents[len(shown)]):
        await world.store.delete_document(TENANT, world.matter.matter_id, gone.document_id)
    while token := answer.next_page_token:
        answer = iql_response(await world.ask("{rent}", *documents, page_token=token))
        shown += [result.document_id for result in answer.document_results]
    assert shown == [one.document_id for one in documents], "a deleted document is reported in its place"


async def test_of_too_many_documents_the_best_show_a_match(world: AnalysisWorld) -> None:
    for number, passage in enumerate(["rent", "nothing", "rent due", "rent"]):
        await world.add(passage, filename=f"{number}.txt")
    results = (await world.ask("{rent due}", min_score=0.4, max_matches_in_all=2)).results
    assert [len(result.matches) for result in results] == [1, 0, 1, 0]
    assert [result.match_count for result in results] == [1, 0, 1, 1]
