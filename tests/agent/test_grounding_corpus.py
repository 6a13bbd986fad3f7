"""The corpus of answers by which grounding is judged: that it is as large and as varied as it should be, and that what
is displayed, streamed, refused and left out silently is counted."""

from collections import Counter

import pytest

from tests.support.grounding_corpus import Answer, Outcome, Sentence, Verdict, load, scores

TRUE = Sentence("The price is EUR 4.20 [@price].", Verdict.TRUE)
FALSE = Sentence("The deposit is EUR 65,000 [@price].", Verdict.FALSE)
PARTLY = Sentence("The price is fixed, and it doubles in June [@price].", Verdict.FALSE, ("it doubles in June",))
LAST = Sentence("Irish law governs [@law].", Verdict.TRUE)


def outcome(message: str, *sentences: Sentence, streamed: str = "", omitted: int = 0) -> Outcome:
    answer = Answer("a-1", "a kind", "en", "What?", ("contract",), sentences)
    return Outcome(answer, "completed", "", message, [streamed], omitted)


def test_the_corpus_has_true_false_and_mixed_answers_in_three_languages_and_sixty_orders() -> None:
    answers = load().answers
    orders = [answer for answer in answers if answer.told and answer.of(Verdict.FALSE)]
    kinds = Counter((bool(a.of(Verdict.TRUE)), bool(a.of(Verdict.FALSE))) for a in answers if a not in orders)
    assert len(answers) >= 300
    assert min(kinds[True, False], kinds[False, True], kinds[True, True]) >= 30
    assert len(orders) == len({answer.told for answer in orders}) == 60
    languages = Counter(answer.language for answer in answers)
    assert min(languages["en"], languages["de"], languages["fr"]) >= 60
    assert min(languages["es"], languages["it"]) >= 3


@pytest.mark.parametrize(
    ("message", "displayed", "refused"),
    [
        ("The price is EUR 4.20 [1]. The deposit is EUR 65,000 [1].", 1, 0),
        ("The price is EUR 4.20 [2].\n[left out]", 0, 0),
        ("[left out] is EUR 65,000 [1].", 0, 1),
        ("The deposit is EUR 65,000", 1, 1),
        ("I don't have enough information.", 0, 1),
    ],
)
def test_a_message_is_compared_with_the_sentences_of_its_answer(message: str, displayed: int, refused: int) -> None:
    judged = outcome(message, TRUE, FALSE)
    assert (len(judged.displayed_false), len(judged.refused_true)) == (displayed, refused)


def test_of_a_sentence_that_is_false_in_part_only_the_marked_part_counts() -> None:
    assert not outcome("The price is fixed, and [left out]", PARTLY).displayed_false
    assert outcome("For it doubles in June [1].", PARTLY).displayed_false == [PARTLY]


def test_what_was_streamed_counts_although_it_was_voided() -> None:
    judged = outcome("", FALSE, streamed="The deposit is EUR 65,000 [1].")
    assert (judged.displayed_false, judged.streamed_false) == ([], [FALSE])


@pytest.mark.parametrize(
    ("message", "omitted", "silent"),
    [
        ("The price is EUR 4.20 [1]. [left out] Irish law governs [2].", 1, False),
        ("The price is EUR 4.20 [1]. Irish law governs [2]. [left out]", 1, True),
        ("The price is EUR 4.20 [1]. Irish law governs [2].", 1, True),
        ("The price is EUR 4.20 [1]. [left out] Irish law governs [2].", 0, True),
    ],
)
def test_a_sentence_is_left_out_silently_where_no_mark_stands_in_its_place(
    message: str, omitted: int, silent: bool
) -> None:
    assert outcome(message, TRUE, FALSE, LAST, omitted=omitted).silently_shortened is silent


def test_figures_are_summed_without_what_is_beyond_the_check() -> None:
    known = Answer("b-1", "beyond", "en", "What?", (), (FALSE,), beyond=True)
    found = scores([outcome(TRUE.text, TRUE, FALSE), Outcome(known, "completed", "", FALSE.text)])
    assert (found["all"].true, found["all"].false, found["beyond"].displayed) == (1, 1, 1)
