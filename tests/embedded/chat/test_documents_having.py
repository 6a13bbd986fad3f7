"""Which documents have something: those that do, those of which it is not certain, and which has most of it; and which
documents a question names."""

from dataclasses import replace

import pytest

from proviso_service.embedded.chat.conversation import Evidence
from proviso_service.embedded.chat.documents_having import by_document
from proviso_service.embedded.chat.each_document import asked_of_each
from proviso_service.embedded.chat.extracted import (
    closest,
    of_parts,
    offered,
    places_of_all,
    side_by_side,
    stated_answer,
    to_read_on,
    with_text,
)
from proviso_service.embedded.chat.mentions import find_mentions, proper_words
from proviso_service.embedded.chat.phrases import Intent
from proviso_service.embedded.chat.quoting import places_of, sentence_of
from proviso_service.embedded.chat.request import TargetDocuments, UserRequest, find_target_documents
from proviso_service.tool_results import DocumentList, DocumentPart, ExtractedAnswer, ExtractedAnswers, ListedDocument

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
    likely = {one.filename for one in answers if one.confidence >= 0.25}
    without = tuple(name for name in NAMES if name not in likely)
    given = ExtractedAnswers(
        alternatives=answers,
        documents_asked=len(NAMES),
        documents_without=without,
        documents_without_count=len(without),
    )
    return by_document(request, asked, given)


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


@pytest.mark.parametrize(
    ("question", "confidence", "is_stated"),
    [
        ("Which of our contracts ask for insurance cover?", 0.7, True),
        ("Which of our contracts ask for insurance cover?", 0.55, False),
        ("Which of our contracts has the longest notice?", 0.7, True),
        ("Which of our contracts has the longest notice?", 0.55, False),
    ],
)
def test_where_no_document_is_likely_enough_none_is_said_to_have_it(
    question: str, confidence: float, *, is_stated: bool
) -> None:
    answer = said(question, found("a.txt", "The Tenant insures with notice of thirty days.", confidence, 1))
    assert answer.startswith("I found no document that says so for certain.") is not is_stated
    assert "a.txt" in answer


def test_what_may_have_something_is_not_said_to_have_it_where_those_without_are_asked_for() -> None:
    first, others, unsure = said("Which of our contracts do not ask for insurance cover?", *CERTAIN).split("\n\n")
    assert first == "I found nothing certain on it in 2 of 3 documents: b.txt, c.txt."
    assert "a.txt" in others
    assert "b.txt" in unsure


@pytest.mark.parametrize(("confidence", "is_quoted"), [(0.3, True), (0.1, False)])
def test_a_second_place_is_quoted_where_it_may_be_one(confidence: float, *, is_quoted: bool) -> None:
    second = found("a.txt", "The policy shall name the Landlord.", confidence, 2)
    answer = said("Which of our contracts ask for insurance cover?", CERTAIN[0], second)
    assert ("name the Landlord" in answer) is is_quoted


@pytest.mark.parametrize(("surest", "lacking"), [(0.6, "c.txt"), (0.95, "b.txt, c.txt")])
def test_a_document_nearly_as_sure_as_the_surest_is_not_said_to_lack_something(surest: float, lacking: str) -> None:
    answer = said(
        "Which of our contracts do not ask for insurance cover?",
        found("a.txt", "The Tenant shall insure the premises.", surest, 1),
        found("b.txt", "The Landlord may ask for insurance.", 0.4, 2),
    )
    assert answer.split("\n\n")[0].endswith(f"documents: {lacking}.")


def test_where_no_document_has_something_all_are_named() -> None:
    answer = said("Which of our contracts do not ask for insurance cover?")
    assert answer == "I found nothing certain on it in 3 of 3 documents: a.txt, b.txt, c.txt."


