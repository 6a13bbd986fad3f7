"""How lists count."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proviso_service.reading.numerals import NUMBER_WORDS, NumeralStyle, numeral, roman_value, value_in_words


@pytest.mark.parametrize(
    ("value", "style", "written"),
    [
        (7, "decimal", "7"),
        (7, "decimalZero", "07"),
        (12, "decimalZero", "12"),
        (3, "lowerLetter", "c"),
        (27, "lowerLetter", "aa"),
        (28, "upperLetter", "BB"),
        (4, "lowerRoman", "iv"),
        (1999, "upperRoman", "MCMXCIX"),
        (1, "ordinal", "1st"),
        (12, "ordinal", "12th"),
        (103, "ordinal", "103rd"),
        (21, "cardinalText", "Twenty-one"),
        (1, "ordinalText", "First"),
        (12, "ordinalText", "Twelfth"),
        (20, "ordinalText", "Twentieth"),
        (35, "ordinalText", "Thirty-fifth"),
        (5, "none", ""),
        (5, "chicago", "5"),
    ],
)
def test_numbers_are_written_as_their_style_says(value: int, style: str, written: str) -> None:
    assert numeral(value, style) == written


@given(st.integers(-(10**9), 10**9), st.sampled_from(list(NumeralStyle)))
def test_any_number_is_short(value: int, style: NumeralStyle) -> None:
    assert len(numeral(value, style)) <= 30


@given(st.integers(1, 3_999))
def test_roman_numerals_read_as_their_value(value: int) -> None:
    assert roman_value(numeral(value, "lowerRoman")) == value
    assert roman_value(numeral(value, "upperRoman")) == value


@pytest.mark.parametrize("written", ["", "iiii", "iix", "vx", "ic", "civil", "7", "iv.", "mmmm", "\u2167"])
def test_what_is_no_roman_numeral_counts_nothing(written: str) -> None:
    assert roman_value(written) == 0


@given(st.text("ivxlcdm", max_size=12))
def test_every_roman_numeral_is_written_in_one_way(signs: str) -> None:
    assert roman_value(signs) == 0 or numeral(roman_value(signs), "lowerRoman") == signs


@given(st.sampled_from([NumeralStyle.DECIMAL, NumeralStyle.LOWER_LETTER, NumeralStyle.UPPER_ROMAN]))
def test_no_two_numbers_of_a_list_are_written_alike(style: NumeralStyle) -> None:
    written = [numeral(value, style) for value in range(1, 600)]
    assert len(set(written)) == len(written)


@pytest.mark.parametrize("value", range(100))
def test_a_number_in_words_is_read_back(value: int) -> None:
    words = numeral(value, NumeralStyle.CARDINAL_TEXT)
    assert re.fullmatch(NUMBER_WORDS, words, re.IGNORECASE)
    assert value_in_words(words) == value
