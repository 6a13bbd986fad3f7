"""Which documents have something: those that do, those of which it is not certain, and which has most of it; and which
documents a question names."""

import pytest

from proviso_service.embedded.chat.conversation import Evidence
from proviso_service.embedded.chat.documents_having import by_document
from proviso_service.embedded.chat.extracted import of_parts
from proviso_service.embedded.chat.mentions import find_mentions
from proviso_service.embedded.chat.phrases import Intent
from proviso_service.embedded.chat.request import UserRequest, find_target_documents
from proviso_service.tool_results import DocumentList, ExtractedAnswer, ExtractedAnswers, ListedDocument

NAMES = ("a.txt", "b.txt", "c.txt")
LISTED = tuple(ListedDocument(document_id=name, filename=name, processing_status="ready") for name in NAMES)


def found(name: str, text: str, confidence: float, ref: int, answer: str = "") -> ExtractedAnswer:
    return ExtractedAnswer(
        ref=ref, document_id=name, filename=name, text=text, answer=answer or text, confidence=confidence
    )


def said(question: str, *answers: ExtractedAnswer) -> str:
    request = UserRequest(Intent.CLAUSE, question)
    asked = request.asked_of_each
    assert asked is not None
    given = ExtractedAnswers(alternatives=answers, documents_asked=len(NAMES))
    return by_document(request, asked, given, DocumentList(total_count=len(NAMES), documents=LISTED))


CERTAIN = (
    found("a.txt", "The Tenant shall insure the premises.", 0.8, 1),
    found("b.txt", "The Landlord may ask for insurance.", 0.3, 2),
    found("a.txt", "The policy shall name the Landlord.", 0.5, 3),
    found("c.txt", "The rent is due monthly.", 0.05, 4),
)


def test_what_is_less_sure_is_listed_apart_and_a_second_place_is_quoted() -> None:
    certain, unsure = said("Which of our contracts ask for insurance cover?", *CERTAIN).split("\n\nLess sure:\n")
    head, line = certain.splitlines()
    assert head == "1 of 3 documents:"
    assert "insure the premises" in line
    assert "name the Landlord" in line
    assert "b.txt" in unsure
    assert "c.txt" not in unsure


def test_what_may_have_something_is_not_said_to_have_it_where_those_without_are_asked_for() -> None:
    first, others, unsure = said("Which of our contracts do not ask for insurance cover?", *CERTAIN).split("\n\n")
    assert first == "I found nothing certain on it in 2 of 3 documents: b.txt, c.txt."
    assert "a.txt" in others
    assert "b.txt" in unsure


def test_the_longest_is_chosen_among_those_that_are_about_as_sure_as_the_surest() -> None:
    answer = said(
        "Which of our contracts has the longest notice?",
        found("a.txt", "Notice is given thirty (30) days before.", 0.9, 1, "thirty (30) days"),
        found("b.txt", "Notice is given sixty (60) days before.", 0.8, 2, "sixty (60) days"),
        found("c.txt", "The term is nine (9) years.", 0.5, 3, "nine (9) years"),
    )
    assert answer.startswith("b.txt")
    assert answer.index("a.txt") > answer.index("Others that state one:")


def test_a_document_is_known_by_words_at_its_beginning_beside_one_that_is_known_by_its_name() -> None:
    question = "How do the hosting agreement and the gas pipeline contract differ on notices?"
    hosting = ListedDocument(document_id="h", filename="Hosting Agreement.txt", processing_status="ready")
    pipeline = ListedDocument(document_id="p", filename="b.txt", processing_status="ready", holds=("gas", "pipeli"))
    request = UserRequest(Intent.COMPARE, question, mentions=find_mentions(question))
    listing = DocumentList(total_count=3, documents=(hosting, pipeline, LISTED[2]))
    assert find_target_documents(request, Evidence(listing=listing)).ids == ["h", "p"]


LAWS = (
    found("a.txt", "This Agreement is governed by the laws of the State of New York.", 0.9, 1),
    found("b.txt", "The laws of New Jersey apply.", 0.9, 2),
    found("c.txt", "The laws of France apply.", 0.9, 3),
)


@pytest.mark.parametrize(
    ("question", "named"),
    [
        ("How many of our contracts are under New York law?", {"a.txt"}),
        ("Which of our contracts are governed by French law?", {"c.txt"}),
        ("Which of our contracts are under the law of a US state?", {"a.txt", "b.txt"}),
        ("Which of our contracts are not governed by New York law?", {"b.txt", "c.txt"}),
    ],
)
def test_documents_under_a_law_are_those_whose_clause_names_it(question: str, named: set[str]) -> None:
    answer = said(question, *LAWS)
    assert {name for name in NAMES if name in answer} == named


def test_none_is_under_a_law_that_no_document_names() -> None:
    answer = said("Which of our contracts are governed by Ohio law?", *LAWS)
    assert answer.startswith("I found no document that says so for certain.")
    assert "New Jersey" in answer


def test_of_two_questions_at_once_neither_goes_without_an_answer() -> None:
    request = UserRequest(Intent.FACT, "Who insures the premises, and which law governs the agreement?")
    insures = ExtractedAnswers(alternatives=CERTAIN[:1])
    law = ExtractedAnswers(alternatives=LAWS[:1])
    nothing = ExtractedAnswers()
    assert "New York" in of_parts(request, [insures, law], "a.txt")
    answer = of_parts(request, [nothing, law], "a.txt")
    assert "New York" in answer
    assert answer.endswith("I found nothing on the other question.")
    assert of_parts(request, [nothing, nothing], "a.txt") == ""
