"""The enumerations of a text, with what opens them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proviso_service.reading import enumeration_at, enumeration_holding

EVENTS = "if any of these events occurs:"
INSURANCE = (
    "5.2 The Tenant shall keep up insurance of these kinds:\n\n(a) fire;\n\n(b) liability, as follows: (i) of persons, "
    "up to the sum that the Landlord has set in the schedule, (ii) of things, up to the sum that is usual for such "
    "premises in the town and that the parties have last agreed upon, (iii) of animals, where the Landlord has allowed "
    "any to be kept in the premises; and\n\n12\n\n(c) water.\n\n5.3 The Landlord pays for the rest."
)


def opened(text: str, sentence: str) -> tuple[str, ...]:
    at = text.index(sentence)
    found = enumeration_at(text, at, at + len(sentence))
    return found.items if found else ()


def test_many_empty_lines_take_no_time() -> None:
    empty = "\n" * 1_500
    text = f"{EVENTS}\n\n(a) it ends {'soon ' * 80};{empty}(b) it is sold;{empty}(c) it is lost."
    assert opened(text, EVENTS)[1:] == ("(b) it is sold;", "(c) it is lost.")


@pytest.mark.parametrize(
    ("text", "items"),
    [
        ("{} (a) it ends; (b) it is sold; or (c) it is lost. The rest stays.", ("(a) it ends;", "(b) it is sold; or")),
        ("{}\n\n1. It ends;\n\n2. It is sold;\n\n3. It is lost.", ("1. It ends;", "2. It is sold;")),
        ("{}\n\n6.1.1 it ends;\n6.1.2 it is sold; or\n6.1.3 it is lost.", ("6.1.1 it ends;", "6.1.2 it is sold; or")),
        ("{} i. It ends. ii. It is sold. iii. It is lost.", ("i. It ends.", "ii. It is sold.")),
        ("{}\n- it ends\n- it is sold\n- it is lost", ("- it ends", "- it is sold")),
        ("{}\n\nEvents\n\n(i) it ends;\n(ii) it is sold;\n(iii) it is lost.", ("(i) it ends;", "(ii) it is sold;")),
        ("{} (a) see clause (b) below; (b) it is sold.", ("(a) see clause (b) below;", "(b) it is sold.")),
    ],
)
def test_items_count_on_from_the_first_after_what_opens_them(text: str, items: tuple[str, ...]) -> None:
    assert opened(text.format(EVENTS), EVENTS)[:2] == items


@pytest.mark.parametrize(
    "text",
    [
        "{} nothing more.",
        "{} (a) alone.",
        "{} as told in clause (a) and in clause (b).",
        "{} The Tenant pays. (a) It ends; (b) it is sold.",
    ],
)
def test_a_sentence_without_two_items_opens_nothing(text: str) -> None:
    assert opened(text.format("The Landlord may end the lease."), "The Landlord may end the lease.") == ()


def test_numbers_of_clauses_are_no_items_of_what_stands_above_them() -> None:
    text = "Confidential Information\n\n2.1 It is secret.\n\n2.2 It stays so.\n\n2.3 It ends."
    assert opened(text, "Confidential Information") == ()
    assert enumeration_holding(text, text.index("It stays")) is None


def test_an_item_stands_in_the_innermost_enumeration_with_the_sentence_that_opens_it() -> None:
    found = enumeration_holding(INSURANCE, INSURANCE.index("of things"))
    assert found is not None
    assert found.opening == "(b) liability, as follows:"
    assert [item[:5] for item in found.items] == ["(i) o", "(ii) ", "(iii)"]
    outer = enumeration_holding(INSURANCE, INSURANCE.index("water"))
    assert outer is not None
    assert outer.opening == "5.2 The Tenant shall keep up insurance of these kinds:"


def test_a_long_item_is_given_by_the_items_that_it_opens_and_without_the_end_of_a_page() -> None:
    sentence = "5.2 The Tenant shall keep up insurance of these kinds:"
    found = enumeration_at(INSURANCE, 0, len(sentence))
    assert found is not None
    assert found.is_whole
    assert found.items[0] == "(a) fire;"
    assert found.items[1] == "(b) liability, as follows:"
    assert found.items[4].endswith("in the premises; and")
    assert found.items[5] == "(c) water."


def test_a_text_that_ends_with_an_item_may_go_on() -> None:
    found = enumeration_at(f"{EVENTS} (a) it ends; (b) it is", 0, len(EVENTS))
    assert found is not None
    assert not found.is_whole


@pytest.mark.parametrize("item", ["(a) it ends:\n\n", "(i) x; ", "(a) (i) (1) (A) x:\n\n"])
def test_enumerations_within_one_another_are_read_to_a_bound(item: str) -> None:
    text = "If:\n\n" + item * (4_000 // len(item))
    found = enumeration_at(text, 0, len(text))
    assert found is None or len(found.items) > 1


@given(st.text(alphabet="(a)(b)(i) 1.2;:\n- Xy", max_size=80), st.integers(0, 80), st.integers(0, 80))
def test_any_text_is_read_and_items_are_its_own_words(text: str, start: int, length: int) -> None:
    begin = min(start, len(text))
    for found in (enumeration_at(text, begin, min(len(text), begin + length)), enumeration_holding(text, begin)):
        if found is not None:
            assert len(found.items) > 1
            flat = " ".join(text.split())
            assert all(" ".join(one.split()) in flat for one in (found.opening, *found.items))
