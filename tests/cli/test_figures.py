"""The figures of an evaluation."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proviso_service.cli.figures import Way, average_precision, bands_of, calibration_error

SCORED = st.lists(st.tuples(st.floats(0, 1), st.booleans()), min_size=1, max_size=60)


@pytest.mark.parametrize(
    ("ranked", "precision"),
    [
        ([(0.9, True), (0.8, False)], 1.0),
        ([(0.9, False), (0.8, True)], 0.5),
        ([(0.9, True), (0.8, False), (0.7, True)], 5 / 6),
        ([(0.5, True), (0.5, False)], 0.5),
        ([(0.9, False)], 0.0),
    ],
)
def test_a_ranking_is_the_better_the_earlier_what_is_right_comes(
    ranked: list[tuple[float, bool]], precision: float
) -> None:
    assert average_precision(ranked) == pytest.approx(precision)


def test_scores_are_calibrated_where_as_many_are_right_as_they_say() -> None:
    assert calibration_error([(0.25, True), *[(0.25, False)] * 3]) == 0
    assert calibration_error([(0.9, False), (0.9, True)]) == pytest.approx(0.4)


def test_bands_begin_where_enough_are_right() -> None:
    scored = [*[(0.1, False)] * 9, (0.1, True), *[(0.4, True)] * 2, *[(0.4, False)] * 2, *[(0.8, True)] * 4]
    assert bands_of(scored) == {"possible": 0.4, "likely": 0.8}
    assert bands_of([(0.9, False)]) == {"possible": 1.0, "likely": 1.0}


@given(SCORED)
def test_bands_are_in_order_and_scores_that_occurred(scored: list[tuple[float, bool]]) -> None:
    bands = bands_of(scored)
    assert 0 <= bands["possible"] <= bands["likely"] <= 1


@given(SCORED)
def test_errors_and_precisions_are_shares(scored: list[tuple[float, bool]]) -> None:
    assert 0 <= calibration_error(scored) <= 1
    assert 0 <= average_precision(scored) <= 1


def test_a_report_has_only_what_was_measured() -> None:
    way = Way("search", {"first": 0})
    way.add(["first"], 0.25)
    way.add([], 0.75)
    assert way.report() == {"way": "search", "asked": 2, "first": 0.5, "median_s": 0.5, "longest_s": 0.75}
