"""Bytes to text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proviso_service.reading.model import ReadingLimits, UnreadableFile
from proviso_service.reading.plain import decode

# Text that survives: no NUL, no line ends but newline, no byte order mark at the start.
_TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\0\r"), max_size=30).filter(
    lambda text: text[:1] != "\ufeff"
)


@given(_TEXT)
def test_utf8_is_read_with_and_without_mark(text: str) -> None:
    assert decode(b"\xef\xbb\xbf" + text.encode(), ReadingLimits()) == text


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
@given(text=_TEXT)
def test_utf16_is_read_with_its_mark(encoding: str, text: str) -> None:
    assert decode(("\ufeff" + text).encode(encoding), ReadingLimits()) == text


def test_every_line_end_becomes_one_newline() -> None:
    assert decode(b"a\r\nb\rc\nd\r\n\r\ne", ReadingLimits()) == "a\nb\nc\nd\n\ne"


def test_half_characters_are_replaced() -> None:
    assert decode(b"\xff\xfea\0\x00\xd8b\0", ReadingLimits()) == "a\ufffdb"


def test_a_few_control_characters_do_no_harm() -> None:
    text = "The rent is due.\x07 " * 10 + "\x1b[1mTerm\x1b[0m\x0c\x1a"
    assert decode(text.encode() + b"." * 400, ReadingLimits()) == text + "." * 400


def test_a_text_over_the_limit_is_refused() -> None:
    assert decode(b"12345", ReadingLimits(max_text_chars=5)) == "12345"
    with pytest.raises(UnreadableFile, match="longer than 5 characters"):
        decode(b"123456", ReadingLimits(max_text_chars=5))


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"abc\xff\xfe", "not readable text (byte 4)"),
        ("Fran\u00e7ois".encode("cp1252"), "UTF-8"),
        (b"a\0b", "binary data"),
        (b"\x7fELF\x02\x01\x01" + bytes(range(1, 9)) * 9, "binary data"),
        (b"MZ\x90\0\x03\0\0\0\xff\xff", "binary data"),
        (b"\xff\xfea", "not readable text"),
    ],
)
def test_what_is_not_text_is_refused_with_the_reason(content: bytes, reason: str) -> None:
    with pytest.raises(UnreadableFile) as refused:
        decode(content, ReadingLimits())
    assert reason in refused.value.message
