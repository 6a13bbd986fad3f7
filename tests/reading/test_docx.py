"""Word documents: what is read, and how it is laid out in the text."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proviso_service.reading.docx import parse_docx
from proviso_service.reading.model import ParsedDocument, ReadingLimits, UnreadableFile
from tests.support.docx_files import made_with_word, numbered, package, paragraph

_LIMITS = ReadingLimits()


def _parsed(content: bytes) -> ParsedDocument:
    return parse_docx(content, _LIMITS)


def _text(body: str, **parts: Any) -> str:
    return _parsed(package(body, **parts)).text


def _outline(parsed: ParsedDocument) -> list[tuple[int, str]]:
    return [(heading.level, heading.title) for heading in parsed.headings]


def test_paragraphs_and_tables_come_in_the_order_of_the_body() -> None:
    def fill(document: Any) -> None:
        document.add_paragraph("Before")
        table = document.add_table(2, 3)
        for cell, text in zip(table.rows[0].cells, ("Item", "Price", "Note"), strict=True):
            cell.text = text
        table.cell(1, 0).merge(table.cell(1, 1)).text = "Merged"
        document.add_paragraph("After")

    assert _parsed(made_with_word(fill)).text == "Before\n\nItem | Price | Note\nMerged | \n\nAfter"


def test_cells_merged_downwards_are_read_once_and_empty_cells_keep_their_place() -> None:
    def cell(text: str, merge: str = "") -> str:
        return f"<w:tc><w:tcPr>{merge}</w:tcPr>{paragraph(text)}</w:tc>"

    restart = '<w:vMerge w:val="restart"/>'
    body = (
        "<w:tbl>"
        f"<w:tr>{cell('Tall', restart)}{cell('a')}{cell('b')}</w:tr>"
        f"<w:tr>{cell('hidden below', '<w:vMerge/>')}{cell('')}{cell('c')}</w:tr>"
        "</w:tbl>"
    )
    assert _text(body) == "Tall | a | b\n |  | c"


def test_a_nested_table_is_read_with_its_cell_and_rows_in_content_controls_are_found() -> None:
    inner = f"<w:tbl><w:tr><w:tc>{paragraph('in')}</w:tc><w:tc>{paragraph('ner')}</w:tc></w:tr></w:tbl>"
    row = f"<w:tr><w:tc>{paragraph('out')}{inner}</w:tc><w:tc>{paragraph('side')}</w:tc></w:tr>"
    body = f"<w:tbl><w:sdt><w:sdtContent>{row}</w:sdtContent></w:sdt></w:tbl>"
    assert _text(body) == "out in ner | side"


def test_deleted_and_hidden_rows_are_left_out() -> None:
    def row(text: str, properties: str) -> str:
        cells = f"<w:tc>{paragraph(text)}</w:tc><w:tc>{paragraph('x')}</w:tc>"
        return f"<w:tr><w:trPr>{properties}</w:trPr>{cells}</w:tr>"

    assert (
        _text(f"<w:tbl>{row('kept', '')}{row('gone', '<w:del/>')}{row('unseen', '<w:hidden/>')}</w:tbl>") == "kept | x"
    )


def test_a_table_that_frames_paragraphs_is_read_as_paragraphs() -> None:
    body = f"<w:tbl><w:tr><w:tc>{paragraph('One.')}{paragraph('Two.')}</w:tc></w:tr></w:tbl>"
    assert _text(body) == "One.\n\nTwo."


def test_a_number_in_a_cell_of_its_own_stands_before_its_text() -> None:
    body = f"<w:tbl><w:tr><w:tc>{paragraph('(a)')}</w:tc><w:tc>{paragraph('The fee.')}</w:tc></w:tr></w:tbl>"
    assert _text(body) == "(a) The fee."


def test_insertions_are_in_and_deletions_out() -> None:
    body = paragraph(
        "The fee is ",
        content='<w:del w:id="1"><w:r><w:delText>ten</w:delText></w:r></w:del>'
        '<w:ins w:id="2"><w:r><w:t>twelve</w:t></w:r></w:ins><w:r><w:t xml:space="preserve"> dollars</w:t></w:r>'
        "<w:moveFrom><w:r><w:t>moved away</w:t></w:r></w:moveFrom><w:moveTo><w:r><w:t>.</w:t></w:r></w:moveTo>",
    )
    assert _text(body) == "The fee is twelve dollars."


def test_a_paragraph_whose_end_was_deleted_runs_on() -> None:
    deleted_mark = '<w:rPr><w:del w:id="1"/></w:rPr>'
    assert (
        _text(paragraph("The Supplier ", properties=deleted_mark) + paragraph("shall pay."))
        == "The Supplier shall pay."
    )
    assert _text(paragraph("The last", properties=deleted_mark)) == "The last"


def test_hidden_text_is_left_out_also_by_style() -> None:
    styles = '<w:style w:type="character" w:styleId="Secret"><w:rPr><w:vanish/></w:rPr></w:style>'
    body = (
        paragraph("hidden", run_properties="<w:vanish/>")
        + paragraph("secret", run_properties='<w:rStyle w:val="Secret"/>')
        + paragraph("shown", run_properties='<w:rStyle w:val="Secret"/><w:vanish w:val="0"/>')
    )
    assert _text(body, styles=styles) == "shown"


def test_fields_show_their_results_and_links_their_text() -> None:
    body = paragraph(
        "See clause ",
        content='<w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:instrText>REF _Ref1 \\r</w:instrText></w:r>'
        '<w:r><w:fldChar w:fldCharType="separate"/></w:r><w:r><w:t>12.3</w:t></w:r>'
        '<w:r><w:fldChar w:fldCharType="end"/></w:r><w:hyperlink><w:r><w:t xml:space="preserve"> at Acme</w:t></w:r>'
        '</w:hyperlink><w:fldSimple w:instr="DATE"><w:r><w:t>!</w:t></w:r></w:fldSimple>',
    )
    assert _text(body) == "See clause 12.3 at Acme!"


def test_content_controls_are_looked_through_at_every_level() -> None:
    body = (
        f"<w:sdt><w:sdtPr><w:alias w:val='x'/></w:sdtPr><w:sdtContent>{paragraph('Block')}"
        f"<w:sdt><w:sdtContent>{paragraph('Deep')}</w:sdtContent></w:sdt></w:sdtContent></w:sdt>"
        + paragraph("Name: ", content="<w:sdt><w:sdtContent><w:r><w:t>Acme</w:t></w:r></w:sdtContent></w:sdt>")
    )
    assert _text(body) == "Block\n\nDeep\n\nName: Acme"


def test_a_text_box_is_read_once_after_its_paragraph() -> None:
    box = f"<w:txbxContent>{paragraph('Boxed')}</w:txbxContent>"
    drawing = (
        f"<mc:AlternateContent><mc:Choice Requires='wps'><w:drawing><wps:txbx>{box}</wps:txbx></w:drawing></mc:Choice>"
        f"<mc:Fallback><w:pict><v:textbox>{box}</v:textbox></w:pict></mc:Fallback></mc:AlternateContent>"
    )
    body = paragraph("Before ", content=f"<w:r>{drawing}</w:r><w:r><w:t>and after.</w:t></w:r>") + paragraph("Next")
    assert _text(body) == "Before and after.\n\nBoxed\n\nNext"


def test_a_fallback_is_read_where_it_is_all_there_is() -> None:
    body = paragraph(
        content="<w:r><mc:AlternateContent><mc:Fallback><w:t>old</w:t></mc:Fallback></mc:AlternateContent></w:r>"
    )
    assert _text(body) == "old"


def test_tabs_breaks_and_signs_are_readable() -> None:
    body = paragraph(
        "A",
        content="<w:r><w:tab/><w:t>B</w:t><w:br/><w:t>C</w:t><w:noBreakHyphen/><w:t>D\u00a0\ufb01n</w:t><w:softHyphen/>"
        '<w:sym w:font="Wingdings" w:char="F0FE"/><w:sym w:font="x" w:char="E123"/><w:sym w:char="zz"/></w:r>'
        "<m:oMath><m:r><m:t>=x</m:t></m:r></m:oMath>",
    )
    assert _text(body) == "A B\nC-D fin\u2611=x"


def test_notes_leave_their_mark_and_follow_their_paragraph() -> None:
    notes = (
        '<w:footnote w:type="separator" w:id="-1"><w:p><w:r><w:t>---</w:t></w:r></w:p></w:footnote>'
        f'<w:footnote w:id="5">{paragraph(" As amended.")}</w:footnote>'
    )
    endnotes = f'<w:endnote w:id="2">{paragraph("At the end.")}</w:endnote>'
    body = (
        paragraph(
            "The Act",
            content='<w:r><w:footnoteReference w:id="5"/></w:r><w:r><w:t xml:space="preserve"> applies.</w:t></w:r>',
        )
        + paragraph("Again", content='<w:r><w:footnoteReference w:id="5"/><w:endnoteReference w:id="2"/></w:r>')
        + paragraph("Last")
    )
    assert _text(body, footnotes=notes, endnotes=endnotes) == (
        "The Act[1] applies.\n\n[1] As amended.\n\nAgain[2][i]\n\n[i] At the end.\n\nLast"
    )


def test_notes_of_a_table_follow_it() -> None:
    cells = "".join(
        "<w:tc>" + paragraph(text, content=f'<w:r><w:footnoteReference w:id="{note}"/></w:r>') + "</w:tc>"
        for text, note in (("a", 1), ("b", 2))
    )
    notes = "".join(f'<w:footnote w:id="{note}">{paragraph("Note " + str(note))}</w:footnote>' for note in (1, 2))
    assert _text(f"<w:tbl><w:tr>{cells}</w:tr></w:tbl>", footnotes=notes) == "a[1] | b[2]\n\n[1] Note 1\n\n[2] Note 2"


def test_running_headers_and_footers_are_furniture_once_each() -> None:
    def fill(document: Any) -> None:
        document.add_paragraph("Body text")
        document.sections[0].header.paragraphs[0].text = "Draft of May"
        document.sections[0].footer.paragraphs[0].text = "Confidential"
        second = document.add_section()
        second.header.is_linked_to_previous = False
        second.header.paragraphs[0].text = "Draft of May"

    parsed = _parsed(made_with_word(fill))
    assert parsed.text == "Body text\n\nDraft of May\n\nConfidential"
    assert [parsed.text[span.start : span.end] for span in parsed.furniture] == ["Draft of May", "Confidential"]
    assert parsed.pages == ()


def test_headings_are_known_by_style_by_outline_level_and_by_title() -> None:
    def fill(document: Any) -> None:
        document.add_heading("Master Agreement", 0)
        document.add_heading("Fees", 1)
        document.add_paragraph("Text")
        document.add_heading("Late payment", 2)
        document.add_paragraph("Text")

    assert _outline(_parsed(made_with_word(fill))) == [(1, "Master Agreement"), (2, "Fees"), (3, "Late payment")]
    own_level = package(paragraph("Term", properties='<w:outlineLvl w:val="1"/>') + paragraph("Text"))
    assert _outline(_parsed(own_level)) == [(2, "Term")]


def test_headings_of_a_translated_word_are_known_and_inherited() -> None:
    styles = (
        '<w:style w:type="paragraph" w:styleId="berschrift2"><w:name w:val="heading 2"/></w:style>'
        '<w:style w:type="paragraph" w:styleId="Eigene"><w:basedOn w:val="berschrift2"/></w:style>'
        '<w:style w:type="paragraph" w:styleId="A"><w:basedOn w:val="B"/></w:style>'
        '<w:style w:type="paragraph" w:styleId="B"><w:basedOn w:val="A"/></w:style>'
    )
    body = paragraph("Laufzeit", properties='<w:pStyle w:val="Eigene"/>') + paragraph(
        "text", properties='<w:pStyle w:val="A"/>'
    )
    assert _outline(_parsed(package(body, styles=styles))) == [(2, "Laufzeit")]


def test_a_clause_in_the_style_of_a_heading_is_text_under_its_own_title() -> None:
    long = "The Supplier shall deliver the goods in good time and in the quantities that were agreed."
    body = paragraph(long, properties='<w:pStyle w:val="Heading2"/>') + paragraph(
        "Text", properties='<w:pStyle w:val="Heading1"/>'
    )
    assert _outline(_parsed(package(body))) == [(1, "Text")]


def test_documents_without_styles_get_their_outline_from_their_text() -> None:
    body = (
        paragraph("SERVICES AGREEMENT", run_properties="<w:b/>")
        + paragraph("Between A and B.")
        + paragraph("9. Governing Law. This Agreement is governed by the laws of Oregon.")
        + paragraph("Notices", run_properties="<w:b/>")
        + paragraph("shall be sent", run_properties="<w:b/>")
    )
    assert _outline(_parsed(package(body))) == [(2, "SERVICES AGREEMENT"), (3, "9. Governing Law"), (2, "Notices")]


def test_a_table_of_contents_gives_no_headings() -> None:
    styles = '<w:style w:type="paragraph" w:styleId="TOC1"><w:name w:val="toc 1"/></w:style>'
    body = paragraph("1. Fees", properties='<w:pStyle w:val="TOC1"/>') + paragraph("Text.") + paragraph("1. Fees")
    parsed = _parsed(package(body, styles=styles))
    assert [heading.start for heading in parsed.headings] == [parsed.text.rindex("1. Fees")]


def test_documents_of_the_strict_format_are_read() -> None:
    assert _text(paragraph("Strict"), strict=True) == "Strict"


def test_a_document_without_text_is_empty() -> None:
    assert _text("") == ""


def test_a_text_box_on_a_paragraph_that_runs_on_is_not_lost() -> None:
    box = f"<w:r><w:pict><v:textbox><w:txbxContent>{paragraph('Boxed')}</w:txbxContent></v:textbox></w:pict></w:r>"
    body = paragraph("One ", properties='<w:rPr><w:del w:id="1"/></w:rPr>', content=box) + paragraph("line.")
    assert _text(body) == "Boxed\n\nOne line."


def test_titles_are_placed_exactly_beside_ligatures_and_soft_hyphens() -> None:
    body = numbered("De\ufb01ni\u00adtions. The O\ufb03ce is \u200bthe o\ufb03ce of the Bank.")
    parsed = _parsed(package(body, numbering=_LISTS))
    (heading,) = parsed.headings
    assert parsed.text == "1. Definitions. The Office is the office of the Bank."
    assert (heading.title, parsed.text[heading.start : heading.end]) == ("1. Definitions", "1. Definitions")


def test_the_text_limit_ends_reading() -> None:
    with pytest.raises(UnreadableFile, match="longer than 100 characters"):
        parse_docx(package(paragraph("word " * 10) * 3), ReadingLimits(max_text_chars=100))


_WORDS = st.text(st.sampled_from("Fees Term\t.\u00a0\u00ad\ufb01(a)1:;AB\u2028"), max_size=30)
_BODIES = st.lists(
    st.one_of(
        st.builds(paragraph, _WORDS),
        st.builds(numbered, _WORDS, st.integers(0, 3)),
        st.builds(
            lambda text, n: paragraph(text, properties=f'<w:outlineLvl w:val="{n}"/>'), _WORDS, st.integers(0, 9)
        ),
        st.builds(lambda text: paragraph(text, run_properties="<w:b/>"), _WORDS),
        st.builds(
            lambda a, b: f"<w:tbl><w:tr><w:tc>{paragraph(a)}</w:tc><w:tc>{paragraph(b)}</w:tc></w:tr></w:tbl>",
            _WORDS,
            _WORDS,
        ),
    ),
    max_size=8,
)
_LISTS = (
    '<w:abstractNum w:abstractNumId="0">'
    + "".join(
        f'<w:lvl w:ilvl="{n}"><w:numFmt w:val="decimal"/><w:lvlText w:val="{t}"/></w:lvl>'
        for n, t in enumerate(("%1.", "%1.%2", "(%3)", "-"))
    )
    + '</w:abstractNum><w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num>'
)


@settings(max_examples=150, deadline=None)
@given(_BODIES)
def test_every_heading_is_where_its_title_stands(body: list[str]) -> None:
    parsed = _parsed(package("".join(body), numbering=_LISTS))
    for heading in parsed.headings:
        assert " ".join(parsed.text[heading.start : heading.end].split()).startswith(heading.title)
        assert parsed.text[heading.start : heading.end].strip(" .,:;-") in parsed.text
    assert all(a.end <= b.start for a, b in zip(parsed.headings, parsed.headings[1:], strict=False))
