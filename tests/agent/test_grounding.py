"""Citations are looked up in the sources, in code."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proviso_service.agent.grounding import LocatedQuote, Sources, check
from proviso_service.reading.model import Place
from proviso_service.tools.base import SourcePassage
from proviso_service.turns import NOT_ENOUGH_INFORMATION

MARKUP = "#*<>"
TEXT = 'Each party (the "Provider")  shall give\nthirty (30) days’ notice. The cap is USD 5,000.'


def sources(*texts: str) -> Sources:
    made = Sources(["A summary of the notes."])
    for index, text in enumerate(texts or (TEXT,)):
        made.number(SourcePassage(f"d{index}", f"{index}.md", 1_000 * (index + 1), text, 2, "4. Notice"))
    return made


@pytest.mark.parametrize(
    "quote",
    [
        "shall give thirty (30) days' notice",
        "shall give\n thirty (30) days’ notice.",
        "Each party (the “Provider”) shall",
    ],
)
def test_a_quote_is_found_however_its_spaces_and_quotation_marks_are_typed(quote: str) -> None:
    answer = f"It says “{quote}” [1]."
    (citation,) = check(answer, sources(), tools_answered=True).citations
    assert TEXT[citation.start - 1_000 : citation.end - 1_000] == citation.quote
    assert answer[citation.answer_start : citation.answer_end] == f"“{quote}” [1]"
    assert (citation.page, citation.heading, citation.filename) == (2, "4. Notice", "0.md")


def test_a_citation_is_on_the_page_and_under_the_heading_of_its_quote() -> None:
    made, before = Sources(), TEXT.index("The cap")
    made.number(SourcePassage("d", "d.pdf", 1_000, TEXT, 2, "4. Notice", (Place(1_000 + before, 3, "5. Cap"),)))
    answer = "It says “thirty (30) days” [1], and “The cap is USD 5,000.” [1]."
    first, second = check(answer, made, tools_answered=True).citations
    assert (first.page, first.heading) == (2, "4. Notice")
    assert (second.page, second.heading) == (3, "5. Cap")


@pytest.mark.parametrize(
    "answer",
    ["It says “the cap is USD 9,000” [1].", "It says “thirty days” [0]."],
)
def test_a_quote_that_is_not_in_its_source_is_no_citation_and_the_answer_not_grounded(answer: str) -> None:
    verdict = check(answer, sources(), tools_answered=True)
    assert (verdict.citations, verdict.grounded) == ((), False)


def test_a_true_quote_under_a_wrong_number_grounds_the_answer_but_is_not_cited() -> None:
    verdict = check("It says “thirty (30) days” [2].", sources(), tools_answered=True)
    assert (verdict.citations, verdict.grounded) == ((), True)


@pytest.mark.parametrize("piece", ['"[1]', "“[1]”", "It says [1]. "])
def test_looking_up_citations_takes_no_more_than_their_number(piece: str) -> None:
    looked_up = 0

    class Counted(Sources):
        def locate(self, number: int, quote: str) -> LocatedQuote | None:
            nonlocal looked_up
            looked_up += 1
            return super().locate(number, quote)

    counted = Counted()
    counted.number(SourcePassage("d", "notes.md", 0, TEXT))
    check(piece * 100, counted, tools_answered=True)
    assert looked_up <= 500


def test_the_longest_quotation_before_a_number_is_cited() -> None:
    held = Sources()
    held.number(SourcePassage("d", "notes.md", 0, 'They call it "the "big" cap" in all "papers".'))
    answer = 'It is "small". “They call it "the "big" cap" in all "papers"” [1]'
    (citation,) = check(answer, held, tools_answered=True).citations
    assert citation.quote == 'They call it "the "big" cap" in all "papers"'


def test_a_false_quote_beside_a_true_one_is_dropped() -> None:
    verdict = check("“The cap is USD 5,000” [1] and “the cap is gone” [1].", sources(), tools_answered=True)
    assert [c.quote for c in verdict.citations] == ["The cap is USD 5,000"]


def test_a_statement_with_a_number_cites_the_whole_passage_from_its_own_sentence() -> None:
    answer = "There are two parties. Notice is a month [1]."
    (citation,) = check(answer, sources(), tools_answered=True).citations
    assert answer[citation.answer_start : citation.answer_end] == "Notice is a month [1]"
    assert citation.quote == TEXT


def test_a_quote_from_a_document_summary_grounds_an_answer_without_a_number() -> None:
    verdict = check("The notes are “A summary of the notes”.", sources(), tools_answered=False)
    assert (verdict.citations, verdict.grounded) == ((), True)


@pytest.mark.parametrize(
    ("answer", "grounded"),
    [
        ("Good day, how can I help?", True),
        (NOT_ENOUGH_INFORMATION, True),
        ("The cap is 5,000.", False),
        ("Ohio, most likely.", False),
        (f"{NOT_ENOUGH_INFORMATION} It is Ohio, though.", False),
    ],
)
def test_statements_out_of_nowhere_are_not_grounded(answer: str, grounded: bool) -> None:
    assert check(answer, Sources(), tools_answered=False).grounded is grounded


@pytest.mark.parametrize(("answer", "grounded"), [("The notes are about leave.", True), ("There are 12.", False)])
@pytest.mark.parametrize("others", [Sources(["A summary of the notes."]), Sources(images=[1])])
def test_of_a_summary_or_an_image_an_answer_may_speak_in_its_own_words(
    others: Sources, answer: str, grounded: bool
) -> None:
    assert check(answer, others, tools_answered=False).grounded is grounded


@pytest.mark.parametrize(
    ("answer", "grounded"),
    [
        ("The law of Texas governs it.", False),
        ("Do you mean the lease or the licence?", True),
        (f"I looked. {NOT_ENOUGH_INFORMATION}", True),
    ],
)
def test_with_passages_at_hand_an_answer_cites_asks_or_refuses(answer: str, grounded: bool) -> None:
    assert check(answer, sources(), tools_answered=False).grounded is grounded


def test_an_answer_may_rest_on_a_list_that_has_no_passages() -> None:
    assert check("The matter has 2 documents.", sources(), tools_answered=True).grounded


@given(
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters=MARKUP), min_size=1, max_size=200), st.data()
)
def test_every_span_of_a_source_is_found_at_its_place(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text) - 1))
    end = data.draw(st.integers(start + 1, len(text)))
    located = sources(text).locate(1, text[start:end])
    if not text[start:end].strip():
        assert located is None
        return
    assert located is not None
    assert text[located.start - 1_000 : located.end - 1_000] == located.quote


@given(st.text(max_size=300))
def test_any_answer_can_be_checked(answer: str) -> None:
    for citation in check(answer, sources(), tools_answered=True).citations:
        assert 0 <= citation.answer_start < citation.answer_end <= len(answer)
