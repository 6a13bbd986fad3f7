"""What questions ask for."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proviso_service.embedded.extractor.questions import AnswerKind, understand


@pytest.mark.parametrize(
    ("question", "answer_kind"),
    [
        ("Which law governs this agreement?", AnswerKind.LAW),
        ("Who are the parties?", AnswerKind.PARTIES),
        ("What is the notice period?", AnswerKind.DURATION),
        ("How many days' notice must be given?", AnswerKind.DURATION),
        ("How much notice is needed?", AnswerKind.DURATION),
        ("Could you please tell me how long the term is?", AnswerKind.DURATION),
        ("When does the agreement end?", AnswerKind.PERIOD),
        ("What is the expiration date?", AnswerKind.PERIOD),
        ("When was it signed?", AnswerKind.DATE),
        ("Tell me when the lease was signed.", AnswerKind.DATE),
        ("What is the effective date?", AnswerKind.DATE),
        ("How much is the rent?", AnswerKind.SUM),
        ("What is the employee's base salary?", AnswerKind.SUM),
        ("What percentage of the salary is the bonus?", AnswerKind.PERCENTAGE),
        ("How much is the royalty?", AnswerKind.MONEY),
        ("What is the monthly fee?", AnswerKind.MONEY),
        ("What is the interest rate?", AnswerKind.PERCENTAGE),
        ("How many units must be bought?", AnswerKind.NUMBER),
        ("What is the title of the contract?", AnswerKind.TITLE),
        ("Is there a law that governs the contract?", AnswerKind.STATEMENT),
        ("When may a party terminate?", AnswerKind.STATEMENT),
        ("Who owns the deliverables?", AnswerKind.STATEMENT),
        ("What does it say about insurance?", AnswerKind.STATEMENT),
    ],
)
def test_the_wording_says_what_is_sought(question: str, answer_kind: AnswerKind) -> None:
    assert understand(question).answer_kind is answer_kind


def test_a_question_about_both_parties_is_not_about_who_they_are() -> None:
    asked = understand("Is there joint ownership of inventions between the parties to the contract?")
    assert asked.answer_kind is not AnswerKind.PARTIES
    assert asked.wording.endswith("the contract?")


def test_the_name_of_the_subject_is_looked_for_too() -> None:
    assert understand("Who are the parties?").wording == "Who are the parties? parties to the agreement"
    assert understand("Are helicopters allowed?").wording == "Are helicopters allowed?"


@given(st.text(max_size=300))
def test_any_text_is_a_question(text: str) -> None:
    assert understand(text) == understand(text)
    assert understand(text).wording.startswith(text.strip()[:1])
