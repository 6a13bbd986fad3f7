"""Answers to IQL queries stay under the size that clients accept; counts stay full."""

from dataclasses import replace
from uuid import UUID

from proviso_client.v1 import tools_pb2
from proviso_service.analysis.model import DocumentResult, IqlMatch, IqlOutcome, IqlProgress, IqlSummary, PageStart
from proviso_service.api.convert.iql import iql_progress, iql_response
from proviso_service.api.convert.values import MAX_ANSWER_BYTES
from proviso_service.reading.model import Chunk

LONG = "\N{CAT FACE}" * 4_000


def a_result(index: int, matches: int, text: str = LONG) -> DocumentResult:
    found = tuple(IqlMatch(Chunk(n, n, n + 1, text), 0.5 + 0.25 * (n % 2)) for n in range(matches))
    return DocumentResult(index, f"d{index}", f"{index}.md", 0.9, found, matches)


def an_outcome(*results: DocumentResult) -> IqlOutcome:
    total = sum(result.match_count for result in results)
    return IqlOutcome(IqlSummary("{a}", "model", (), len(results), len(results), total), results)


def test_a_small_answer_is_whole() -> None:
    answer = iql_response(an_outcome(a_result(0, 3), a_result(1, 0)))
    assert [len(result.matches) for result in answer.document_results] == [3, 0]
    assert not answer.truncated
    assert answer.document_results[0].likelihood == tools_pb2.LIKELIHOOD_LIKELY
    assert [match.likelihood for match in answer.document_results[0].matches] == [2, 3, 2]


def test_a_large_answer_shows_fewer_matches_of_each_document() -> None:
    answer = iql_response(an_outcome(*(a_result(index, 20) for index in range(20)), a_result(20, 1)))
    assert answer.ByteSize() <= MAX_ANSWER_BYTES
    assert (answer.truncated, answer.total_matches, len(answer.document_results)) == (True, 401, 21)
    shown = {len(result.matches) for result in answer.document_results[:20]}
    assert len(shown) == 1
    assert all(result.truncated for result in answer.document_results[:20])
    first = answer.document_results[0]
    assert {match.score for match in first.matches} == {0.75}  # the best
    assert [match.start_index for match in first.matches] == sorted(match.start_index for match in first.matches)
    assert (len(answer.document_results[20].matches), answer.document_results[20].truncated) == (1, False)


def test_an_answer_of_very_many_documents_is_cut_and_its_token_leads_to_the_others() -> None:
    named = [replace(a_result(index, 1, "x" * 100), document_id=str(UUID(int=index))) for index in range(30_000)]
    answer = iql_response(an_outcome(*named))
    assert answer.ByteSize() <= MAX_ANSWER_BYTES + 100, "the token is not counted"
    assert answer.truncated
    assert 10_000 < len(answer.document_results) < 30_000
    assert PageStart.of(answer.next_page_token, ()) == PageStart(named[len(answer.document_results)].document_id)
    first = answer.document_results[0]
    assert PageStart.of(first.next_page_token, ()) == PageStart(first.document_id, len(first.matches))
    assert (answer.document_count, answer.total_matches) == (30_000, 30_000)


def test_a_large_result_in_a_stream_is_cut() -> None:
    result = a_result(0, 1_000)
    step = iql_progress(IqlProgress(an_outcome(result).summary, result))
    assert step.ByteSize() < MAX_ANSWER_BYTES + 1_000
    assert step.document_result.truncated
    assert step.document_result.match_count == 1_000
