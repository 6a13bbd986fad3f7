"""Cutting contents into pieces."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proviso_service.context.selection.index import chunks

TEXTS = st.text(st.sampled_from("ab .;\n\t\u2003"), max_size=200)


@given(TEXTS, st.integers(1, 40))
def test_pieces_are_short_enough_and_hold_everything_in_order(text: str, max_chars: int) -> None:
    pieces = chunks(text, max_chars)
    assert all(0 < len(piece) <= max_chars for piece in pieces)
    assert "".join("".join(pieces).split()) == "".join(text.split())


@given(TEXTS)
def test_words_that_are_short_enough_stay_whole(text: str) -> None:
    longest = max(map(len, text.split()), default=1)
    assert " ".join(chunks(text, longest)).split() == text.split()


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("", []),
        (" \n\n \n", []),
        ("One. Two. Three.", ["One. Two.", "Three."]),
        ("One.\n\nTwo.", ["One.", "Two."]),
        ("One\nline", ["One line"]),
        ("- one\n- two\n- three", ["- one", "- two", "- three"]),
        ("a sentence of more", ["a sentence", "of more"]),
        ("abcdefghijklmn", ["abcdefghij", "klmn"]),
    ],
)
def test_pieces_of_ten_characters(text: str, pieces: list[str]) -> None:
    assert chunks(text, 10) == pieces
