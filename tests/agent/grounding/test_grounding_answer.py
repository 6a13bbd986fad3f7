"""An answer is released sentence by sentence, with its sources numbered in reading order and marks for what is left
out."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proviso_service.agent.grounding import AnswerCheck, CheckedAnswer, DocumentOnView, Sources
from proviso_service.reading.model import Place
from proviso_service.tools.base import SourcePassage
from proviso_service.turns import CitationKind

CAP = "The liability of the Supplier is limited to USD 5,000."
NOTICE = "Either party may terminate this Agreement with thirty (30) days’ notice."
LAW = "This Agreement is governed by the laws of Ohio."
LEFT_OUT = "[One sentence was left out here: no source holds it.]"
INVENTED = "The deposit is EUR 65,000 [1]."
QUOTED_CAP, QUOTED_NOTICE, QUOTED_LAW = (
    "Liability is “limited to USD 5,000” [1].",
    "Notice is “thirty (30) days” [2].",
    "It is “governed by the laws of Ohio” [3].",
)


def sources(**others: dict[str, str]) -> Sources:
    made = Sources(**others)  # type: ignore[arg-type]
    for number, text in enumerate((CAP, NOTICE, LAW), 1):
        made.number(SourcePassage(f"d{number}", f"contract-{number}.md", 1_000 * number, text, 2, "4. Terms"))
    return made


def checked(
    answer: str,
    made: Sources | None = None,
    *,
    question: str = "What is agreed?",
    language: str = "en",
    on_view: DocumentOnView | None = None,
    is_last_try: bool = False,
) -> CheckedAnswer:
    check = AnswerCheck(sources() if made is None else made, question, language, on_view, is_last_try=is_last_try)
    check.feed(answer)
    check.finish()
    return check.answer


def test_sources_are_numbered_in_the_order_in_which_they_are_read() -> None:
    answer = checked(f"{QUOTED_LAW} {QUOTED_CAP} {QUOTED_LAW}")
    assert answer.text == (
        "It is “governed by the laws of Ohio” [1]. Liability is “limited to USD 5,000” [2]. "
        "It is “governed by the laws of Ohio” [1]."
    )
    assert [(one.number, one.document_id) for one in answer.citations] == [(1, "d3"), (2, "d1"), (1, "d3")]


@pytest.mark.parametrize("heading", ["3.2. Shipment", "3.02. Shipment", "12.11. Law", "4.1. Term"])
def test_the_number_of_a_clause_is_no_date_where_it_is_written_like_one(heading: str) -> None:
    made = Sources()
    made.number(SourcePassage("d1", "a.txt", 0, LAW, 0, heading))
    assert not checked(f"a.txt ({heading}) says: “{LAW}” [1]", made).failed
    assert checked("The notice of a.txt ends on 4 January, as “the laws of Ohio” [1] say.", made).failed


def test_offsets_of_citations_fit_the_text_with_its_new_numbers() -> None:
    made = Sources()
    for number in range(12):
        made.number(
            SourcePassage(f"d{number}", "a.md", 0, f"Clause {number} speaks of “the subject {number + 100}” only.")
        )
    answer = checked("It says “the subject 111” [12], and “the subject 109” [10]. It adds “the subject 101” [2].", made)
    spans = [answer.text[one.answer_start : one.answer_end] for one in answer.citations]
    assert spans == ["“the subject 111” [1]", "“the subject 109” [2]", "“the subject 101” [3]"]


def test_a_citation_has_the_words_of_its_source_with_their_place_page_and_heading() -> None:
    made, before = Sources(), len(CAP) + 1
    place = Place(1_000 + before, 3, "5. Term")
    made.number(SourcePassage("d", "d.pdf", 1_000, f"{CAP} {NOTICE}", 2, "4. Cap", (place,)))
    first, second = checked("It is “limited to USD 5,000” [1], on “thirty (30) days' notice” [1].", made).citations
    assert (first.kind, first.filename, first.page, first.heading) == (CitationKind.DOCUMENT, "d.pdf", 2, "4. Cap")
    assert (second.page, second.heading, second.quote) == (3, "5. Term", "thirty (30) days’ notice")
    assert f"{CAP} {NOTICE}"[second.start - 1_000 : second.end - 1_000] == second.quote


def test_a_paraphrase_cites_the_sentence_that_it_rests_on() -> None:
    made = Sources()
    made.number(SourcePassage("d", "d.md", 0, f"{CAP} {NOTICE} {LAW}"))
    answer = checked("Hello. Either party may terminate on 30 days' notice [1].", made)
    [citation] = answer.citations
    assert citation.quote == NOTICE
    assert (
        answer.text[citation.answer_start : citation.answer_end] == "Either party may terminate on 30 days' notice [1]"
    )


def test_nothing_behind_a_sentence_that_fails_is_released_in_the_first_try() -> None:
    answer = checked(f"{QUOTED_CAP} {INVENTED} {QUOTED_NOTICE}")
    assert (answer.failed, answer.text, answer.omitted) == (True, QUOTED_CAP, 0)


def test_in_the_last_try_such_a_sentence_is_left_out_with_a_mark_and_counted() -> None:
    answer = checked(f"{QUOTED_CAP} {INVENTED} {QUOTED_NOTICE}", is_last_try=True)
    assert answer.text == f"{QUOTED_CAP} {LEFT_OUT} {QUOTED_NOTICE}"
    assert (answer.failed, answer.omitted, [one.number for one in answer.citations]) == (False, 1, [1, 2])


@pytest.mark.parametrize(
    ("language", "one", "several"),
    [
        ("en", "One sentence was left out", "2 sentences were left out"),
        ("de", "ein Satz ausgelassen", "2 Sätze ausgelassen"),
        ("fr", "Une phrase a été omise", "2 phrases ont été omises"),
        ("es", "se omitió una frase", "se omitieron 2 frases"),
        ("ja", "One sentence was left out", "2 sentences were left out"),
    ],
)
def test_marks_are_in_the_language_of_the_question(language: str, one: str, several: str) -> None:
    for count, words in ((1, one), (2, several)):
        answer = checked(" ".join([QUOTED_CAP, *[INVENTED] * count]), language=language, is_last_try=True)
        assert words in answer.text
        assert answer.omitted == count


def test_a_mark_stands_in_the_line_of_a_list_whose_sentence_it_replaces() -> None:
    answer = checked(f"- {QUOTED_CAP}\n- {INVENTED}\n- {QUOTED_NOTICE}\n", is_last_try=True)
    assert [line.strip() for line in answer.text.splitlines()] == [
        f"- {QUOTED_CAP}", f"- {LEFT_OUT}", f"- {QUOTED_NOTICE}",
    ]  # fmt: skip


def test_of_an_answer_that_is_left_out_as_a_whole_nothing_is_released() -> None:
    check = AnswerCheck(sources(), "What?", "en", is_last_try=True)
    assert check.feed(f"{INVENTED} {INVENTED} ") + check.finish() == ""
    assert (check.answer.omitted, check.answer.is_grounded) == (2, False)


def test_a_statement_without_its_number_is_asked_for_again_and_then_cited_without_one() -> None:
    bare = "This Agreement is governed by the laws of Ohio."
    assert checked(bare).failed
    answer = checked(bare, is_last_try=True)
    assert (answer.text, [(one.number, one.document_id) for one in answer.citations]) == (bare, [(0, "d3")])


def test_a_statement_without_a_number_is_released_at_once_where_its_source_is_cited_already() -> None:
    answer = checked(f"{QUOTED_LAW} The laws of Ohio govern this Agreement.")
    assert (answer.failed, [one.number for one in answer.citations]) == (False, [1, 0])


def test_every_kind_of_source_has_its_kind_of_citation() -> None:
    made = Sources(
        {"notes.txt": "The rent was paid late."}, {2: "https://a/2.png"}, {"House Style": "We write plainly."}
    )
    made.add_result(
        call_id="c-1", tool="lookup", server_name="registry", text="It is closed on Fridays.", data={}, is_own=False
    )
    answer = checked(
        "The rent was paid late [notes.txt]. We write plainly [House Style]. It is closed on Fridays. "
        "It shows a signature [Image 2].",
        made,
    )
    assert [(one.kind, one.name or one.filename, one.number) for one in answer.citations] == [
        (CitationKind.ASSET, "notes.txt", 0),
        (CitationKind.REFERENCE, "House Style", 0),
        (CitationKind.TOOL_CALL, "lookup", 0),
        (CitationKind.ASSET, "https://a/2.png", 0),
    ]
    assert (answer.citations[2].call_id, answer.citations[2].server_name) == ("c-1", "registry")
    assert not answer.failed


VIEW = DocumentOnView("d1", "contract-1.md")


def test_an_answer_from_other_documents_than_the_one_on_view_says_so_first() -> None:
    answer = checked(QUOTED_LAW, on_view=VIEW)
    assert answer.text.startswith("What follows does not come from contract-1.md, the document on view")
    [citation] = answer.citations
    assert answer.text[citation.answer_start : citation.answer_end] == "“governed by the laws of Ohio” [1]"


OTHER_VIEW = DocumentOnView("other", "other.md")


def searched_in_vain() -> Sources:
    """Passages of the contracts, after a search in which other.md had none."""
    made = sources()
    note = {"on_view": {"document_id": "other", "filename": "other.md", "searched": True, "found": False}}
    made.add_result(
        call_id="1", tool="isaacus_iql", server_name="", text="", data=note | {"total_matches": 3}, is_own=True
    )
    return made


@pytest.mark.parametrize(
    ("made", "lead"),
    [
        (searched_in_vain(), "I found nothing on this in other.md, the document on view;"),
        (sources(), "What follows does not come from other.md, the document on view,"),
    ],
)
def test_where_the_one_on_view_has_no_passage_the_sentence_is_released_with_the_first_statement(
    made: Sources, lead: str
) -> None:
    check = AnswerCheck(made, "What?", "en", OTHER_VIEW)
    released = check.feed(f"{QUOTED_LAW} And")
    assert released.startswith(lead)
    check.finish()
    [citation] = check.answer.citations
    assert check.answer.text[citation.answer_start : citation.answer_end] == "“governed by the laws of Ohio” [1]"


@pytest.mark.parametrize(
    "answer",
    [
        f"Here is what it says:\n\n- {QUOTED_LAW}",
        f"# Governing law\n\n{QUOTED_LAW}",
        f"- {QUOTED_LAW}\n- {QUOTED_NOTICE}",
        f"I have searched other.md. {QUOTED_LAW}",
        f"As other.md shows: {QUOTED_LAW}",
        "3 passages match.",
    ],
)
@pytest.mark.parametrize("question", ["List all of them", "What does each party owe the other?", "Which contracts?"])
def test_the_sentence_is_the_first_of_every_form_of_answer_and_to_every_question(answer: str, question: str) -> None:
    said = checked(answer, searched_in_vain(), question=question, on_view=OTHER_VIEW)
    assert said.text.startswith("I found nothing on this in other.md, the document on view;")
    assert said.text.count("the document on view") == 1
    assert all("“" in said.text[one.answer_start : one.answer_end] for one in said.citations)


@pytest.mark.parametrize(
    ("answer", "made", "view"),
    [
        (f"{QUOTED_LAW} {QUOTED_CAP}", sources(), VIEW),
        (QUOTED_CAP, sources(), VIEW),
        (QUOTED_LAW, sources(), None),
        (f"Not contract-1.md, another one says so: {QUOTED_LAW}", sources(), VIEW),
        (f"I found no cap in other.md. {QUOTED_LAW}", searched_in_vain(), OTHER_VIEW),
        ("I found no cap in other.md, and none in the others.", searched_in_vain(), OTHER_VIEW),
        ("Which document do you mean?", searched_in_vain(), OTHER_VIEW),
    ],
)
def test_nothing_is_said_of_the_document_on_view_where_it_is_cited_or_the_answer_says_it_itself(
    answer: str, made: Sources, view: DocumentOnView | None
) -> None:
    assert "the document on view" not in checked(answer, made, on_view=view).text


@given(
    st.lists(
        st.sampled_from([QUOTED_CAP, QUOTED_NOTICE, QUOTED_LAW, INVENTED, "Hello.", "Which one?", "\n", "- "])
        | st.text(max_size=30),
        max_size=12,
    ).map(" ".join),
    st.booleans(),
    st.integers(1, 40),
)
def test_what_is_released_is_the_answer_whatever_the_pieces_and_every_citation_lies_in_it(
    answer: str, is_last_try: bool, size: int
) -> None:
    check = AnswerCheck(sources(), "What?", "en", is_last_try=is_last_try)
    released = "".join(check.feed(answer[at : at + size]) for at in range(0, len(answer), size)) + check.finish()
    whole = checked(answer, question="What?", is_last_try=is_last_try)
    tells = whole.says_something or whole.refuses or not whole.omitted
    assert check.answer.text == whole.text
    assert released == (whole.text if tells else "")
    assert check.answer.citations == whole.citations
    for citation in whole.citations:
        assert 0 <= citation.answer_start < citation.answer_end <= len(whole.text)
    numbers = [one.number for one in whole.citations if one.number]
    assert list(dict.fromkeys(numbers)) == list(range(1, len(set(numbers)) + 1))
    assert "65,000" not in whole.text
