"""Extraction as the model uses it: the answer, passages to cite, all within a budget."""

import json
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, cast
from uuid import uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from proviso_service.analysis.answer_values import values_in_answer
from proviso_service.analysis.document_scoring import TargetDocument
from proviso_service.analysis.extraction import (
    AnswerCitation,
    CitedAnswer,
    Extraction,
    ExtractOutcome,
    ExtractQuery,
)
from proviso_service.analysis.party_names import Definitions
from proviso_service.identity import Caller
from proviso_service.matters.model import Document, DocumentStatus, StoredChunk
from proviso_service.reading.model import Chunk
from proviso_service.tools.base import SourcePassage, ToolArgs, ToolScope
from proviso_service.tools.extract import ExtractResult, IsaacusExtract, IsaacusExtractArgs
from proviso_service.tools.get_document_text import GetDocumentTextArgs
from proviso_service.tools.registry import ToolRegistry
from tests.support.rendered import BUDGET, rendered

FILLER = "The parties have agreed on the following in good faith. " * 12
SIXTY = "The notice period is sixty days."


def a_citation(text: str, answer: str, number: int = 0, confidence: float = 0.9) -> AnswerCitation:
    chunk = Chunk(number, 1_000, 1_000 + len(text), text, 2, ("Lease", "5. Notice"))
    start = 1_000 + text.index(answer)
    stored = StoredChunk(f"d{number}:0", f"d{number}", f"{number}.md", chunk)
    return AnswerCitation(stored, 0.75, start, start + len(answer), confidence)


def a_result(answer: CitedAnswer | None, *alternatives: CitedAnswer, failed: int = 0) -> ExtractResult:
    targets = tuple(TargetDocument(n, f"x{n}", None, "There is no such document in this matter") for n in range(failed))
    return ExtractResult(ExtractOutcome(ExtractQuery("m", "What is it?"), "model", answer, alternatives, targets))


def test_the_schema_is_the_tool_familys_without_the_matter() -> None:
    [schema] = ToolRegistry([IsaacusExtract(cast(Any, None))]).schemas()
    function = schema["function"]
    assert function["name"] == "isaacus_extract"
    assert list(function["parameters"]["properties"]) == ["question", "document_ids", "each_document", "skip"]
    assert function["parameters"]["required"] == ["question"]
    with pytest.raises(ValidationError):
        IsaacusExtractArgs(question="")


def test_the_description_says_when_to_use_it_and_when_another() -> None:
    for part in (
        "What is the notice period?",
        "isaacus_iql",
        "isaacus_classify",
        "isaacus_search",
        "get_document_text",
    ):
        assert part in IsaacusExtract.description
    assert "document_ids=[document_id]" in IsaacusExtract.description
    assert IsaacusExtract.is_retrieval


def test_the_whole_result_is_the_tool_familys() -> None:
    result = a_result(CitedAnswer((a_citation(f"It is so. {SIXTY}", SIXTY),)), failed=1)
    data = result.data()
    assert {name: data[name] for name in ("answer", "confidence", "question", "found", "model")} == {
        "answer": SIXTY, "confidence": 0.9, "question": "What is it?", "found": True, "model": "model",
    }  # fmt: skip
    [citation] = data["citations"]
    expected = {"document_id": "d0", "chunk_id": "d0:0", "filename": "0.md", "relevance_score": 0.75}
    assert citation | expected | {"answer_start": 1_010, "answer_end": 1_042, "page": 2} == citation
    assert citation["permalink"] == "cite:d0@1010-1042"
    assert [one["document_id"] for one in data["document_errors"]] == ["x0"]
    json.dumps(data)


