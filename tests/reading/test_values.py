"""Figures and dates are the same however they are written, in four languages."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proviso_service.reading import Date, Figure, is_total, stands_in, values_of


def figures(text: str) -> list[Figure]:
    return [value for value in values_of(text) if isinstance(value, Figure)]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("USD 1,000,000", "one million dollars"),
        ("$1.5 million", "US$ 1,500,000"),
        ("EUR 1.500,50", "€1,500.50"),
        ("5 %", "five percent"),
        ("5%", "five (5) per cent"),
        ("zwanzig Prozent", "20 %"),
        ("vingt pour cent", "20 %"),
        ("veinte por ciento", "20 %"),
        ("thirty (30) days", "30 days"),
        ("30 Tage", "thirty days"),
        ("trente jours", "dreißig Tage"),
        ("treinta días", "30 jours"),
        ("fünfundvierzig Tage", "45 days"),
        ("zweihundertfünfzig Euro", "EUR 250"),
        ("quarante-cinq jours", "45 Tage"),
        ("two hundred and fifty euros", "250 EUR"),
        ("ten (10) business days", "10 Werktage"),
        ("dix jours ouvrables", "ten business days"),
        ("diez días hábiles", "zehn Arbeitstage"),
        ("zwei Jahre", "two (2) years"),
        ("ein Monat", "one month"),
        ("un mois", "1 month"),
        ("tres meses", "drei Monate"),
        ("1,5 Mio. EUR", "EUR 1,500,000"),
        ("2 Mrd. EUR", "two billion euros"),
        ("CHF 12'000", "12,000 Franken"),
    ],
)
def test_a_figure_stands_in_a_text_that_writes_it_otherwise(one: str, other: str) -> None:
    assert len(figures(one)) == len(figures(other)) == 1
    assert stands_in(figures(one)[0], [*figures(other)])
    assert stands_in(figures(other)[0], [*figures(one)])


@pytest.mark.parametrize("text", ["(5. Hours of Work)", "see 12. Days of Rest", "(3. Week)"])
def test_the_number_of_a_heading_has_no_unit(text: str) -> None:
    assert not any(one.unit for one in figures(text))


def test_an_ordinal_is_one_in_german_and_english() -> None:
    assert figures("am 5. Tag")[0].unit == figures("on the 5th day")[0].unit == "nth day"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("30 days", "one month"),
        ("30 days", "30 business days"),
        ("12 months", "one year"),
        ("USD 5,000", "EUR 5,000"),
        ("5,000 dollars", "50,000 dollars"),
        ("5 %", "50 %"),
        ("EUR 40,000", "EUR 40"),
        ("five percent", "fifteen percent"),
        ("zwei Wochen", "zwei Monate"),
    ],
)
def test_another_amount_or_another_unit_is_another_figure(one: str, other: str) -> None:
    assert not stands_in(figures(one)[0], [*figures(other)])


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("1 January 2025", "January 1, 2025"),
        ("1 January 2025", "2025-01-01"),
        ("1. Januar 2025", "01.01.2025"),
        ("1er janvier 2025", "1 January 2025"),
        ("1 de enero de 2025", "Jan 1, 2025"),
        ("31. März 2024", "31/03/2024"),
        ("3 August 2024", "03.08.2024"),
        ("15th day of March, 2023", "15 mars 2023"),
        ("March 2023", "15 March 2023"),
        ("15 March", "15 March 2023"),
    ],
)
def test_a_date_stands_in_a_text_that_writes_it_otherwise(one: str, other: str) -> None:
    [value] = values_of(one)
    assert isinstance(value, Date)
    assert stands_in(value, values_of(other))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("1 January 2025", "1 January 2024"),
        ("1 January 2025", "2 January 2025"),
        ("1 January 2025", "January 2025"),
        ("15 March 2023", "15 March"),
        ("5 April 2025", "5 May 2025"),
    ],
)
def test_another_day_month_or_year_is_another_date(one: str, other: str) -> None:
    assert not stands_in(values_of(one)[0], values_of(other))


def test_a_date_whose_month_is_open_stands_for_both() -> None:
    [value] = values_of("03/04/2025")
    assert stands_in(value, values_of("3 April 2025"))
    assert stands_in(value, values_of("4 March 2025"))


@pytest.mark.parametrize(
    "text",
    [
        "1. Fees\n2. Term",
        "A4 paper",
        "the COVID19 clause",
        "One party informs the other.",
        "Ein Vertrag ist neu.",
        "La partie n'en a pas une autre.",
    ],
)
def test_numbers_of_lists_names_and_articles_are_no_figures(text: str) -> None:
    assert values_of(text) == []


def test_sums_and_differences_of_what_is_shown_are_totals() -> None:
    shown = figures("EUR 100, EUR 250 and EUR 30")
    for total, expected in (
        ("EUR 380", True),
        ("EUR 350", True),
        ("EUR 150", True),
        ("EUR 381", False),
        ("USD 380", False),
    ):
        assert is_total(figures(total)[0], shown) is expected


@given(st.text(max_size=300))
def test_any_text_can_be_read_and_its_values_stand_in_it(text: str) -> None:
    found = values_of(text)
    assert all(0 <= value.start < value.end <= len(text) for value in found)
    assert [value.start for value in found] == sorted(value.start for value in found)
    assert all(stands_in(value, found) for value in found)


@given(st.text(alphabet="0123456789., \u00a0'-/%$", max_size=40))
def test_figures_with_any_marks_can_be_read(text: str) -> None:
    values_of(text, is_source=True)


def test_columns_of_figures_are_figures_of_their_own() -> None:
    [figure] = values_of("sold 64,700 101", is_source=True)
    assert isinstance(figure, Figure)
    assert {64_700, 101} <= figure.amounts
