"""Bytes to text."""

from unicodedata import category

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proviso_service.reading.canonical import readable, without_invisible
from proviso_service.reading.model import ReadingLimits, UnreadableFile
from proviso_service.reading.plain import decode

# Text that survives: no NUL, no line ends but newline, nothing that cannot be seen.
_TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\0\r"), max_size=30).map(without_invisible)


@given(_TEXT)
def test_utf8_is_read_with_and_without_mark(text: str) -> None:
    assert decode(b"\xef\xbb\xbf" + text.encode(), ReadingLimits()) == text


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
@given(text=_TEXT)
def test_utf16_is_read_with_its_mark(encoding: str, text: str) -> None:
    assert decode(("\ufeff" + text).encode(encoding), ReadingLimits()) == text


def test_every_line_end_becomes_one_newline() -> None:
    assert decode(b"a\r\nb\rc\nd\r\n\r\ne", ReadingLimits()) == "a\nb\nc\nd\n\ne"


def test_what_cannot_be_seen_is_left_out_and_everything_else_stays() -> None:
    """As it is in the other formats."""
    formats = [chr(code) for code in range(0x110000) if category(chr(code)) == "Cf"]
    hidden = "".join(one for one in formats if not without_invisible(one))
    assert {one for one in map(chr, range(0xA0, 0x10000)) if not readable(one)} <= set(hidden)
    assert {"\u200b", "\u202e", "\u2066", "\ufeff", "\u00ad", "\U000e0041"} <= set(hidden)
    kept = "The fee is \u20ac\u00a0100 (caf\u00e9, \u05e9\u05dc\u05d5\u05dd, \ufb01t)."
    mixed = hidden.join(kept)
    assert decode(mixed.encode(), ReadingLimits()) == kept


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645", "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645"),
        ("\u0915\u094d\u200d\u0937", "\u0915\u094d\u200d\u0937"),
        ("\U0001f468\U0001f3fd\u200d\u2696\ufe0f", "\U0001f468\U0001f3fd\u200d\u2696\ufe0f"),
        ("\u2764\ufe0f\u200d\U0001f525", "\u2764\ufe0f\u200d\U0001f525"),
        ("\u0645\u200c\u200d\u200b\u200c\u0645", "\u0645\u200c\u0645"),
        ("Ten\u200dant", "Tenant"),
        ("Mi\u00e9\u200cte \u0645\u200c, \u200c\u0645", "Mi\u00e9te \u0645, \u0645"),
        ("a\u200c\u0645\u200db", "a\u0645b"),
        ("\u200d", ""),
    ],
)
def test_one_joiner_stays_between_characters_that_it_joins_or_parts(text: str, kept: str) -> None:
    assert decode(text.encode(), ReadingLimits()) == kept
    assert without_invisible(kept) == kept


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