def test_the_model_reads_the_values_of_an_answer_in_a_form_to_compare() -> None:
    text = f"It is so. {SIXTY}"
    values = tuple(values_in_answer(SIXTY, Definitions()))
    result = a_result(CitedAnswer((replace(a_citation(text, SIXTY), values=values),)))
    read, _ = rendered(result)
    assert read["citations"][0]["values"] == [{"kind": "period", "value": "P60D"}]
    [value] = result.data()["citations"][0]["values"]
    assert text[value["start"] - 1_000 : value["end"] - 1_000] == "sixty days"
    json.dumps(result.data())


def test_the_model_reads_the_answer_and_a_passage_to_cite() -> None:
    text = f"It is so. {SIXTY}"
    read, [passage] = rendered(a_result(CitedAnswer((a_citation(text, SIXTY),))))
    assert (read["answer"], read["confidence"], read["found"], read["truncated"]) == (SIXTY, 0.9, True, False)
    assert read["citations"] == [
        {"ref": 1, "document_id": "d0", "filename": "0.md", "heading": "5. Notice", "page": 2,
         "start": 1_000, "text": text, "confidence": 0.9},
    ]  # fmt: skip
    assert passage == SourcePassage("d0", "0.md", 1_000, text, 2, "5. Notice")


def test_of_long_passages_the_part_around_the_answer_is_shown() -> None:
    text = f"{FILLER}{SIXTY} {FILLER}"
    answer = CitedAnswer((a_citation(text, SIXTY, 0), a_citation(text, SIXTY, 1, 0.3)))
    others = [CitedAnswer((a_citation(text, f"{SIXTY} The parties", 2, 0.4),))]
    read, numbered = rendered(a_result(answer, *others))
    assert [passage.filename for passage in numbered] == ["0.md", "2.md", "1.md"]
    for passage in numbered:
        assert SIXTY in passage.text
        assert text[passage.start - 1_000 :].startswith(passage.text)
    assert [one["ref"] for one in read["citations"]] == [1, 3]
    [other] = read["alternatives"]
    assert (other["ref"], other["confidence"], other["answer"]) == (2, 0.4, f"{SIXTY} The parties")
    assert read["truncated"]


def test_the_same_words_in_several_passages_are_each_shown_as_surely_as_they_answer() -> None:
    texts = [f"{SIXTY} It is that of the {party}." for party in ("Tenant", "Landlord", "Guarantor")]
    places = [a_citation(text, "sixty days", n, 0.6 - n / 10) for n, text in enumerate(texts)]
    read, numbered = rendered(a_result(None, CitedAnswer((places[0], places[2])), CitedAnswer((places[1],))))
    assert [passage.text for passage in numbered] == texts
    assert [(one["answer"], one["confidence"]) for one in read["alternatives"]] == [
        ("sixty days", 0.6), ("sixty days", 0.5), ("sixty days", 0.4),
    ]  # fmt: skip


def of_each(*answers: CitedAnswer, named: tuple[str, ...] = ()) -> ExtractResult:
    query = ExtractQuery(
        "m", "Which documents have sixty days of notice?", named, max_alternatives=99, each_document=True
    )
    documents = len({one.citations[0].stored.document_id for one in answers})
    return ExtractResult(ExtractOutcome(query, "model", answers[0], answers[1:], (), documents=documents))


def after(skip: int, result: ExtractResult) -> ExtractResult:
    return ExtractResult(replace(result.outcome, query=replace(result.outcome.query, skip=skip)))


def a_document(document_id: str, filename: str) -> Document:
    return Document(document_id, "m", "t", filename, "text/plain", 1, "", DocumentStatus.READY, datetime.now(UTC))


def test_where_each_document_was_asked_hardly_more_than_its_answer_is_shown() -> None:
    long = "The Tenant may end the lease, whoever asks and whatever the reason, with sixty days of notice in writing."
    answers = [CitedAnswer((a_citation(f"{FILLER}{long} {FILLER}", long, n, 0.9 - n / 100),)) for n in range(5)]
    read, numbered = rendered(of_each(*answers), 4_000)
    assert [one["filename"] for one in read["alternatives"]] == ["1.md", "2.md", "3.md", "4.md"]
    assert all(long in passage.text and len(passage.text) <= 300 for passage in numbered)
    assert all("answer" not in one for one in read["alternatives"])
    assert (read["documents_asked"], read["not_shown"]) == (5, 0)


