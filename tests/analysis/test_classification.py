"""Clauses by their types: in whole documents, in all of them, whatever becomes of one."""

import asyncio
from itertools import chain
from pathlib import Path
from uuid import uuid4

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from proviso_service.analysis.classification import ClassifyOutcome, ClassifyQuery, Clause, ClauseHits, by_turns
from proviso_service.errors import InvalidRequest, MatterNotFound, NoReadyDocuments, TooBusy
from proviso_service.matters.model import DocumentStatus
from proviso_service.reading.model import Chunk
from tests.support.analysis_world import TENANT, AnalysisWorld, analysis_world

RENT, NOTICE = "Rent due.", "Notice given."
IS_RENT, IS_NOTICE = "{rent due}", "{notice given}"


def placed(outcome: ClassifyOutcome) -> list[tuple[str, int, str]]:
    return [(clause.filename, clause.chunk.ordinal, clause.clause_type) for clause in outcome.clauses]


def counted(outcome: ClassifyOutcome) -> dict[str, tuple[int, int]]:
    return {count.clause_type: (count.clauses, count.documents) for count in outcome.counts}


async def test_clauses_come_by_document_and_position_each_under_its_types(world: AnalysisWorld) -> None:
    await world.add(NOTICE, "nothing", f"{RENT} {NOTICE}", filename="b.txt")
    await world.add(RENT, filename="a.txt")
    outcome = await world.classify(IS_RENT, IS_NOTICE)
    assert placed(outcome) == [
        ("b.txt", 0, IS_NOTICE), ("b.txt", 2, IS_RENT), ("b.txt", 2, IS_NOTICE), ("a.txt", 0, IS_RENT),
    ]  # fmt: skip
    assert counted(outcome) == {IS_RENT: (2, 2), IS_NOTICE: (2, 1)}
    assert (outcome.total_found, outcome.model, outcome.failed) == (4, "word-classifier", ())
    clause = outcome.clauses[1]
    assert (clause.confidence, clause.chunk.text, clause.chunk.start) == (1.0, f"{RENT} {NOTICE}", 22)


async def test_a_type_without_a_clause_is_counted_with_none(world: AnalysisWorld) -> None:
    await world.add(RENT)
    outcome = await world.classify(IS_NOTICE, IS_RENT)
    assert counted(outcome) == {IS_NOTICE: (0, 0), IS_RENT: (1, 1)}


async def test_where_nothing_is_of_any_type_nothing_is_found(world: AnalysisWorld) -> None:
    await world.add("nothing")
    outcome = await world.classify(IS_RENT)
    assert (outcome.clauses, outcome.total_found, counted(outcome)) == ((), 0, {IS_RENT: (0, 0)})


async def test_the_usual_types_are_looked_for_by_default(world: AnalysisWorld) -> None:
    await world.add("This indemnity provision: one party must indemnify or compensate another for losses or claims.")
    outcome = await world.classify()
    assert len(outcome.counts) == 15
    assert placed(outcome) == [("lease.txt", 0, "Indemnity")]


async def test_a_clause_is_above_the_least_confidence(world: AnalysisWorld) -> None:
    await world.add("rent", RENT)
    assert (await world.classify(IS_RENT)).total_found == 1  # 0.5 is not above 0.5
    assert (await world.classify(IS_RENT, min_confidence=0.4)).total_found == 2
    assert (await world.classify(IS_RENT, min_confidence=1.0)).total_found == 0
    world.restart(min_score=0.4)
    assert (await world.classify(IS_RENT)).total_found == 2


async def test_every_passage_of_a_long_document_is_judged(world: AnalysisWorld) -> None:
    passages = [f"nothing {number}" for number in range(2_000)]
    for ordinal in (50, 150, 1_999):
        passages[ordinal] = f"{RENT} {ordinal}"
    await world.add(*passages)
    outcome = await world.classify(IS_RENT, IS_NOTICE)
    assert [clause.chunk.ordinal for clause in outcome.clauses] == [50, 150, 1_999]
    assert len(world.asked()) == 2 * 2_000


