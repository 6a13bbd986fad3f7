"""Passages fall into sentences and items, each where it stands."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from proviso_service.embedded.pieces import Piece, pieces_of, sayings_of

_PARTS = st.sampled_from(
    ["Tenant shall pay rent. ", "\n\n", "\n(a) ", "12.1 ", "; ", "Inc. ", "x" * 1_000, " \t", "- "]
)


def texts(text: str) -> list[str]:
    return [piece.text for piece in pieces_of(text)]


def test_sentences_and_items_are_cut_without_their_marks() -> None:
    text = "3.2 Tenant shall pay Acme Inc. monthly. Late rent bears interest.\n(a) The rate is 5%.\n\n- No rent in May."
    assert texts(text) == [
        "Tenant shall pay Acme Inc. monthly.",
        "Late rent bears interest.",
        "The rate is 5%.",
        "No rent in May.",
    ]


def test_items_that_are_numbered_within_a_paragraph_are_pieces() -> None:
    text = (
        "The fee is due monthly; 2.Acme will edit photos within 14 days; (3) Beta keeps the files; 4 days are enough."
    )
    assert texts(text)[:2] == ["The fee is due monthly;", "2.Acme will edit photos within 14 days;"]
    assert texts(text)[2].startswith("Beta keeps the files;")


def test_a_long_sentence_is_cut_after_a_mark() -> None:
    part = "the tenant shall keep the house and the garden in good order and repair"
    text = "; ".join([part] * 30) + "."
    found = texts(text)
    assert len(found) > 1
    assert all(len(one) <= 900 for one in found)
    assert all(one.endswith(";") for one in found[:-1])


def test_titles_state_nothing() -> None:
    for title in ("GOVERNING LAW", "Limitation of Liability", "Term and Termination."):
        assert Piece(0, len(title), title).is_title
    for sentence in ("Tenant pays rent.", "The term is five years."):
        assert not Piece(0, len(sentence), sentence).is_title


@given(st.text(max_size=300) | st.lists(_PARTS | st.text(max_size=30), max_size=15).map("".join))
def test_pieces_stand_where_they_say_in_order(text: str) -> None:
    pieces = pieces_of(text)
    for piece in pieces:
        assert text[piece.start : piece.end] == piece.text == piece.text.strip()
        assert 0 < len(piece.text) <= 900
    assert all(one.end <= other.start for one, other in pairwise(pieces))


def test_an_item_of_a_list_is_read_with_the_words_that_open_the_list() -> None:
    text = "9. House Rules\n\nThe Tenant shall not:\n(a) keep any pets;\n(b) sublet a room.\n\nThe Landlord repairs it."
    assert sayings_of(text) == [
        "The Tenant shall not: keep any pets;",
        "The Tenant shall not: sublet a room.",
        "The Landlord repairs it.",
    ]
