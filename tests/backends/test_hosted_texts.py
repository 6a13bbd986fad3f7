"""Tests of how texts are written and divided into calls."""

from hypothesis import given
from hypothesis import strategies as st

from proviso_service.backends.hosted_texts import HEADING_CHARS, MAX_CHARS_PER_CALL, batches, plain, with_headings
from proviso_service.backends.isaacus.passages import code_points
from proviso_service.models import ModelPassage

ANY_TEXT = st.text(alphabet=st.characters())


@given(st.lists(st.integers(0, 250_000), max_size=12), st.integers(1, 5))
def test_batches_hold_every_text_once_and_as_many_as_may(lengths: list[int], most: int) -> None:
    texts = ["x" * length for length in lengths]
    parts = list(batches(texts, most))
    assert [text for part in parts for text in texts[part]] == texts
    for part in parts:
        chars, count = sum(lengths[part]), part.stop - part.start
        assert 1 <= count <= most
        assert chars <= MAX_CHARS_PER_CALL or count == 1
        if part.stop < len(texts) and count < most:
            assert chars + lengths[part.stop] > MAX_CHARS_PER_CALL


@given(ANY_TEXT)
def test_what_is_sent_can_be_encoded_and_is_not_blank(text: str) -> None:
    assert plain(text).strip()
    plain(text).encode()


@given(ANY_TEXT)
def test_positions_of_a_text_sent_as_it_is_are_its_own(text: str) -> None:
    sent = code_points(text)
    sent.encode()
    assert [a == b or "\ud800" <= a <= "\udfff" for a, b in zip(text, sent, strict=True)].count(False) == 0


def test_long_headings_keep_their_innermost_part() -> None:
    written = with_headings(ModelPassage("It ends.", ("x" * 1_000, "9. Term")))
    assert written.endswith(" / 9. Term\n\nIt ends.")
    assert len(written) == HEADING_CHARS + len("\n\nIt ends.")


def test_blank_headings_are_left_out() -> None:
    assert with_headings(ModelPassage("It ends.", ("", " "))) == "It ends."
