"""What is answered, on clauses written for this test."""

import pytest

from proviso_service.embedded import EmbeddedExtractor
from proviso_service.models import ModelPassage

OPENING = (
    'This Supply Agreement (the "Agreement") is made as of May 8, 2014 by and between Birch & Sons Ltd., a Nevada '
    'corporation ("Supplier"), and Oak Furniture LLC ("Buyer").'
)
TERM = (
    "12.1 Term. This Agreement begins on the Effective Date and continues for three (3) years (the Initial Term). "
    "Thereafter it renews automatically for successive one (1) year terms unless either party gives at least sixty "
    "(60) days' written notice before the end of the term."
)
TERMINATION = (
    "12.2 Termination. Either party may terminate this Agreement at any time upon thirty (30) days prior written "
    "notice to the other."
)
LAW = (
    "14. Governing Law. This Agreement shall be governed by and construed in accordance with the laws of the State of "
    "Oregon, without regard to conflicts of law."
)
RENT = (
    "5. Rent. Tenant shall pay a monthly rent of $2,500 on the first day of each month. Late payments bear interest at "
    "five percent (5%) per year."
)
LIABILITY = (
    "9. Liability. In no event shall Supplier's aggregate liability exceed the fees paid in the twelve months before "
    "the claim. Nothing in this Agreement limits liability for fraud."
)
EXCLUSIVITY = (
    "7. Exclusivity. During the term Buyer shall purchase all of its requirements of chairs exclusively from Supplier. "
    "Buyer shall store the chairs in a dry place."
)
CONTRACT = [ModelPassage(text) for text in (OPENING, TERM, TERMINATION, LAW, RENT, LIABILITY, EXCLUSIVITY)]


async def ranked(extractor: EmbeddedExtractor, question: str) -> list[tuple[str, float]]:
    """Answers of all passages, best first."""
    found = await extractor.extract(question, CONTRACT)
    spans = [(passage, span) for passage, spans in zip(CONTRACT, found, strict=True) for span in spans]
    spans.sort(key=lambda one: -one[1].score)
    return [(passage.text[span.start : span.end], span.score) for passage, span in spans]


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Which law governs this agreement?", "the laws of the State of Oregon"),
        ("What is the governing law?", "the laws of the State of Oregon"),
        ("What is the notice period for termination?", "thirty (30) days"),
        ("How long is the initial term?", "three (3) years"),
        ("What is the renewal term?", "one (1) year"),
        ("How much notice is needed to stop the renewal?", "sixty (60) days"),
        ("How much is the rent?", "$2,500"),
        ("What is the interest rate on late payments?", "five percent (5%)"),
        ("Can you tell me when the agreement was signed?", "May 8, 2014"),
        ("What is the title of the agreement?", "Supply Agreement"),
    ],
)
async def test_who_when_and_how_much_are_answered_by_the_value_alone(
    extractor: EmbeddedExtractor, question: str, answer: str
) -> None:
    assert (await ranked(extractor, question))[0][0] == answer


@pytest.mark.parametrize(
    ("question", "beginning"),
    [
        ("Is there an exclusivity commitment?", "During the term Buyer shall purchase all of its requirements"),
        ("Can either party terminate without cause?", "Either party may terminate this Agreement at any time upon"),
    ],
)
async def test_other_questions_are_answered_by_a_sentence(
    extractor: EmbeddedExtractor, question: str, beginning: str
) -> None:
    answer, _ = (await ranked(extractor, question))[0]
    assert answer.startswith(beginning)
    assert answer.endswith(".")
    assert answer.count(". ") == 0


async def test_every_party_is_an_answer(extractor: EmbeddedExtractor) -> None:
    found = await ranked(extractor, "Who are the parties to the agreement?")
    assert {answer for answer, _ in found[:2]} == {"Birch & Sons Ltd", "Oak Furniture LLC"}


@pytest.mark.parametrize(
    "question",
    ["What is the recipe for apple pie?", "Is there a non-compete?", "Does the supplier have to insure helicopters?"],
)
async def test_what_the_passages_do_not_say_has_no_sure_answer(extractor: EmbeddedExtractor, question: str) -> None:
    assert all(score < 0.3 for _, score in await ranked(extractor, question))


async def test_the_answer_is_much_surer_than_what_is_merely_near(extractor: EmbeddedExtractor) -> None:
    (first, first_score), (second, second_score), *_ = await ranked(extractor, "What is the notice period?")
    assert {first, second} == {"thirty (30) days", "sixty (60) days"}
    assert first_score > second_score
    (law, law_score), *others = await ranked(extractor, "Which law governs this agreement?")
    assert law == "the laws of the State of Oregon"
    assert law_score > 0.7
    assert all(score < 0.3 for _, score in others)


async def test_headings_state_nothing(extractor: EmbeddedExtractor) -> None:
    found = await extractor.extract(
        "Is there a governing law clause?", [ModelPassage("GOVERNING LAW\n\nGoverning Law.")]
    )
    assert list(map(list, found)) == [[]]


async def test_the_heading_above_counts(extractor: EmbeddedExtractor) -> None:
    text = "Neither party may do so during the term and for one year after it."
    heading = ("8. Non-Solicitation of Customers",)
    question = "Is there a non-solicitation of customers?"
    bare, under = await extractor.extract(question, [ModelPassage(text), ModelPassage(text, heading)])
    assert max((span.score for span in bare), default=0) < max(span.score for span in under)


async def test_parties_in_paragraphs_of_their_own_are_found(extractor: EmbeddedExtractor) -> None:
    opening = ModelPassage(
        "# Lease\n\nThis Lease is made between:\n\n"
        '**Harbour Mills LLP**, whose office is at 3 Merchants Row (the "**Landlord**"); and\n\n'
        '**Alder Robotics Limited**, whose office is at Unit 7 (the "**Tenant**").\n\n'
        "## 1. Definitions\n\nIn this Lease the words below have these meanings."
    )
    [found] = await extractor.extract("Who are the parties?", [opening])
    answers = [opening.text[span.start : span.end] for span in found[:2]]
    assert answers == ["Harbour Mills LLP", "Alder Robotics Limited"]


async def test_a_question_for_a_sum_is_not_answered_by_a_share(extractor: EmbeddedExtractor) -> None:
    pay = ModelPassage(
        "6.1 The Company shall pay the Employee a salary of $92,000 a year. 6.2 The Employee may earn a bonus of up to "
        "15 per cent of salary. 6.3 The Company contributes eight per cent of salary to a pension."
    )
    [found] = await extractor.extract("What is the salary?", [pay])
    assert pay.text[found[0].start : found[0].end] == "$92,000"
