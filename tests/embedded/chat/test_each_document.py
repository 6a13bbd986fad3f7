"""Questions about which of a matter's documents have something: what each of them is asked for that."""

import pytest

from proviso_service.embedded.chat.each_document import asked_of_each, asks_what_they_say


@pytest.mark.parametrize(
    ("question", "asked"),
    [
        ("Which of our contracts rule out lost profits?", "rule out lost profits"),
        ("In which of these contracts is the payer barred from set-off?", "is the payer barred from set-off"),
        ("For how many of the eight do we need consent first?", "do we need consent first"),
        ("And under which agreements may one side audit the other?", "may one side audit the other"),
        ("How many of our deals send quarrels to arbitrators? Name them.", "send quarrels to arbitrators"),
        ("Which contracts make a late payer owe interest, and how much?", "make a late payer owe interest"),
        ("Where do our contracts say that transfers need consent?", "say that transfers need consent"),
        ("Does any of our contracts forbid hiring the other's staff?", "forbid hiring the other's staff"),
        ("One is sued, the other pays: which of our contracts have a rule like that?", "One is sued, the other pays"),
        ("I need the contracts under which the loser pays. Which ones are they?", "the loser pays"),
        ("How many of our contracts can't be changed orally?", "can't be changed orally"),
        ("How many of them can be terminated for convenience?", "can be terminated for convenience"),
        ("List the contracts that have an arbitration clause.", "have an arbitration clause"),
        ("Which is the only agreement that has a liquidated damages clause?", "has a liquidated damages clause"),
        ("Does any agreement in the folder contain an exclusivity obligation?", "contain an exclusivity obligation"),
        ("Please identify those of our contracts under which a party may audit us.", "a party may audit us"),
        ("I'm looking for the agreements where we have exclusivity.", "we have exclusivity"),
        ("I want a list of contracts with penalties for late delivery.", "with penalties for late delivery"),
        ("I need to know which of the deals contain a step-in right.", "contain a step-in right"),
        ("Let me know in which documents a cap is agreed.", "a cap is agreed"),
        ("Of our contracts, which ones forbid poaching staff?", "forbid poaching staff"),
        ("Where, among our contracts, do we have price protection?", "do we have price protection"),
        ("Which contracts, if any, need the other side's consent?", "need the other side's consent"),
        ("How many documents deal with trademarks?", "deal with trademarks"),
    ],
)
def test_each_document_is_asked_what_stands_behind_the_opening(question: str, asked: str) -> None:
    found = asked_of_each(question, "en")
    assert found is not None
    assert (found.question, found.lacks) == (f"this agreement: {asked}", False)


@pytest.mark.parametrize(
    ("question", "asked"),
    [
        ("Show me the contracts that renew automatically.", None),
        ("Which of these documents allow assignment?", None),
        (
            "Where does one side get to look into the other's books? List the agreements please.",
            "Where does one side get to look into the other's books?",
        ),
    ],
)
def test_each_document_is_asked_a_short_question_as_it_is_without_the_wish_for_a_list(
    question: str, asked: str | None
) -> None:
    found = asked_of_each(question, "en")
    assert found is not None
    assert (found.question, found.lacks) == (asked or question, False)


@pytest.mark.parametrize(
    ("question", "asked"),
    [
        ("Which of our contracts have no rule that limits liability?", "limits liability"),
        ("Which of our contracts do not say which law governs them?", "say which law governs them"),
        ("Are there contracts that don't limit liability? Which ones?", "limit liability"),
        ("Which agreements lack an arbitration clause?", "an arbitration clause"),
        ("How many contracts are silent on the governing law?", "the governing law"),
        ("Which of our contracts say nothing about the governing law?", "the governing law"),
        ("contracts without liability cap", "liability cap"),
        ("Are there any contracts without a right to terminate?", "a right to terminate"),
        ("Is any of the agreements silent on governing law?", "governing law"),
    ],
)
def test_documents_that_lack_something_are_those_that_do_not_have_it(question: str, asked: str) -> None:
    found = asked_of_each(question, "en")
    assert found is not None
    assert (found.question, found.lacks) == (f"this agreement: {asked}", True)


