"""The rule for one sentence."""

import pytest

from proviso_service.agent.grounding import Outcome, Sources
from proviso_service.agent.grounding.check import SentenceCheck
from proviso_service.agent.grounding.known import TurnKnowledge
from proviso_service.tools.base import SourcePassage

TEXT = (
    "The Supplier Acme Inc. may terminate this Agreement with thirty (30) days’ notice. The Customer pays USD 5,000 a "
    "month, first on 1 January 2025. The liability of the Supplier is limited to 20 % of the fees. "
    "This Agreement is governed by the laws of Ohio."
)
OTHER = "The Licensee shall pay EUR 700 for each licence within two weeks."
LIST = {"documents": [{"filename": "Lease.md"}, {"filename": "Sale.md"}], "total_matches": 7}


def outcome(sentence: str, *, language: str = "en", sources: Sources | None = None) -> Outcome:
    if sources is None:
        sources = Sources()
        for number, text in enumerate((TEXT, OTHER)):
            sources.number(SourcePassage(f"d{number}", "a.md", 0, text))
    return SentenceCheck(TurnKnowledge(sources, "What is agreed?"), language).check(sentence).outcome


@pytest.mark.parametrize(
    "sentence",
    [
        "It says “thirty (30) days’ notice” [1].",
        "The Supplier may terminate with 30 days' notice [1].",
        "The Supplier may terminate with a notice of thirty days [1].",
        "The Customer pays five thousand dollars a month from January 1, 2025 [1].",
        "Acme Inc. is the Supplier [1].",
        "The law of Ohio governs [1].",
        "The Customer pays USD 5,000, the Licensee EUR 700 [1, 2].",
    ],
)
def test_a_statement_whose_figures_dates_parties_and_places_stand_in_its_source_is_grounded(sentence: str) -> None:
    assert outcome(sentence) is Outcome.GROUNDED


BRACKETED = "FundAdv_20181205_POS 8C_EX-99.(H)(3)_11447739_Marketing Agreement.txt"


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        (f"- {BRACKETED} (7. Fees): “The Customer pays USD 5,000 a month” [1]", Outcome.GROUNDED),
        (f"{BRACKETED} says that the Customer pays USD 5,000 a month [1].", Outcome.GROUNDED),
        (f"{BRACKETED} says that the Customer pays USD 8,000 a month [1].", Outcome.UNGROUNDED),
        (f"- {BRACKETED}", Outcome.SEARCHED),
        (f"I found no passage that answers this for certain in {BRACKETED}. The closest:", Outcome.REFUSAL),
        (f"- I found nothing on this in {BRACKETED}.", Outcome.MISSING),
        (f"I found no passage in {BRACKETED}, but the fee is USD 8,000.", Outcome.UNGROUNDED),
    ],
)
def test_the_name_of_a_file_is_one_name_whatever_stands_in_it(sentence: str, expected: Outcome) -> None:
    sources = Sources()
    sources.number(SourcePassage("d", BRACKETED, 0, TEXT, heading="7. Fees"))
    data = {"documents": [{"filename": BRACKETED}]}
    sources.add_result(
        call_id="c", tool="list_matter_documents", server_name="proviso", text="", data=data, is_own=True
    )
    assert outcome(sentence, sources=sources) is expected


def test_a_name_in_capitals_below_a_clause_number_is_no_period() -> None:
    sources = Sources()
    sources.number(SourcePassage("d", BRACKETED, 0, TEXT, heading="5.3 TAG Fees"))
    quoted = f"- {BRACKETED} (5.3 TAG Fees): “The Customer pays USD 5,000 a month” [1]"
    assert outcome(quoted, sources=sources) is Outcome.GROUNDED


@pytest.mark.parametrize(
    ("language", "sentence"),
    [
        ("de", "Der Kunde zahlt monatlich 5.000 US-Dollar [1]."),
        ("fr", "Le Client paie 5 000 USD par mois, à partir du 1er janvier 2025 [1]."),
        ("es", "El Cliente paga 5.000 USD al mes [1]."),
    ],
)
def test_a_statement_in_another_language_than_its_source_is_held_by_it(language: str, sentence: str) -> None:
    assert outcome(sentence, language=language) is Outcome.GROUNDED