def test_where_each_document_may_have_something_it_is_not_said_of_each() -> None:
    answers = [found(f"{name}.txt", f"The {name} may ask for insurance.", 0.35, 1) for name in "abc"]
    answer = said("Which of our contracts do not ask for insurance cover?", *answers)
    assert answer.startswith("I can't tell for each document.")
    assert all(f"- {name}.txt" in answer for name in "abc")


NOTICES = (
    found("a.txt", "Notice is given ninety (90) days before.", 0.9, 1, "ninety (90) days"),
    found("b.txt", "Notice is given sixty (60) days before.", 0.8, 2, "sixty (60) days"),
    found("c.txt", "Notice is given in due time.", 0.5, 3, "in due time"),
)


@pytest.mark.parametrize(
    ("notices", "head"),
    [
        (NOTICES, "1 of 3 documents:\n- a.txt"),
        (NOTICES[1:], "I found no document that states such a figure for certain."),
    ],
)
def test_documents_with_a_figure_within_a_bound_come_before_those_with_another_or_none(
    notices: tuple[ExtractedAnswer, ...], head: str
) -> None:
    question = "Which of our contracts have a notice period of more than 60 days?"
    first, second, third = said(question, *notices).split("\n\n")
    assert first.startswith(head)
    assert second.startswith("Others that state one:\n- b.txt")
    assert third.startswith("Less sure:\n- c.txt")


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


@pytest.mark.parametrize(("viewed", "missing"), [(None, ("lease",)), (LISTED[0], ())])
def test_a_kind_without_a_name_is_not_missed_beside_the_document_on_view(
    viewed: ListedDocument | None, missing: tuple[str, ...]
) -> None:
    question = "How much is the rent under the lease?"
    request = UserRequest(Intent.FACT, question, mentions=find_mentions(question), viewed=viewed)
    listing = DocumentList(total_count=len(LISTED), documents=LISTED)
    assert find_target_documents(request, Evidence(listing=listing)).missing == missing


def test_of_a_kind_in_the_plural_those_are_meant_that_hold_a_name() -> None:
    question = "What do the franchise agreements with Pizza Fusion and Wild Wings say on transfers?"
    franchises = tuple(
        ListedDocument(document_id=name, filename=f"{name}-FRANCHISE AGREEMENT.txt", holds=held)
        for name, held in (("PIZZA", ("pizza",)), ("WINGS", ("wings",)), ("BURGER", ()))
    )
    request = UserRequest(
        Intent.FACT, question, mentions=find_mentions("the franchise agreements"), names=proper_words(question)
    )
    listing = DocumentList(total_count=3, documents=franchises)
    assert find_target_documents(request, Evidence(listing=listing)).ids == ["PIZZA", "WINGS"]
    anyones = replace(request, names=())
    assert find_target_documents(anyones, Evidence(listing=listing)).ids == ["PIZZA", "WINGS", "BURGER"]


def test_which_of_two_named_parties_is_no_question_to_each_document() -> None:
    question = "Which contract runs longer, Acme's or Globex's?"
    assert asked_of_each(question, "en") is not None
    assert UserRequest(Intent.COMPARE, question).asked_of_each is None


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


def test_side_by_side_a_document_has_its_likely_answers_or_else_the_closest() -> None:
    likely = [found("a.txt", f"The Tenant insures risk {ref}.", 0.6 - ref / 20, ref) for ref in range(1, 6)]
    unlikely = [found("b.txt", f"The Landlord knows risk {ref}.", 0.2, ref) for ref in range(6, 9)]
    request = UserRequest(Intent.COMPARE, "How do they differ on insurance?")
    text = side_by_side(request, [*likely, *unlikely], TargetDocuments(documents=LISTED))
    _, *lines, last = text.splitlines()
    assert [line[:8] for line in lines] == ["- a.txt:"] * 3 + ["- b.txt:"] * 2
    assert last == "- I found nothing on this in c.txt."


