"""Word files that are broken, hostile or something else: a reason a person understands, in bounded time and memory."""

import io
import tracemalloc
import zipfile
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proviso_service.reading import docx_package
from proviso_service.reading.docx import parse_docx
from proviso_service.reading.docx_package import Package
from proviso_service.reading.docx_xml import body_blocks
from proviso_service.reading.model import ReadingLimits, UnreadableFile
from tests.support.docx_files import made_with_word, package, paragraph, zipped

_LIMITS = ReadingLimits()
_WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"


def _refused(content: bytes) -> str:
    with pytest.raises(UnreadableFile) as caught:
        parse_docx(content, _LIMITS)
    return caught.value.message


def _document(inside: str, prolog: str = "") -> bytes:
    return package("", document=f'{prolog}<w:document xmlns:w="{_WORD}"><w:body>{inside}</w:body></w:document>')


def _ordinary() -> bytes:
    def fill(document: Any) -> None:
        for index in range(50):
            document.add_paragraph(f"Clause {index} of an ordinary agreement.")

    return made_with_word(fill)


def _with_flag(content: bytes, offset_after: bytes, position: int, flag: int) -> bytes:
    changed = bytearray(content)
    at = -1
    while (at := content.find(offset_after, at + 1)) >= 0:
        changed[at + position] |= flag
    return bytes(changed)


def _member_at(content: bytes, name: str) -> int:
    """Where the directory's entry of a member begins."""
    at = content.rindex(name.encode())
    return content.rindex(b"PK\x01\x02", 0, at)


def test_bytes_that_are_no_archive() -> None:
    assert "damaged or incomplete" in _refused(b"This is not a Word document.")
    assert "damaged or incomplete" in _refused(b"PK\x03\x04 and then nothing")


def test_an_upload_that_was_cut_off_is_damaged_wherever_it_ends() -> None:
    content = _ordinary()
    for share in (0.1, 0.5, 0.9, 0.999):
        assert "damaged or incomplete" in _refused(content[: int(len(content) * share)])


def test_a_part_whose_bytes_were_changed_is_damaged() -> None:
    content = _ordinary()
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        start = archive.getinfo("word/document.xml").header_offset
    changed = content[: start + 300] + b"\0" * 40 + content[start + 340 :]
    assert "damaged or incomplete" in _refused(changed)


def test_an_archive_of_something_else_is_named_so() -> None:
    assert "without a Word document" in _refused(zipped({"xl/workbook.xml": b"<workbook/>"}))
    assert "without a Word document" in _refused(zipped({"readme.txt": b"hello"}))
    assert "without a Word document" in _refused(zipped({}))


def test_an_encrypted_archive_is_protected_by_a_password() -> None:
    content = _with_flag(package(paragraph("x")), b"PK\x01\x02", 8, 1)
    assert "protected by a password" in _refused(content)


def test_unusual_compression_is_not_unpacked() -> None:
    file = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(package(paragraph("x")))) as source, zipfile.ZipFile(file, "w") as target:
        for name in source.namelist():
            target.writestr(name, source.read(name), compress_type=zipfile.ZIP_BZIP2)
    assert "damaged or incomplete" in _refused(file.getvalue())