@pytest.mark.parametrize(
    "sentence",
    [
        "It says “sixty (60) days’ notice” [1].",
        "The Supplier may terminate with 60 days' notice [1].",
        "The Supplier may terminate with thirty months' notice [1].",
        "The Customer pays EUR 5,000 a month [1].",
        "The Customer pays USD 5,000 from 1 January 2026 [1].",
        "Beta Ltd. is the Supplier [1].",
        "The Landlord may terminate with 30 days' notice [1].",
        "The law of Texas governs [1].",
        "The Licensee pays EUR 700 [1].",
        "The Licensee pays EUR 700 [9].",
        "The liability of the Supplier is unlimited [1].",
        "The Supplier may not terminate this Agreement with thirty days' notice [1].",
        "The law of Texas governs.",
        "The Customer is insured against fire.",
        "A court would most likely say so.",
        "“Nobody is ever liable for anything”",
        "Did you know that the Customer must pay USD 9,000?",
    ],
)
def test_a_statement_that_its_source_does_not_hold_is_not(sentence: str) -> None:
    assert outcome(sentence) is Outcome.UNGROUNDED


@pytest.mark.parametrize(
    "sentence",
    [
        "The Customer pays USD 5,000 a month.",
        "This Agreement is governed by the laws of Ohio.",
        "EUR 700 is due for each licence within two weeks.",
    ],
)
def test_a_statement_that_a_numbered_source_holds_is_uncited(sentence: str) -> None:
    assert outcome(sentence) is Outcome.UNCITED


def test_a_quotation_without_a_number_is_held_by_whatever_source_has_it() -> None:
    assert outcome("It says “the laws of Ohio, as amended”.") is Outcome.UNGROUNDED
    assert outcome("It says “governed by the laws of Ohio”.") in {Outcome.UNCITED, Outcome.GROUNDED}


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("Which of the two do you mean?", Outcome.TALK),
        ("## Payment", Outcome.TALK),
        ("Good day, how can I help?", Outcome.TALK),
        ("I don't have enough information in the current documentation to answer that.", Outcome.REFUSAL),
    ],
)
def test_what_states_nothing_needs_no_source(sentence: str, expected: Outcome) -> None:
    assert outcome(sentence) is outcome(sentence, sources=Sources()) is expected


@pytest.mark.parametrize(
    "sentence", ["Ohio, most likely.", "The cap is 5,000.", "Yes.", "The agreement is void.", "You may deduct 5,000."]
)
def test_without_any_source_no_statement_is_grounded(sentence: str) -> None:
    assert outcome(sentence, sources=Sources()) is Outcome.UNGROUNDED


@pytest.mark.parametrize(
    ("sentence", "is_told"),
    [
        ("The matter has 2 documents: Lease.md and Sale.md.", True),
        ("There are two documents.", True),
        ("I found 7 passages in 2 documents.", True),
        ("The matter has 3 documents.", False),
        ("I found 8 passages.", False),
        ("Lease.md is void.", False),
        ("The rent of Lease.md is EUR 7.", False),
    ],
)
def test_of_the_services_own_tools_only_names_and_counts_are_told(sentence: str, is_told: bool) -> None:
    sources = Sources()
    sources.add_result(call_id="1", tool="list", server_name="proviso", text="{}", data=LIST, is_own=True)
    assert (outcome(sentence, sources=sources) is Outcome.SEARCHED) is is_told


def test_the_number_of_documents_with_a_word_in_their_names_is_told() -> None:
    names = ("Lease A.md", "Lease B.md", "Sale.md")
    documents = [{"filename": name, "holds": ["lease"]} for name in names]
    sources = Sources()
    sources.add_result(
        call_id="1",
        tool="list",
        server_name="proviso",
        text="{}",
        data={"documents": documents, "total_count": 3},
        is_own=True,
        asked="leases",
    )
    assert outcome("2 of 3 documents have names that match 'leases':", sources=sources) is Outcome.SEARCHED
    assert outcome("4 of 3 documents have names that match 'leases':", sources=sources) is Outcome.UNGROUNDED