def test_where_no_document_has_a_likely_answer_none_is_said_to_have_one() -> None:
    unlikely = [found(name, "The Landlord knows the risk.", 0.2, 1) for name in NAMES]
    request = UserRequest(Intent.COMPARE, "How do they differ on insurance?")
    text = side_by_side(request, unlikely, TargetDocuments(documents=LISTED))
    assert text.startswith("I found no passage that answers this for certain. The closest:\n- a.txt: ")


RECALL = (
    "Recalls. The Buyer shall tell the Maker of a recall. The Maker pays where it was careless. In all other cases the "
    "Buyer pays. 9. NOTICES"
)


def test_where_no_place_is_certain_whole_sentences_beside_it_are_quoted() -> None:
    near = found("a.txt", RECALL, 0.3, 1, "The Maker pays where it was careless.")
    text = closest([near], "a.txt", "Who pays for a recall?", "en")
    assert text.endswith(
        "“The Buyer shall tell the Maker of a recall. The Maker pays where it was careless. In all other cases the "
        "Buyer pays.” [1]"
    )


def test_a_sentence_beside_one_place_is_not_quoted_as_a_place_of_its_own() -> None:
    places = [
        found("a.txt", RECALL, 0.3, 1, "The Maker pays where it was careless."),
        found("a.txt", RECALL, 0.2, 2, "In all other cases the Buyer pays."),
        found("a.txt", "The Seller pays for a recall. " * 30, 0.2, 3, "The Seller pays for a recall."),
    ]
    _, first, second = closest(places, "a.txt", "Who pays for a recall?", "en").splitlines()
    assert "[1]" in first
    assert "[3]" in second
    assert second.count("The Seller pays") <= 20


def sentences(*confidences: float) -> list[ExtractedAnswer]:
    return [found("a.txt", f"The {n}. party pays for a recall.", one, n) for n, one in enumerate(confidences, 1)]


def test_the_likeliest_of_answers_that_are_not_sure_is_given_with_the_others() -> None:
    text = closest(sentences(0.75, 0.4), "a.txt", "Who pays for a recall?", "en")
    assert text == (
        "I found no passage that answers this for certain; the likeliest is in a.txt: "
        "“The 1. party pays for a recall.” [1]\n\n"
        "Other places that may answer:\n- a.txt: “The 2. party pays for a recall.” [2]"
    )
    unsure = closest(sentences(0.65, 0.4), "a.txt", "Who pays for a recall?", "en")
    assert unsure.startswith("I found no passage that answers this for certain in a.txt. The closest:\n- a.txt: ")


def test_what_a_search_has_found_comes_after_the_likely_answers_and_only_with_them() -> None:
    by_search = [found("a.txt", f"The seller repairs part {n}.", 0, n) for n in range(5, 10)]
    _, *lines = closest(sentences(0.3), "a.txt", "Who pays for a recall?", "en", by_search).splitlines()
    assert [line[-3:] for line in lines] == ["[1]", "[5]", "[6]", "[7]"]
    assert closest([], "a.txt", "Who pays for a recall?", "en", by_search) == ""
    head, *lines = offered(by_search, "a.txt", "en").splitlines()
    assert head == "I found no passage that answers this for certain in a.txt. The closest:"
    assert len(lines) == 3


KIND = "the goods are of kind {0} in the schedule, or come later than the day that it sets for goods of kind {0} there;"
CASES = "The Buyer may refuse delivery in these cases: "
CASES += " ".join(f"({a}) {KIND.format(a)}" for a in "abcdefgh").rstrip(";") + "."


