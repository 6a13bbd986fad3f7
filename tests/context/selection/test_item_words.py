"""Scores by common words."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from proviso_service.context.selection.index import WordIndex

INDEX = WordIndex.of(
    [
        "Terminating contracts: the notice of termination",
        "Rent and deposits of the tenant",
        "The notice to the tenant about the rent",
        "",
    ]
)


def test_items_that_share_no_word_with_the_message_score_nothing() -> None:
    assert INDEX.scores("What is the weather?").tolist() == [0, 0, 0, 0]
    assert INDEX.scores("").tolist() == [0, 0, 0, 0]


def test_words_are_compared_by_their_stems() -> None:
    assert np.flatnonzero(INDEX.scores("terminate")).tolist() == [0]


def test_more_and_rarer_common_words_score_higher() -> None:
    scores = INDEX.scores("A deposit of the tenant")
    assert scores[1] > scores[2] > 0
    assert INDEX.scores("terminate")[0] > INDEX.scores("notice")[0] > 0


def test_a_word_that_the_message_repeats_counts_once() -> None:
    assert INDEX.scores("rent rent rents").tolist() == INDEX.scores("rent").tolist()


def test_no_items_have_no_scores() -> None:
    assert WordIndex.of([]).scores("rent").shape == (0,)


@given(st.lists(st.text(max_size=60), max_size=5), st.text(max_size=60))
def test_scores_lie_between_nothing_and_one(texts: list[str], message: str) -> None:
    scores = WordIndex.of(texts).scores(message)
    assert scores.shape == (len(texts),)
    assert np.all((scores >= 0) & (scores < 1))


def test_a_word_of_one_item_is_rare_in_a_small_catalog_too() -> None:
    few = WordIndex.of(["password reset", "holidays"])
    many = WordIndex.of(["password reset", "holidays", *(["other"] * 98)])
    assert few.scores("password")[0] > 0.3
    assert abs(few.scores("password")[0] - many.scores("password")[0]) < 0.1


def test_an_index_knows_which_words_it_has() -> None:
    assert INDEX.has("terminates")
    assert not INDEX.has("weather")