async def test_of_too_many_each_type_keeps_its_best_and_all_are_counted(world: AnalysisWorld) -> None:
    await world.add(*["rent"] * 5, RENT, *["rent"] * 5, filename="rents.txt")
    await world.add("notice", filename="notices.txt")
    outcome = await world.classify(IS_RENT, IS_NOTICE, min_confidence=0.4, max_clauses=3)
    assert placed(outcome) == [
        ("rents.txt", 0, IS_RENT), ("rents.txt", 5, IS_RENT), ("notices.txt", 0, IS_NOTICE),
    ]  # fmt: skip
    assert (outcome.total_found, counted(outcome)) == (12, {IS_RENT: (11, 1), IS_NOTICE: (1, 1)})


@pytest.mark.parametrize("bound", [1, 3])
async def test_documents_are_classified_side_by_side_under_a_bound(tmp_path: Path, bound: int) -> None:
    async with analysis_world(tmp_path, batch_passages=1, batches_at_once=bound) as world:
        for number in range(8):
            await world.add(f"{RENT} {number}", filename=f"{number}.txt")
        world.classifier.shut()
        classifying, asking = asyncio.create_task(world.classify(IS_RENT)), asyncio.create_task(world.ask(IS_RENT))
        await world.classifier.until_running(bound)
        world.classifier.open()
        outcome, _ = await asyncio.gather(classifying, asking)
        assert world.classifier.most_running == bound  # queries and classifications together
        assert [clause.filename for clause in outcome.clauses] == [f"{number}.txt" for number in range(8)]


async def test_documents_that_are_not_there_or_not_ready_are_named(world: AnalysisWorld) -> None:
    await world.add(RENT)
    slow = await world.add_unready(DocumentStatus.PENDING)
    outcome = await world.classify(IS_RENT)
    assert outcome.total_found == 1
    [failed] = outcome.failed
    assert (failed.document_id, failed.filename) == (slow.document_id, "slow.pdf")
    assert failed.error.startswith("slow.pdf is still being processed")
    absent = str(uuid4())
    outcome = await world.classify(IS_RENT, document_ids=[absent])
    assert [(one.document_id, one.error) for one in outcome.failed] == [
        (absent, "There is no such document in this matter")
    ]
    assert outcome.clauses == ()


async def test_a_document_that_fails_spoils_no_other(world: AnalysisWorld) -> None:
    for name, passage in (("a", RENT), ("b", "poison"), ("c", RENT), ("d", "venom")):
        await world.add(passage, filename=f"{name}.txt")
    world.classifier.fail_on("poison", TooBusy("The model is busy", 1.0))
    world.classifier.fail_on("venom", RuntimeError("secret"))
    outcome = await world.classify(IS_RENT)
    assert [clause.filename for clause in outcome.clauses] == ["a.txt", "c.txt"]
    assert [(one.filename, one.error) for one in outcome.failed] == [
        ("b.txt", "The model is busy"), ("d.txt", "This document could not be analysed; try again"),
    ]  # fmt: skip


async def test_what_fails_for_every_document_fails_the_call(world: AnalysisWorld) -> None:
    await world.add("poison")
    world.classifier.fail_on("poison", TooBusy("The model is busy", 1.0))
    with pytest.raises(TooBusy, match="The model is busy"):
        await world.classify(IS_RENT)


async def test_what_is_not_done_in_time_says_so_and_is_gone_on_with(tmp_path: Path) -> None:
    async with analysis_world(tmp_path, time_limit_s=0.5) as world:
        await world.add(RENT)
        world.classifier.shut()
        [late] = (await world.classify(IS_RENT)).failed
        assert late.error.startswith("This document was not analysed within the time limit of 0.5 s; ask again")
        world.classifier.open()
        world.restart()
        assert (await world.classify(IS_RENT)).total_found == 1


async def test_what_a_query_has_scored_is_not_scored_again(world: AnalysisWorld) -> None:
    await world.add(RENT, NOTICE)
    await world.ask("{IS termination clause} OR {IS payment clause}")
    world.asked()
    await world.classify("Termination", "Payment Terms")
    assert world.asked() == []
    await world.classify("Termination", "Insurance")
    assert {statement.split(":")[0] for statement, _ in world.asked()} == {"This is an insurance clause"}