@pytest.mark.parametrize(
    ("question", "asked"),
    [
        ("Which contract asks for the longest notice?", "How long: asks for notice?"),
        ("Which of our deals has the highest fee, and what is it?", "How much: has fee?"),
        ("Which of the eight bears the oldest date?", "What is the date of this agreement?"),
        ("Which one runs the shortest?", "How long does this agreement last?"),
        ("Which deal lasts longest?", "How long does this agreement last?"),
        ("Which of the seven contracts is the oldest, and what is its date?", "What is the date of this agreement?"),
        ("What's the oldest contract in this pile and when was it made?", "What is the date of this agreement?"),
        ("Which is our most recent agreement?", "What is the date of this agreement?"),
        ("Which of our agreements was signed first?", "What is the date of this agreement?"),
        ("Which contract expires first?", "When does this agreement end?"),
        ("What is the longest notice period in any of our contracts?", "How long: notice period?"),
        ("Across all our contracts, where is the notice the longest?", "How long: is the notice?"),
    ],
)
def test_for_the_longest_or_largest_each_document_is_asked_for_its_figure(question: str, asked: str) -> None:
    found = asked_of_each(question, "en")
    assert found is not None
    assert found.question == asked


@pytest.mark.parametrize(
    ("question", "asked", "within", "beyond"),
    [
        (
            "Which contracts have a liability cap above $1 million?",
            "How much: have a liability cap?",
            "$1,500,000",
            "$1,000,000",
        ),
        ("Which of our agreements run for more than three years?", "How long: run for?", "five years", "three years"),
        (
            "Which contracts require at least 60 days' notice to terminate?",
            "How long: require notice to terminate?",
            "sixty (60) days",
            "59 days",
        ),
        (
            "Which agreements were signed before 2005?",
            "What is the date of this agreement?",
            "May 2, 2004",
            "January 1, 2005",
        ),
    ],
)
def test_for_a_figure_within_a_bound_each_document_is_asked_for_its_figure(
    question: str, asked: str, within: str, beyond: str
) -> None:
    found = asked_of_each(question, "en")
    assert found is not None
    assert found.bound is not None
    assert found.question == asked
    assert (found.bound.met_by(within), found.bound.met_by(beyond)) == (True, False)


@pytest.mark.parametrize(
    ("question", "place", "lacks"),
    [
        ("How many of our contracts are under New York law?", "New York", False),
        ("Which of our contracts are governed by Californian law?", "Californian", False),
        ("Which agreements are governed by the laws of the State of Delaware?", "Delaware", False),
        ("Which of our contracts are not governed by English law?", "English", True),
        ("How many contracts are not under the law of a US state?", "", True),
        ("How many of our contracts are under the law of a country other than the United States?", "", True),
        ("Which of the contracts are governed by foreign law?", "", True),
    ],
)
def test_for_those_under_a_law_each_document_is_asked_for_its_law(question: str, place: str, *, lacks: bool) -> None:
    found = asked_of_each(question, "en")
    assert found is not None
    assert (found.question, found.place, found.lacks) == ("Which law governs this agreement?", place, lacks)


@pytest.mark.parametrize(
    "question",
    [
        "Lesquels de nos contrats prévoient un renouvellement ?",
        "Dans quels contrats trouve-t-on un droit de préférence ?",
        "In wie vielen unserer Verträge ist das UN-Kaufrecht ausgeschlossen?",
        "Welche unserer Verträge verlängern sich von selbst?",
    ],
)
def test_each_document_is_asked_in_other_languages_too(question: str) -> None:
    assert asked_of_each(question, "de") is not None


@pytest.mark.parametrize(
    "question",
    [
        "What is the notice period?",
        "Which of the two has to get the product approved?",
        "Which documents must the tenant deliver?",
        "Which of the two companies bears the tax?",
        "Which of these obligations survive termination?",
        "Do all five directors have to sign?",
        "Does any agreement to the contrary prevail?",
        "There is an older contract that says something different. Which one wins?",
        "If the price document gets reissued, which one counts?",
    ],
)
def test_what_documents_or_parties_must_do_is_no_question_to_each_document(question: str) -> None:
    assert asked_of_each(question, "en") is None


def test_questions_in_another_language_are_asked_as_they_are() -> None:
    question = "Welche unserer Verträge regeln die Haftung nicht?"
    found = asked_of_each(question, "de")
    assert found is not None
    assert (found.question, found.lacks) == (question, True)


@pytest.mark.parametrize(
    ("question", "says"),
    [
        ("Which of the eight documents contain a rule on invalid clauses?", True),
        ("Which documents are in this matter?", False),
        ("Which documents are still being processed today?", False),
        ("What files have we got so far?", False),
        ("Which of all our documents bears the oldest date?", True),
        ("List all documents sorted by date.", False),
        ("Give me a short summary of each contract.", False),
        ("We act for the seller. Please list all documents.", False),
        ("Which deal lasts longest?", True),
        ("Show me the contracts that renew automatically.", True),
        ("contracts without liability cap", True),
        ("Where does one side get to look into the other's books? List the agreements please.", True),
        ("Summarize the termination rights across all agreements.", True),
        ("Show me all documents.", False),
    ],
)
def test_what_documents_say_is_told_from_which_there_are(question: str, says: bool) -> None:
    assert asks_what_they_say(question) is says
