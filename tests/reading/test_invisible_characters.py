"""Characters that cannot be seen, in every format alike."""

from unicodedata import category

import pytest

from proviso_service.reading.canonical import CanonicalText, without_invisible
from proviso_service.reading.formats import HTML, MARKDOWN, PLAIN_TEXT, WORD, read_document
from proviso_service.reading.model import ReadDocument, ReadingLimits
from tests.support.docx_files import package, paragraph

LIMITS = ReadingLimits()
DIRECTIONS = "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
HIDDEN = (
    DIRECTIONS + "\u00ad\u180e\u200b\u200c\u200d\u2060\u2061\u2062\u2063\u2064\u206a\u206f\ufeff\U000e0041\U000e007f"
)
TITLE, CLAUSE = "1. Governing Law.", "This Agreement is governed by the laws of the State of Oregon."


def _hiding(words: str) -> str:
    return HIDDEN.join(words)


def _read(name: str, hide: bool) -> ReadDocument:
    title, clause = (_hiding(TITLE), _hiding(CLAUSE)) if hide else (TITLE, CLAUSE)
    files = {
        "plain": (PLAIN_TEXT, f"{title}\n\n{clause}\n".encode()),
        "markdown": (MARKDOWN, f"# {title}\n\n{clause}\n".encode()),
        "html": (HTML, f"<h1>{title}</h1><p>{clause}</p><table><tr><td>{clause}<td>x</table>".encode()),
        "word": (WORD, package(paragraph(title) + paragraph(clause) + paragraph(clause))),
    }
    fmt, content = files[name]
    return read_document(fmt.media_type, content, LIMITS)


@pytest.mark.parametrize("name", ["plain", "markdown", "html", "word"])
def test_no_format_keeps_them_and_offsets_are_those_of_the_stored_text(name: str) -> None:
    read = _read(name, hide=True)
    assert read == _read(name, hide=False)
    text = read.parsed.text
    assert not set(HIDDEN) & set(text)
    assert CLAUSE in text
    assert all(text[chunk.start : chunk.end] == chunk.text for chunk in read.chunks)


def test_texts_of_pdfs_follow_the_same_rule() -> None:
    """The fonts of a PDF may map a glyph to any character; its text becomes canonical as that of HTML and Word does."""
    text = CanonicalText(LIMITS)
    text.paragraph(_hiding(CLAUSE))
    assert text.finish().text == CLAUSE


def test_every_mark_of_direction_and_every_tag_goes() -> None:
    marks = [chr(code) for code in range(0x110000) if category(chr(code)) == "Cf"]
    left = {mark for mark in marks if without_invisible(f"a{mark}b") != "ab"}
    assert not {mark for mark in left if mark in DIRECTIONS or "\U000e0000" <= mark <= "\U000e00ff"}
    # What is left is seen, or belongs to the notation of numbers, music, shorthand and hieroglyphs.
    assert {hex(ord(mark) >> 8) for mark in left} <= {"0x6", "0x7", "0x8", "0xff", "0x110", "0x134", "0x1bc", "0x1d1"}


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("\u2764\ufe0f", "\u2764\ufe0f"),
        ("\u845b\U000e0100", "\u845b\U000e0100"),
        ("\u2764\ufe0f\U000e0158\U000e0161\ufe01", "\u2764\ufe0f"),
    ],
)
def test_of_a_row_of_variation_selectors_one_stays(text: str, kept: str) -> None:
    assert without_invisible(text) == kept