async def test_only_the_documents_asked_for_are_read(world: AnalysisWorld) -> None:
    await world.add(RENT, filename="a.txt")
    second = await world.add(RENT, filename="b.txt")
    outcome = await world.classify(IS_RENT, document_ids=[second.document_id])
    assert [clause.filename for clause in outcome.clauses] == ["b.txt"]


async def test_a_document_that_is_deleted_meanwhile_has_no_clauses(world: AnalysisWorld) -> None:
    await world.add(RENT, filename="a.txt")
    gone = await world.add(RENT, filename="b.txt")
    await world.classify(IS_RENT)
    world.classifier.shut()
    classifying = asyncio.create_task(world.classify(IS_RENT, IS_NOTICE))
    await world.classifier.until_running(2)
    await world.store.delete_document(TENANT, world.matter.matter_id, gone.document_id)
    world.classifier.open()
    outcome = await classifying
    assert [clause.filename for clause in outcome.clauses] == ["a.txt"]
    assert [one.error for one in outcome.failed] == ["There is no such document in this matter"]


async def test_what_cannot_be_asked_is_refused(world: AnalysisWorld) -> None:
    with pytest.raises(NoReadyDocuments, match="No ready documents found in this matter"):
        await world.classify(IS_RENT)
    await world.add(RENT)
    with pytest.raises(InvalidRequest, match=r"clause_types\[0\]: must not be blank"):
        await world.classify(" ")
    with pytest.raises(InvalidRequest, match="document_ids"):
        await world.classify(IS_RENT, document_ids=["b.txt"])
    with pytest.raises(MatterNotFound):
        await world.classification.classify("other", ClassifyQuery(world.matter.matter_id))


CLAUSES = st.lists(
    st.tuples(st.integers(0, 5), st.integers(0, 9), st.sampled_from("abc"), st.sampled_from((0.5, 0.75, 1.0))),
    max_size=40,
    unique_by=lambda clause: clause[:3],
).map(sorted)


@given(CLAUSES, st.integers(0, 45))
def test_the_best_are_those_of_the_first_turns(found: list[tuple[int, int, str, float]], most: int) -> None:
    clauses = [Clause(kind, score, f"{doc}", "x.md", Chunk(place, 0, 1, "x")) for doc, place, kind, score in found]
    hits = ClauseHits(
        documents=np.array([doc for doc, *_ in found], dtype=np.intp),
        ordinals=np.array([place for _, place, *_ in found], dtype=np.intp),
        types=np.array(["abc".index(kind) for _, _, kind, _ in found], dtype=np.intp),
        scores=np.array([score for *_, score in found], dtype=np.float32),
    )
    kept = hits.best(most)
    places = zip(kept.documents.tolist(), kept.ordinals.tolist(), kept.types.tolist(), strict=True)
    expected = list(chain.from_iterable(by_turns(clauses)))[:most]
    assert list(places) == sorted((int(c.document_id), c.chunk.ordinal, "abc".index(c.clause_type)) for c in expected)


@given(CLAUSES)
def test_no_type_waits_while_another_has_two_more_turns(found: list[tuple[int, int, str, float]]) -> None:
    clauses = [Clause(kind, score, f"{doc}", "x.md", Chunk(place, 0, 1, "x")) for doc, place, kind, score in found]
    ordered = list(chain.from_iterable(by_turns(clauses)))
    assert sorted(map(id, ordered)) == sorted(map(id, clauses))
    for end in range(len(ordered)):
        before = [clause.clause_type for clause in ordered[:end]]
        waiting = {clause.clause_type for clause in ordered[end:]}
        assert all(before.count(kind) >= max(map(before.count, before)) - 1 for kind in waiting if before)
    for kind in "abc":
        scores = [clause.confidence for clause in ordered if clause.clause_type == kind]
        assert scores == sorted(scores, reverse=True)
