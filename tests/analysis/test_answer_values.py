"""The values of answers, in a form that programs sort and compare."""

import pytest

from proviso_service.analysis.answer_values import values_in_answer
from proviso_service.analysis.party_names import Definition, Definitions

PARTIES = Definitions((Definition("Acme Corp.", ("Supplier",)), Definition("Beta GmbH", ("Customer",))))


def read(text: str) -> list[tuple[str, str, str]]:
    return [(one.kind.value, one.value, one.unit) for one in values_in_answer(text, PARTIES)]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("on January 31, 2025", ("date", "2025-01-31", "")),
        ("as of the 1st day of March, 2019", ("date", "2019-03-01", "")),
        ("im Mai 2020", ("date", "2020-05", "")),
        ("USD 12,500.50 in all", ("amount", "12500.5", "USD")),
        ("one million dollars", ("amount", "1000000", "USD")),
        ("1.500 €", ("amount", "1500", "EUR")),
        ("thirty (30) days", ("period", "P30D", "")),
        ("ten (10) business days", ("period", "P10D", "business day")),
        ("two years", ("period", "P2Y", "")),
        ("two calendar quarters", ("period", "P6M", "")),
        ("48 hours", ("period", "PT48H", "")),
        ("4.5% per annum", ("percentage", "4.5", "")),
        ("the laws of the State of New York", ("law", "New York", "")),
        ("Delaware law", ("law", "Delaware", "")),
        ("payable by the Customer", ("party", "Beta GmbH", "")),
        ("Acme Corp. shall deliver", ("party", "Acme Corp.", "")),
    ],
)
def test_a_value_is_read_whatever_its_wording(text: str, value: tuple[str, str, str]) -> None:
    assert read(text) == [value]


@pytest.mark.parametrize(
    "text", ["on March 3", "on 03/04/2025", "on February 30, 2024", "clause 12", "the other party"]
)
def test_what_is_open_or_has_no_unit_is_no_value(text: str) -> None:
    assert read(text) == []


def test_values_stand_in_the_order_of_the_text_with_their_places() -> None:
    text = "The Supplier pays EUR 200 within 10 days."
    found = values_in_answer(text, PARTIES)
    assert [text[one.start : one.end] for one in found] == ["Supplier", "EUR 200", "10 days"]


def test_an_answer_has_few_values() -> None:
    assert len(read("1 day, " * 50)) == 20
