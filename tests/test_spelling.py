"""Names that differ by one slip of the hand."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proviso_service.spelling import Spelling, likeness, near_misses

NAMES = st.text("abc", min_size=3, max_size=6)


def like(one: str, other: str) -> float:
    return likeness(Spelling.of(one), Spelling.of(other))


@given(NAMES, st.data())
def test_one_slip_is_very_like_and_the_order_of_the_two_does_not_matter(name: str, data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(name) - 1))
    slips = [
        f"{name[:at]}x{name[at:]}",
        f"{name[:at]}x{name[at + 1 :]}",
        f"{name[:at]}{name[at + 1 :]}",
        f"{name[:at]}{name[at : at + 2][::-1]}{name[at + 2 :]}",
    ]
    for slip in slips:
        assert like(name, slip) == like(slip, name) >= 0.9


@pytest.mark.parametrize(("one", "other"), [("Caps", "Cosp"), ("a", "b"), ("ab", "ba"), ("echo", "hoec"), ("abc", "")])
def test_more_than_a_slip_is_not_and_short_names_are_like_no_other(one: str, other: str) -> None:
    assert like(one, other) < 0.5


def test_capitals_underscores_and_spaces_do_not_matter() -> None:
    assert like("House_Style", " house  style") == 1


def test_the_most_similar_names_come_first_and_strangers_not_at_all() -> None:
    known = ["isaacus_search", "isaacus_extract", "list_matter_documents"]
    assert near_misses("isaacus_serach", known, most=1) == ["isaacus_search"]
    assert near_misses("weather", known) == []