def test_a_part_that_unpacks_to_too_much_is_refused_by_the_size_it_declares(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(docx_package, "MAX_INFLATED_BYTES", 8 * 2**20)
    bomb = package("", parts={"word/document.xml": b" " * (8 * 2**20 + 1)})
    assert len(bomb) < 20_000
    assert "unpacks to more than 8 MB" in _refused(bomb)


def test_a_part_that_unpacks_to_more_than_it_declares_is_damaged() -> None:
    content = bytearray(_document(paragraph("x" * 50) * 1_000))
    entry = _member_at(bytes(content), "word/document.xml")
    content[entry + 24 : entry + 28] = (30_000).to_bytes(4, "little")
    assert "damaged or incomplete" in _refused(bytes(content))


def test_many_parts_that_unpack_to_too_much_together_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(docx_package, "MAX_INFLATED_BYTES", 1_000_000)
    filler = f'<w:hdr xmlns:w="{_WORD}">{" " * 200_000}</w:hdr>'.encode()
    relations = "".join(f'<Relationship Type="x/header" Target="header{n}.xml"/>' for n in range(10))
    root = f'<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">{relations}</Relationships>'
    parts = {f"word/header{n}.xml": filler for n in range(10)} | {"word/_rels/document.xml.rels": root.encode()}
    assert "unpacks to more than" in _refused(package(paragraph("x"), parts=parts))


def test_a_bomb_that_no_part_refers_to_is_never_unpacked() -> None:
    content = package(paragraph("Fine"), parts={"word/media/image1.bmp": b"\0" * 60_000_000})
    tracemalloc.start()
    try:
        assert parse_docx(content, _LIMITS).text == "Fine"
        assert tracemalloc.get_traced_memory()[1] < 20_000_000
    finally:
        tracemalloc.stop()


def test_an_archive_of_too_many_members_is_refused_before_its_directory_is_read() -> None:
    content = package(paragraph("x"), parts={f"word/media/{n}": b"" for n in range(docx_package.MAX_MEMBERS)})
    assert "more than 10,000 parts" in _refused(content)


@pytest.mark.parametrize(
    "declaration",
    [
        '<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;"><!ENTITY c "&b;&b;&b;&b;&b;">]>',
        '<!DOCTYPE x [<!ENTITY c SYSTEM "file:///etc/hostname">]>',
        '<!DOCTYPE x [<!ENTITY c SYSTEM "http://127.0.0.1:9/x">]>',
        '<!DOCTYPE x SYSTEM "http://127.0.0.1:9/x.dtd">',
    ],
)
def test_entities_are_never_resolved(declaration: str) -> None:
    inside = paragraph("&c;") if "ENTITY c" in declaration else paragraph("x")
    assert "declares XML entities" in _refused(_document(inside, declaration))


def test_entities_in_other_parts_are_refused_too() -> None:
    styles = f'<!DOCTYPE x [<!ENTITY a "b">]><w:styles xmlns:w="{_WORD}">&a;</w:styles>'
    assert "declares XML entities" in _refused(package(paragraph("x"), parts={"word/styles.xml": styles.encode()}))


def test_xml_nested_a_hundred_thousand_levels_deep_is_refused() -> None:
    deep = "<w:ins>" * 100_000 + "<w:r><w:t>x</w:t></w:r>" + "</w:ins>" * 100_000
    assert "nested too deeply" in _refused(_document(f"<w:p>{deep}</w:p>"))


def test_xml_as_deep_as_is_accepted_is_read_without_recursion() -> None:
    deep = "<w:sdt><w:sdtContent>" * 100 + paragraph("deep") + "</w:sdtContent></w:sdt>" * 100
    tables = "<w:tbl><w:tr><w:tc>" * 70 + paragraph("cell") + "</w:tc></w:tr></w:tbl>" * 70
    assert parse_docx(_document(deep + tables), _LIMITS).text == "deep\n\ncell"


def test_markup_that_is_no_xml_is_damaged() -> None:
    assert "damaged or incomplete" in _refused(package("", document="<w:document><w:body>"))
    assert "damaged or incomplete" in _refused(package("", document="just words"))
    assert "damaged or incomplete" in _refused(package("", document="<html/>"))
    assert "damaged or incomplete" in _refused(package("", parts={"word/document.xml": b""}))


def test_a_missing_main_part_is_named_so() -> None:
    content = zipped({"word/styles.xml": b"<x/>", "[Content_Types].xml": b"<Types/>"})
    assert "without a Word document" in _refused(content)


def test_the_main_part_is_found_where_the_package_says() -> None:
    relation = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument"
    root = (
        '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
        f'<Relationship Id="1" Type="{relation}" Target="/word/document2.xml"/></Relationships>'
    )
    main = f'<w:document xmlns:w="{_WORD}"><w:body>{paragraph("Found")}</w:body></w:document>'
    assert (
        parse_docx(zipped({"_rels/.rels": root.encode(), "word/document2.xml": main.encode()}), _LIMITS).text == "Found"
    )


def test_parts_that_point_outside_the_package_are_not_followed() -> None:
    relations = (
        '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
        '<Relationship Type="x/styles" Target="../../../../etc/passwd"/>'
        '<Relationship Type="x/footer" Target="http://127.0.0.1:9/f.xml" TargetMode="External"/></Relationships>'
    )
    content = package(paragraph("x"), parts={"word/_rels/document.xml.rels": relations.encode()})
    assert parse_docx(content, _LIMITS).text == "x"


def test_the_body_is_never_held_as_a_whole() -> None:
    with Package(_document(paragraph("x") * 3_000)).open("word/document.xml") as part:
        held = [len(list(block.getparent())) for block in body_blocks(part)]
    assert len(held) == 3_000
    # Of what has been read, the last block only.
    assert held[-1] == 2


_SAMPLE = package(paragraph("Some text of an agreement.") * 20, styles="<w:style/>", numbering="<w:num/>")


@settings(max_examples=300, deadline=None)
@given(st.lists(st.tuples(st.integers(0, len(_SAMPLE) - 1), st.integers(0, 255)), min_size=1, max_size=6))
def test_a_file_with_any_bytes_changed_is_read_or_refused(changes: list[tuple[int, int]]) -> None:
    content = bytearray(_SAMPLE)
    for position, byte in changes:
        content[position] = byte
    with suppress(UnreadableFile):
        assert len(parse_docx(bytes(content), _LIMITS).text) < 10_000
