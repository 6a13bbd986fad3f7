"""What questions ask for."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proviso_service.embedded.extractor.questions import Sought, understand


@pytest.mark.parametrize(
    ("question", "sought"),
    [
        ("Which law governs this agreement?", Sought.LAW),
        ("Who are the parties?", Sought.PARTIES),
        ("What is the notice period?", Sought.DURATION),
        ("How many days' notice must be given?", Sought.DURATION),
        ("How much notice is needed?", Sought.DURATION),
        ("Could you please tell me how long the term is?", Sought.DURATION),
        ("When does the agreement end?", Sought.PERIOD),
        ("What is the expiration date?", Sought.PERIOD),
        ("When was it signed?", Sought.DATE),
        ("Tell me when the lease was signed.", Sought.DATE),
        ("What is the effective date?", Sought.DATE),
        ("How much is the rent?", Sought.SUM),
        ("What is the employee's base salary?", Sought.SUM),
        ("What percentage of the salary is the bonus?", Sought.PERCENTAGE),
        ("How much is the royalty?", Sought.MONEY),
        ("What is the monthly fee?", Sought.MONEY),
        ("What is the interest rate?", Sought.PERCENTAGE),
        ("How many units must be bought?", Sought.NUMBER),
        ("What is the title of the contract?", Sought.TITLE),
        ("Is there a law that governs the contract?", Sought.STATEMENT),
        ("When may a party terminate?", Sought.STATEMENT),
        ("Who owns the deliverables?", Sought.STATEMENT),
        ("What does it say about insurance?", Sought.STATEMENT),
    ],
)
def test_the_wording_says_what_is_sought(question: str, sought: Sought) -> None:
    assert understand(question).sought is sought


def test_a_question_about_both_parties_is_not_about_who_they_are() -> None:
    asked = understand("Is there joint ownership of inventions between the parties to the contract?")
    assert asked.topic is None or asked.topic.name != "parties"


def test_the_name_of_the_subject_is_looked_for_too() -> None:
    assert understand("Who are the parties?").wording == "Who are the parties? parties to the agreement"
    assert understand("Are helicopters allowed?").wording == "Are helicopters allowed?"


@given(st.text(max_size=300))
def test_any_text_is_a_question(text: str) -> None:
    assert understand(text) == understand(text)
    assert understand(text).wording.startswith(text.strip()[:1])