def test_of_few_documents_more_of_what_stands_around_is_shown() -> None:
    answers = [CitedAnswer((a_citation(f"{FILLER}{SIXTY} {FILLER}", SIXTY, n, 0.9 - n / 100),)) for n in range(2)]
    _, numbered = rendered(of_each(*answers))
    assert all(SIXTY in passage.text and 300 < len(passage.text) <= 600 for passage in numbered)


def test_of_the_only_document_that_was_asked_whole_sentences_are_shown() -> None:
    sentences = [f"On ground {n} {'either party may end the lease, ' * 14}with notice." for n in range(4)]
    answers = [CitedAnswer((a_citation(f"{FILLER}{one} {FILLER}", one, 0),)) for one in sentences]
    _, numbered = rendered(of_each(*answers))
    assert [sentence in passage.text for sentence, passage in zip(sentences, numbered, strict=False)][:3] == [True] * 3


def test_of_a_sentence_without_room_the_part_that_was_asked_about_is_shown() -> None:
    long = f"{'Whatever else the parties have agreed on, ' * 20}there are sixty days of notice for both of them."
    short = CitedAnswer((a_citation(SIXTY, SIXTY),))
    read, [_, passage] = rendered(of_each(short, CitedAnswer((a_citation(long, long, 1),))), 900)
    assert "sixty days of notice" in passage.text
    assert long.find(passage.text) > 0
    assert read["truncated"]


def test_beside_a_sure_answer_what_says_hardly_anything_is_only_counted() -> None:
    unlikely = [CitedAnswer((a_citation(SIXTY, SIXTY, n, 0.05),)) for n in range(1, 3)]
    read, numbered = rendered(of_each(CitedAnswer((a_citation(SIXTY, SIXTY),)), *unlikely))
    assert [passage.filename for passage in numbered] == ["0.md"]
    assert (read["not_shown"], read["not_shown_confidence"]) == (2, 0.05)
    assert len(rendered(of_each(*unlikely))[1]) == 2


def test_documents_that_were_shown_before_are_passed_over() -> None:
    answers = [CitedAnswer((a_citation(SIXTY, SIXTY, n, 0.9 - n / 100),)) for n in range(5)]
    whole = of_each(*answers)
    read, numbered = rendered(after(3, whole))
    assert [passage.filename for passage in numbered] == ["3.md", "4.md"]
    assert (read["documents_asked"], read["not_shown"]) == (5, 0)
    assert rendered(after(9, whole))[1] == []


def test_documents_without_a_likely_answer_are_named_as_far_as_there_is_room() -> None:
    without = tuple(TargetDocument(n, f"w{n}", a_document(f"w{n}", f"without {n}.md")) for n in range(60))
    whole = of_each(CitedAnswer((a_citation(SIXTY, SIXTY),)))
    few = ExtractResult(replace(whole.outcome, without=without[:2]))
    read, _ = rendered(few)
    assert (read["documents_without"], read["documents_without_count"]) == (["without 0.md", "without 1.md"], 2)
    assert {"document_id": "w1", "filename": "without 1.md"} in few.data()["documents_without"]
    read, numbered = rendered(ExtractResult(replace(whole.outcome, without=without)))
    assert 0 < len(read["documents_without"]) < 60 == read["documents_without_count"]
    assert len(numbered) == 1


def test_of_many_documents_more_are_shown_without_headings_and_values() -> None:
    answers = [CitedAnswer((a_citation(SIXTY, SIXTY, n, 0.9 - n / 100),)) for n in range(21)]
    read, _ = rendered(of_each(*answers), 9_000)
    assert not any("heading" in one for one in (*read["citations"], *read["alternatives"]))
    read, _ = rendered(of_each(*answers[:20]), 9_000)
    assert all(one["heading"] == "5. Notice" for one in (*read["citations"], *read["alternatives"]))


