"""The encoding of a web page."""

import codecs
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proviso_service.reading.html_tree import decode_html
from proviso_service.reading.model import UnreadableFile

_QUOTED = "\u201cAgreement\u201d \u2013 \u20ac5"


def test_a_byte_order_mark_decides_before_a_declaration() -> None:
    page = f'<meta charset="iso-8859-1">{_QUOTED}'
    assert decode_html(codecs.BOM_UTF8 + page.encode()) == page
    assert decode_html(codecs.BOM_UTF16_LE + page.encode("utf-16-le")) == page
    assert decode_html(codecs.BOM_UTF16_BE + page.encode("utf-16-be")) == page


@pytest.mark.parametrize(
    ("declaration", "encoding"),
    [
        ('<meta charset="utf-8">', "utf-8"),
        ("<META CHARSET=UTF-8>", "utf-8"),
        ('<meta charset="windows-1252">', "windows-1252"),
        ('<meta charset="iso-8859-1">', "windows-1252"),
        ('<meta charset="us-ascii">', "windows-1252"),
        ('<meta http-equiv="Content-Type" content="text/html; charset=ISO-8859-1">', "windows-1252"),
        ('<meta charset="utf-16">', "utf-8"),
        ('<meta charset="no-such-encoding">', "utf-8"),
        ('<meta charset="utf-7">', "utf-8"),
        ('<meta charset="unicode_escape">', "utf-8"),
        ('<!-- <meta charset="koi8-r"> -->', "utf-8"),
        ('<?xml version="1.0" encoding="windows-1252"?>', "windows-1252"),
        ("", "utf-8"),
        ("", "windows-1252"),
    ],
)
def test_declared_encodings_are_read_as_browsers_do(declaration: str, encoding: str) -> None:
    page = f"{declaration}<p>{_QUOTED}</p>"
    assert decode_html(page.encode(encoding)) == page


@pytest.mark.parametrize(
    ("label", "encoding", "text"),
    [
        ("gb2312", "gb18030", "合同"),
        ("Shift_JIS", "cp932", "契約"),
        ("ks_c_5601-1987", "cp949", "계약"),
        ("big5", "big5", "合約"),
        ("koi8-r", "koi8-r", "договор"),
        ("windows-1251", "cp1251", "договор"),
        ("iso-8859-2", "iso-8859-2", "umowa ł"),
        ("iso-8859-15", "iso-8859-15", "5 €"),
    ],
)
def test_encodings_of_other_scripts(label: str, encoding: str, text: str) -> None:
    assert text in decode_html(f'<meta charset="{label}">'.encode() + text.encode(encoding))


def test_a_declaration_far_down_is_not_looked_for() -> None:
    page = " " * 1024 + f'<meta charset="windows-1252">{_QUOTED}'
    assert decode_html(page.encode()) == page


def test_wrong_bytes_cost_a_character_not_the_page() -> None:
    assert decode_html(b'<meta charset="utf-8">a\xffb').endswith("a\ufffdb")


def test_binary_data_is_refused() -> None:
    with pytest.raises(UnreadableFile, match="binary data"):
        decode_html(b"<html>\x00\x01\x02")


@given(st.binary(max_size=200), st.sampled_from([b"", b'<meta charset="gbk">', b"\xff\xfe", b"<?xml encoding='x'"]))
def test_any_bytes_are_decoded_or_refused(content: bytes, start: bytes) -> None:
    page = start + content
    with suppress(UnreadableFile):
        assert "\0" not in decode_html(page)
