"""What the model reads of the documentation: numbered references with file names, within the budget."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, ToolMessage

from proviso_service.embedded.chat.conversation import read_evidence
from proviso_service.matters.model import SearchHit, SearchOutcome, SearchQuery, Snippet, StoredChunk
from proviso_service.reading.model import Chunk
from proviso_service.tools.base import Rendered, SourcePassage
from proviso_service.tools.retriever import DocumentationResult

BUDGET = 2_500
FILLER = "Everybody has agreed on the following in good faith. " * 8
ANSWER = "Annual leave is thirty days. "
REFERENCE = re.compile(r"^\[(\d+)\] (.+):$", re.MULTILINE)


def hit(number: int, text: str, *, page: int = 0, path: tuple[str, ...] = ("Leave",)) -> SearchHit:
    chunk = Chunk(number, 1_000, 1_000 + len(text), text, page, path)
    stored = StoredChunk(f"c{number}", f"d{number}", f"handbook-{number}.md", chunk)
    return SearchHit(stored, 0.5, 0.1, lexical_match=True, snippet=Snippet(text[:300], 1_000))


def rendered(*hits: SearchHit, budget: int = BUDGET) -> tuple[Rendered, list[SourcePassage]]:
    numbered: list[SourcePassage] = []

    def number(passage: SourcePassage) -> int:
        numbered.append(passage)
        return len(numbered)

    outcome = SearchOutcome(SearchQuery("documentation", "days of annual leave"), hits)
    return DocumentationResult(outcome).render(number, budget), numbered


def test_references_are_numbered_and_name_file_page_and_heading() -> None:
    read, _ = rendered(hit(1, "Leave is\n\nthirty days.", page=3), hit(2, "Book by mail.", path=()))
    assert read.text == (
        "[1] handbook-1.md, page 3, Leave:\n    Leave is\n\n    thirty days.\n\n[2] handbook-2.md:\n    Book by mail."
    )
    assert not read.truncated


@pytest.mark.parametrize("budget", [0, BUDGET])
def test_nothing_found_is_the_exact_sentinel(budget: int) -> None:
    read, numbered = rendered(budget=budget)
    assert read == Rendered("DOCUMENTATION_SEARCH_RESULT: EMPTY", truncated=False)
    assert not numbered


def test_parts_of_several_passages_fit_where_whole_ones_would_not() -> None:
    whole = FILLER + ANSWER + FILLER
    read, numbered = rendered(*(hit(number, whole) for number in range(15)))
    assert read.truncated
    assert len(read.text) <= BUDGET
    assert len(numbered) >= 4
    assert read.text.count(ANSWER.strip()) == len(numbered)
    assert read.text.endswith(f"({15 - len(numbered)} more found, not shown for want of room)")


def test_a_part_is_cited_where_it_stands_in_the_document() -> None:
    whole = FILLER + ANSWER + FILLER
    _, numbered = rendered(*(hit(number, whole) for number in range(9)))
    assert all(whole[passage.start - 1_000 :].startswith(passage.text) for passage in numbered)


def test_something_of_the_first_passage_is_shown_however_little_room_there_is() -> None:
    read, [passage] = rendered(hit(1, ANSWER * 9), budget=0)
    assert read.truncated
    assert passage.text in ANSWER * 9
    assert "[1] handbook-1.md, Leave:" in read.text


TEXTS = st.text(st.sampled_from("ab [1].:\n\u2028\x0c\t#"), min_size=1, max_size=900).filter(str.strip)


@given(st.lists(TEXTS, min_size=1, max_size=6), st.integers(800, 3_000))
def test_no_text_passes_for_a_reference_and_the_budget_holds(texts: list[str], budget: int) -> None:
    read, numbered = rendered(*(hit(number, text) for number, text in enumerate(texts)), budget=budget)
    assert len(read.text) <= budget
    assert [int(number) for number, _ in REFERENCE.findall(read.text)] == list(range(1, len(numbered) + 1))


def test_the_embedded_model_reads_what_the_tool_writes() -> None:
    read, numbered = rendered(hit(1, "# 3 Leave\n\n  - Thirty days", page=3), hit(2, "[9] x.md:\nBook by mail."))
    call = AIMessage("", tool_calls=[{"name": "retriever", "args": {}, "id": "1"}])
    evidence = read_evidence([call, ToolMessage(read.text, artifact=read.artifact, tool_call_id="1")])
    assert [(one.ref, one.filename, one.text) for one in evidence.passages] == [
        (1, "handbook-1.md, page 3, Leave", numbered[0].text),
        (2, "handbook-2.md, Leave", numbered[1].text),
    ]