def test_all_that_is_asked_for_is_given_item_by_item_where_it_is_too_long_for_one_quote() -> None:
    opening = found("a.txt", CASES, 0.8, 1, "The Buyer may refuse delivery in these cases:")
    inner = found("a.txt", CASES, 0.5, 1, KIND.format("c"))
    head, first, *items = places_of_all([opening, inner], "a.txt", "en").splitlines()
    assert head.startswith("These are the places that I found")
    assert first == "- a.txt: “The Buyer may refuse delivery in these cases:” [1]"
    assert [line[:8] for line in items] == [f"  - “({letter})" for letter in "abcdefgh"]
    unsure = places_of_all([opening.model_copy(update={"confidence": 0.4})], "a.txt", "en")
    assert unsure.startswith("I found no passage that answers this for certain in a.txt. The closest:\n")


def test_sentences_on_both_sides_of_a_heading_are_not_quoted_as_one() -> None:
    text = "The rent is due each month.\n\n## 8. Term and Renewal of the Lease\n\nThis lease ends on 1 May 2030."
    [place] = places_of([found("a.txt", text, 0.5, 1, "The rent is due each month.")])
    assert place.quoted == "The rent is due each month."


@pytest.mark.parametrize(
    ("question", "is_offered"), [("What may we use the name for?", False), ("Who owns the name?", True)]
)
def test_recitals_and_signatures_are_offered_only_where_they_may_be_asked_for(
    question: str, *, is_offered: bool
) -> None:
    recital = found("a.txt", "WHEREAS, the Company wishes to use the name in advertisements.", 0.5, 1)
    signature = found("a.txt", "For the Company, which owns the name: /s/ Ada Smith, President of it.", 0.4, 2)
    clause = found("a.txt", "The Company may use the name on clothes.", 0.3, 3)
    answer = closest([recital, signature, clause], "", question, "en")
    assert "on clothes" in answer
    assert ("WHEREAS" in answer, "/s/" in answer) == (is_offered, is_offered)
    assert "WHEREAS" in closest([recital], "", question, "en")


def test_the_rest_of_an_enumeration_is_read_from_where_it_opens() -> None:
    cut = CASES[:300]
    opening = found("a.txt", f"Delivery. {cut}", 0.8, 1, "The Buyer may refuse delivery in these cases:")
    [(_, start)] = to_read_on([opening.model_copy(update={"start": 5_000})], asks_all=True)
    assert start == 5_010
    assert to_read_on([found("a.txt", f"{CASES} It pays.", 0.8, 1, CASES[:45])], asks_all=True) == []
    assert to_read_on(sentences(0.8), asks_all=True) == []
    part = DocumentPart(ref=7, document_id="a.txt", filename="a.txt", text=f"{CASES} It pays.")
    [read] = with_text([opening], [part], asks_all=True)
    assert (read.ref, read.text) == (7, part.text)
    assert with_text(sentences(0.8), [part], asks_all=True) == sentences(0.8)


@pytest.mark.parametrize(
    ("confidences", "shown"), [((0.95, 0.65), 1), ((0.95, 0.75), 2), ((0.85, 0.5), 2), ((0.85, 0.3), 1)]
)
def test_beside_a_stated_answer_stand_others_that_may_be_meant(confidences: tuple[float, ...], shown: int) -> None:
    first, *others = sentences(*confidences)
    text = stated_answer(first, "en", [first, *others])
    assert text.startswith("a.txt says: ")
    assert text.count("party pays") == shown


def test_an_item_with_its_number_is_quoted_without_it_and_whole() -> None:
    text = "It is agreed: 1.The Maker pays the Buyer;  2.The Maker delivers within 14 days of the order."
    item = found("a.txt", text, 0.9, 1, "2.The Maker delivers within 14 days of the")
    assert sentence_of(item) == "The Maker delivers within 14 days of the order."


def test_ends_are_listed_and_not_compared() -> None:
    text = said(
        "Which of our contracts expires first?",
        found("a.txt", "The term is three years.", 0.9, 1, "three years"),
        found("b.txt", "This Agreement ends on May 1, 2026.", 0.9, 2, "May 1, 2026"),
    )
    head, *lines = text.splitlines()
    assert head == "2 of 3 documents:"
    assert len(lines) == 2
