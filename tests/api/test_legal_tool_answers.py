"""Extracted answers and classified clauses stay under the size that clients accept; counts stay full."""

from collections import Counter
from dataclasses import replace
from itertools import chain

from proviso_client.v1 import tools_pb2 as pb
from proviso_service.analysis.answer_values import AnswerValue, ValueKind
from proviso_service.analysis.classification import ClassifyOutcome, ClassifyQuery, Clause, TypeCount, by_turns
from proviso_service.analysis.document_scoring import TargetDocument
from proviso_service.analysis.extraction import AnswerCitation, CitedAnswer, ExtractOutcome, ExtractQuery
from proviso_service.api.convert.analysis import classify_response, extract_response
from proviso_service.api.convert.values import MAX_ANSWER_BYTES
from proviso_service.matters.model import StoredChunk
from proviso_service.paging import offset_in
from proviso_service.reading.model import Chunk

LONG = "\N{CAT FACE}" * 4_000


def some_failed(count: int) -> tuple[TargetDocument, ...]:
    return tuple(TargetDocument(n, f"d{n}", None, "There is no such document in this matter") for n in range(count))


def classified(*clauses: Clause, failed: int = 0) -> ClassifyOutcome:
    found = Counter(clause.clause_type for clause in clauses)
    counts = tuple(TypeCount(name, count, 1) for name, count in found.items())
    taken = {id(clause): rank for rank, clause in enumerate(chain.from_iterable(by_turns(clauses)))}
    ranked = tuple(replace(clause, rank=taken[id(clause)]) for clause in clauses)
    return ClassifyOutcome(ClassifyQuery("m"), "model", ranked, counts, some_failed(failed), end=len(clauses))


def clauses_of(clause_type: str, count: int, confidence: float, text: str = LONG) -> list[Clause]:
    return [Clause(clause_type, confidence, "d", "a.md", Chunk(n, n, n + len(text), text)) for n in range(count)]


def extracted(citations: int, alternatives: int, failed: int = 0) -> ExtractOutcome:
    stored = StoredChunk("d:0", "d", "a.md", Chunk(0, 10, 10 + len(LONG), LONG))
    answer = CitedAnswer(tuple(AnswerCitation(stored, 0.5, 10, 13, 0.9) for _ in range(citations)))
    others = tuple(CitedAnswer((AnswerCitation(stored, 0.5, 10, 10 + n, 0.5),)) for n in range(1, alternatives + 1))
    return ExtractOutcome(ExtractQuery("m", "What?"), "model", answer, others, some_failed(failed))


def test_few_clauses_are_all_there() -> None:
    answer = classify_response(classified(*clauses_of("Notice", 3, 0.9, "x")))
    assert (len(answer.clauses), answer.total_size, answer.truncated) == (3, 3, False)


def test_too_many_clauses_are_cut_to_the_best_of_each_type() -> None:
    sure, less_sure = clauses_of("Notice", 500, 0.9), clauses_of("Insurance", 20, 0.6)
    answer = classify_response(classified(*sure, *less_sure))
    assert MAX_ANSWER_BYTES - 20_000 < answer.ByteSize() <= MAX_ANSWER_BYTES
    assert (answer.truncated, answer.total_size) == (True, 520)
    assert offset_in(answer.next_page_token, ()) == len(answer.clauses), "the next page begins with the first left out"
    kept = Counter(clause.clause_type for clause in answer.clauses)
    assert kept["Insurance"] == 20
    assert 100 < kept["Notice"] < 500
    starts = [clause.start for clause in answer.clauses if clause.clause_type == "Notice"]
    assert starts == list(range(kept["Notice"]))
    assert [(one.clause_type, one.clauses) for one in answer.counts] == [("Notice", 500), ("Insurance", 20)]


def test_very_many_failed_documents_are_cut_and_leave_room_for_the_clauses() -> None:
    answer = classify_response(classified(*clauses_of("Notice", 100, 0.9), failed=30_000))
    assert answer.ByteSize() <= MAX_ANSWER_BYTES
    assert (answer.truncated, len(answer.clauses), answer.total_size, answer.next_page_token) == (True, 100, 100, "")
    assert 10_000 < len(answer.document_errors) < 30_000


def test_an_answer_and_its_alternatives_are_all_there() -> None:
    answer = extract_response(extracted(3, 2))
    assert (answer.answer, answer.score) == ("\N{CAT FACE}" * 3, 0.9)
    assert (len(answer.citations), len(answer.alternatives), answer.truncated) == (3, 2, False)
    assert (answer.citations[0].answer_start, answer.citations[0].answer_end) == (10, 13)
    assert answer.likelihood == pb.LIKELIHOOD_LIKELY
    assert {one.likelihood for one in answer.alternatives} == {pb.LIKELIHOOD_POSSIBLE}


def test_the_values_of_an_answer_are_placed_in_the_document() -> None:
    outcome = extracted(1, 0)
    assert outcome.answer is not None
    value = AnswerValue(ValueKind.AMOUNT, "200", 1, 3, "EUR")
    cited = replace(outcome.answer.citations[0], values=(value,))
    [shown] = extract_response(replace(outcome, answer=CitedAnswer((cited,)))).citations[0].values
    assert (shown.kind, shown.value, shown.unit) == (pb.VALUE_KIND_AMOUNT, "200", "EUR")
    assert (shown.start, shown.end) == (11, 13)


def test_clauses_say_what_their_score_means() -> None:
    clauses = [one for confidence in (0.2, 0.5, 0.9) for one in clauses_of(str(confidence), 1, confidence, "x")]
    answer = classify_response(classified(*clauses))
    assert [one.likelihood for one in answer.clauses] == [1, 2, 3]


def test_a_large_answer_loses_errors_first_then_alternatives_then_citations() -> None:
    answer = extract_response(extracted(150, 20, failed=50_000))
    assert answer.ByteSize() <= MAX_ANSWER_BYTES
    assert (len(answer.citations), len(answer.alternatives), answer.truncated) == (150, 20, True)
    answer = extract_response(extracted(200, 20))
    assert answer.ByteSize() <= MAX_ANSWER_BYTES
    assert (answer.truncated, len(answer.alternatives)) == (True, 0)
    assert 150 < len(answer.citations) < 200