def test_of_documents_that_were_named_what_says_hardly_anything_is_shown_too() -> None:
    answers = [CitedAnswer((a_citation(SIXTY, SIXTY, n, confidence),)) for n, confidence in enumerate((0.9, 0.05))]
    read, numbered = rendered(of_each(*answers, named=("d0", "d1")))
    assert [passage.filename for passage in numbered] == ["0.md", "1.md"]
    assert read["not_shown"] == 0


def test_whole_sentences_of_each_document_may_take_more_room_than_other_results() -> None:
    question = "What is the notice period?"
    assert ToolArgs().room == 1
    assert [IsaacusExtractArgs(question=question, each_document=each).room for each in (False, True)] == [3, 4]
    assert IsaacusExtractArgs(question=question, each_document=True, document_ids=["d0"]).room == 3
    assert GetDocumentTextArgs(document_id="d0").room == 2


def test_of_all_places_of_a_document_those_that_say_hardly_anything_are_left_out() -> None:
    answers = [CitedAnswer((a_citation(SIXTY, SIXTY, 0, confidence),)) for confidence in (0.9, 0.05)]
    read, _ = rendered(of_each(*answers, named=("d0",)))
    assert [one["confidence"] for one in (*read["citations"], *read["alternatives"])] == [0.9]
    assert read["citations"][0]["start"] == 1_000


def test_where_nothing_was_found_it_says_so() -> None:
    read, numbered = rendered(a_result(None, failed=5))
    assert (read["answer"], read["confidence"], read["found"]) == ("Not found in the documents", 0, False)
    assert (read["citations"], read["alternatives"], numbered) == ([], [], [])
    assert (len(read["document_errors"]), read["truncated"]) == (3, True)
    assert not a_result(None).found


def test_an_answer_that_is_not_sure_enough_can_still_be_read() -> None:
    result = a_result(None, CitedAnswer((a_citation(SIXTY, SIXTY, confidence=0.2),)))
    read, [passage] = rendered(result)
    assert result.found
    assert (read["found"], read["alternatives"][0]["ref"], passage.text) == (False, 1, SIXTY)


@given(st.text(min_size=1, max_size=600), st.integers(700, BUDGET))
def test_whatever_the_texts_hold_the_result_fits(text: str, budget: int) -> None:
    answers = [CitedAnswer(tuple(a_citation(text * 2, text, n) for n in range(3))) for _ in range(3)]
    question = ExtractQuery("m", text)
    result = ExtractResult(ExtractOutcome(question, "model", answers[0], tuple(answers[1:]), ()))
    shown = result.render(lambda _: 1, budget)
    fixed = len(json.dumps([text[:600], text[:300]], ensure_ascii=False))
    json.loads(shown.text)
    assert len(shown.text) <= max(budget, 400 + fixed)


class RecordingExtraction:
    """Stands for the analysis; keeps what it is asked."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, ExtractQuery]] = []

    async def extract(self, tenant: str, query: ExtractQuery) -> ExtractOutcome:
        self.asked.append((tenant, query))
        return ExtractOutcome(query, "model", None, (), ())


async def test_the_matter_is_the_turns_and_the_documents_are_the_calls() -> None:
    extraction, matter_id, document_id = RecordingExtraction(), str(uuid4()), str(uuid4())
    tool = IsaacusExtract(cast(Extraction, extraction))
    scope = ToolScope(Caller("acme", "anna"), matter_id)
    await tool.run(scope, IsaacusExtractArgs(question="What?", document_ids=[document_id]))
    await tool.run(scope, IsaacusExtractArgs(question="What?"))
    assert [(tenant, query.matter_id, query.document_ids) for tenant, query in extraction.asked] == [
        ("acme", matter_id, (document_id,)), ("acme", matter_id, ()),
    ]  # fmt: skip