def test_sums_and_differences_of_what_the_answer_shows_are_allowed() -> None:
    sources = Sources()
    sources.number(SourcePassage("d", "a.md", 0, "The rent is EUR 700 a month. The deposit is EUR 1,400."))
    check = SentenceCheck(TurnKnowledge(sources, "What is due?"))
    said = ["The rent is EUR 700 [1].", "The deposit is EUR 1,400 [1].", "The rent and the deposit are EUR 2,100 [1]."]
    assert [check.check(sentence).outcome for sentence in said] == [Outcome.GROUNDED] * 3
    assert check.check("The rent and the deposit are EUR 2,200 [1].").outcome is Outcome.UNGROUNDED


NOTE = "The registry is not reachable (code 503)."


def failing() -> Sources:
    sources = Sources(images={1: "https://a/1.png"})
    sources.number(SourcePassage("d0", "a.md", 0, TEXT))
    sources.add_failure(NOTE)
    return sources


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        (NOTE, Outcome.SEARCHED),
        (f"The tool failed: {NOTE}", Outcome.SEARCHED),
        (
            "The lookup failed because the registry is not\nreachable (code 503), so I could not answer.",
            Outcome.SEARCHED,
        ),
        ("The registry is not reachable (code 503), but the deposit is EUR 65,000.", Outcome.UNGROUNDED),
        ("The registry is not reachable (code 503); the Supplier may assign the agreement.", Outcome.UNGROUNDED),
        ("The registry is not reachable (code 503), and the Customer pays USD 5,000 a month [1].", Outcome.GROUNDED),
        ("The registry is not reachable (code 503), and the Customer pays USD 6,000 a month [1].", Outcome.UNGROUNDED),
    ],
)
def test_what_stands_beside_the_words_of_a_failure_is_checked(sentence: str, expected: Outcome) -> None:
    assert outcome(sentence, sources=failing()) is expected


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("It shows a fee of USD 9,000 [Image 1].", Outcome.GROUNDED),
        ("It shows a signature [Image 1], and the Customer pays USD 5,000 a month [1].", Outcome.GROUNDED),
        ("The Customer pays USD 9,000 a month [1] [Image 1].", Outcome.UNGROUNDED),
        ("The Customer pays USD 9,000 a month [Image 1] [1].", Outcome.UNGROUNDED),
        ("It shows a signature [Image 1], and the Customer pays USD 9,000 a month [1].", Outcome.UNGROUNDED),
        ("The law of Ohio governs [1], as it shows [Image 1], and the Customer pays USD 9,000.", Outcome.UNGROUNDED),
        ("It says “sixty (60) days’ notice” [1], and shows a signature [Image 1].", Outcome.UNGROUNDED),
    ],
)
def test_an_image_beside_another_source_vouches_for_its_own_part_only(sentence: str, expected: Outcome) -> None:
    assert outcome(sentence, sources=failing()) is expected


@pytest.mark.parametrize(
    ("told", "sentence", "expected"),
    [
        ("noon", "It is noon.", Outcome.GROUNDED),
        ("noon", "It is not noon.", Outcome.UNGROUNDED),
        ("noon", "It is midnight.", Outcome.UNGROUNDED),
        ("noon", "It is noon in Ohio.", Outcome.UNGROUNDED),
        ("42", "It is 42.", Outcome.GROUNDED),
        ("42", "It is 43.", Outcome.UNGROUNDED),
        ("approved", "The request is not approved.", Outcome.UNGROUNDED),
    ],
)
def test_what_a_tool_has_answered_in_a_word_can_be_repeated(told: str, sentence: str, expected: Outcome) -> None:
    sources = Sources()
    sources.add_result(call_id="c-1", tool="lookup", server_name="registry", text=told, data={}, is_own=False)
    assert outcome(sentence, sources=sources) is expected


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("I found nothing certain on it in 1 of 7 documents: a.md.", Outcome.REFUSAL),
        ("I found nothing certain on it in 2 of 7 documents: a.md, b.md.", Outcome.REFUSAL),
        ("I found nothing certain on it in 3 of 7 documents: a.md, b.md.", Outcome.UNGROUNDED),
        ("I found nothing certain on it in 0 of 7 documents.", Outcome.UNGROUNDED),
    ],
)
def test_the_number_of_the_documents_that_a_sentence_names_is_right(sentence: str, expected: Outcome) -> None:
    sources = Sources()
    for number in range(5):
        sources.number(SourcePassage(f"d{number}", f"{'abcde'[number]}.md", 0, TEXT))
    sources.searched = True
    sources.counts |= {7}
    assert outcome(sentence, sources=sources) is expected
