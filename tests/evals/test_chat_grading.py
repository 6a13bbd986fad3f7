"""The grades of answers in a chat."""

import pytest

from evals.chat import QUESTIONS, report, told
from evals.chat_grading import PARTLY, REFUSED, RIGHT, WRONG, Answer, ChatQuestion, grade, read_questions
from proviso_client.v1.chat_pb2 import Citation, FinalState

IDS = {"a.txt": "id-a", "b.txt": "id-b", "c.txt": "id-c"}
FACT = ChatQuestion("m", "fact", ("How long?",), evidence=(("a.txt", 100, 200),), values=(("30 days", "thirty days"),))
ABSENT = ChatQuestion("m", "absence", ("Is there one?",), absent=True)
LIST = ChatQuestion(
    "m", "list", ("Which?",), evidence=(("a.txt", 0, 50), ("b.txt", 0, 50)), documents=("a.txt", "b.txt"), need=2
)
LACKING = ChatQuestion("m", "count", ("Which have none?",), documents=("a.txt",), values=(("1", "one"),))


def cited(document: str, start: int, end: int) -> Citation:
    return Citation(document_id=IDS[document], start=start, end=end)


def answer(said: str, *citations: Citation) -> Answer:
    return Answer(FinalState(message=said, citations=citations), IDS, 0.1)


@pytest.mark.parametrize(
    ("question", "given", "wanted"),
    [
        (FACT, answer("a.txt says: \u201cIt is thirty\n days.\u201d", cited("a.txt", 90, 160)), RIGHT),
        (FACT, answer("a.txt says: \u201cIt is long.\u201d", cited("a.txt", 100, 200)), PARTLY),
        (FACT, answer("a.txt says: \u201cIt is thirty days.\u201d", cited("a.txt", 160, 400)), PARTLY),
        (FACT, answer("a.txt says: \u201cIt is red.\u201d", cited("a.txt", 300, 400)), WRONG),
        (FACT, answer("b.txt says: \u201cIt is red.\u201d", cited("b.txt", 100, 200)), WRONG),
        (FACT, answer("I found no answer. The closest: \u201cIt is red.\u201d", cited("a.txt", 300, 400)), REFUSED),
        (FACT, answer("I found no sure answer. The closest: thirty days", cited("a.txt", 100, 200)), RIGHT),
        (FACT, answer("I don't have enough information."), REFUSED),
        (ABSENT, answer("I found nothing on this in a.txt."), RIGHT),
        (ABSENT, answer("Ich habe dazu nichts gefunden."), RIGHT),
        (ABSENT, answer("a.txt says: \u201cIt is red.\u201d", cited("a.txt", 0, 10)), WRONG),
        (LIST, answer("- a.txt: x\n- b.txt: y", cited("a.txt", 0, 40), cited("b.txt", 0, 40)), RIGHT),
        (LIST, answer("- a.txt: x", cited("a.txt", 0, 40)), PARTLY),
        (LIST, answer("- c.txt: x", cited("c.txt", 0, 40)), WRONG),
        (LACKING, answer("1 document of 3 has none: a.txt.\n\nThe others:\n- b.txt: x", cited("b.txt", 0, 9)), RIGHT),
        (LACKING, answer("2 documents of 3 have none: a.txt and b.txt.", cited("c.txt", 0, 9)), PARTLY),
    ],
)
def test_an_answer_is_graded_by_what_it_quotes_states_and_names(
    question: ChatQuestion, given: Answer, wanted: str
) -> None:
    assert grade(question, given) == wanted


def test_the_questions_are_many_and_half_of_them_are_held_out() -> None:
    matters, questions = read_questions(QUESTIONS)
    assert len(questions) >= 150
    assert sum(one.is_held_out for one in questions) * 2 == len(questions)
    for one in questions:
        names = matters[one.matter]
        assert {name for name, _, _ in one.evidence} | set(one.documents) | {one.view or names[0]} <= set(names)
        assert one.absent is not bool(one.evidence or one.documents)
    held = {name for matter, names in matters.items() if matter.startswith("held") for name in names}
    assert not held & {name for matter, names in matters.items() if not matter.startswith("held") for name in names}


def test_further_questions_are_about_contracts_that_nothing_is_held_out_with() -> None:
    matters, questions = read_questions(QUESTIONS.with_name("more_questions.json"))
    held, _ = read_questions(QUESTIONS)
    named = {name for names in matters.values() for name in names}
    assert not named & {name for names in held.values() for name in names}
    for one in questions:
        assert {name for name, _, _ in one.evidence} | set(one.documents) <= set(matters[one.matter])
        assert one.absent is not bool(one.evidence or one.documents)


def test_the_report_counts_grades_by_kind_and_tells_the_answers() -> None:
    graded = [(FACT, answer("I don't know."), REFUSED), (ABSENT, answer("None."), RIGHT)]
    said = report(graded)
    assert "| fact | 0 | 0 | 1 | 0 |" in said
    assert "| all | 1 | 0 | 1 | 0 |" in said
    assert "How long?\n-> I don't know." in told(graded)
