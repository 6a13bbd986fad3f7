"""How lists count."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proviso_service.matters.parsing.numerals import NumeralStyle, numeral


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
def test_roman_numbers_read_as_their_value(value: int) -> None:
    worth = {"i": 1, "v": 5, "x": 10, "l": 50, "c": 100, "d": 500, "m": 1000}
    digits = [worth[sign] for sign in numeral(value, "lowerRoman")]
    assert (
        sum(-digit if digit < after else digit for digit, after in zip(digits, [*digits[1:], 0], strict=True)) == value
    )


@given(st.sampled_from([NumeralStyle.DECIMAL, NumeralStyle.LOWER_LETTER, NumeralStyle.UPPER_ROMAN]))
def test_no_two_numbers_of_a_list_are_written_alike(style: NumeralStyle) -> None:
    written = [numeral(value, style) for value in range(1, 600)]
    assert len(set(written)) == len(written)
