"""One order out of several."""

import pytest

from proviso_service.matters.ranking import Ranks, clause_first_score, fused_score


def test_a_better_rank_never_scores_less() -> None:
    scores = [fused_score(Ranks(rank, 3), 0.7) for rank in range(50)]
    assert scores == sorted(scores, reverse=True)
    assert fused_score(Ranks(4, 0), 0.5) > fused_score(Ranks(4, 1), 0.5) > fused_score(Ranks(4, None), 0.5)


@pytest.mark.parametrize(("weight", "ranks"), [(0.0, Ranks(0, None)), (1.0, Ranks(None, 0))])
def test_an_order_without_weight_counts_for_nothing(weight: float, ranks: Ranks) -> None:
    assert fused_score(ranks, weight) == 0.0


def test_the_clause_asked_for_weighs_as_much_as_meaning_and_words_together() -> None:
    assert fused_score(Ranks(None, None, 0), 0.4) == pytest.approx(fused_score(Ranks(0, 0), 0.4))


@pytest.mark.parametrize("weight", [0.0, 0.3, 1.0])
def test_a_query_for_a_clause_alone_is_answered_in_the_order_of_clauses(weight: float) -> None:
    worst_first = clause_first_score(Ranks(99, None, 0), weight, 3)
    best_second = clause_first_score(Ranks(0, 0, 1), weight, 3)
    last = clause_first_score(Ranks(99, None, 2), weight, 3)
    assert worst_first > best_second > last > clause_first_score(Ranks(0, 0), weight, 3)
