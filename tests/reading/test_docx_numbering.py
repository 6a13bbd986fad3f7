"""The numbers that Word shows before paragraphs."""

import pytest

from proviso_service.reading.docx import parse_docx
from proviso_service.reading.model import ReadingLimits
from tests.support.docx_files import definition, level, numbered, package, paragraph, use

_LEGAL = definition(
    level(0, "%1."),
    level(1, "%1.%2"),
    level(2, "(%3)", "lowerLetter"),
    level(3, "(%4)", "lowerRoman"),
)


def _lines(body: str, numbering: str = _LEGAL + use(), styles: str = "") -> list[str]:
    text = parse_docx(package(body, numbering=numbering, styles=styles), ReadingLimits()).text
    return [line for line in text.split("\n") if line]


def _outline(body: str, numbering: str = _LEGAL + use(), styles: str = "") -> list[tuple[int, str]]:
    parsed = parse_docx(package(body, numbering=numbering, styles=styles), ReadingLimits())
    return [(heading.level, heading.title) for heading in parsed.headings]


def test_clauses_are_counted_and_start_again_under_the_next() -> None:
    body = (
        numbered("Term")
        + numbered("It begins.", 1)
        + numbered("now", 2)
        + numbered("at once", 3)
        + numbered("later", 2)
        + numbered("It ends.", 1)
        + numbered("never", 2)
        + numbered("Fees")
        + numbered("They are due.", 1)
    )
    assert _lines(body) == [
        *("1. Term", "1.1 It begins.", "(a) now", "(i) at once", "(b) later", "1.2 It ends.", "(a) never"),
        *("2. Fees", "2.1 They are due."),
    ]


def test_text_between_the_items_of_a_list_does_not_end_it() -> None:
    assert _lines(numbered("one") + paragraph("between") + numbered("two")) == ["1. one", "between", "2. two"]


def test_empty_paragraphs_are_counted_but_not_read() -> None:
    assert _lines(numbered("one") + numbered("") + numbered("three")) == ["1. one", "3. three"]


def test_a_level_above_that_was_never_used_shows_its_start() -> None:
    assert _lines(numbered("first", 1) + numbered("second", 1)) == ["1.1 first", "1.2 second"]


@pytest.mark.parametrize(
    ("text", "style", "start", "shown"),
    [
        ("%1)", "upperRoman", 4, "IV) x"),
        ("%1.", "decimalZero", 1, "01. x"),
        ("Article %1:", "cardinalText", 2, "Article Two: x"),
        ("%1", "ordinal", 3, "3rd x"),
        ("Section %1.01", "decimal", 7, "Section 7.01 x"),
        ("\uf0b7", "bullet", 1, "- x"),
        ("%1", "none", 1, "x"),
        ("", "decimal", 1, "x"),
        ("%1.", "unheardOf", 1, "1. x"),
    ],
)
def test_formats_of_numbers(text: str, style: str, start: int, shown: str) -> None:
    assert _lines(numbered("x"), definition(level(0, text, style, start=start)) + use()) == [shown]


def test_a_number_may_stand_close_to_its_text() -> None:
    numbering = definition(level(0, "%1.", suffix='<w:suff w:val="nothing"/>')) + use()
    assert _lines(numbered("x"), numbering) == ["1.x"]


def test_legal_levels_show_decimals_where_others_are_roman() -> None:
    numbering = definition(level(0, "ARTICLE %1", "upperRoman"), level(1, "%1.%2", more="<w:isLgl/>")) + use()
    body = numbered("ONE") + numbered("TWO") + numbered("Fees", 1)
    assert _lines(body, numbering) == ["ARTICLE I ONE", "ARTICLE II TWO", "2.1 Fees"]


def test_a_level_may_count_on_through_the_whole_document() -> None:
    numbering = definition(level(0, "%1."), level(1, "%2)", more='<w:lvlRestart w:val="0"/>')) + use()
    body = numbered("A") + numbered("a", 1) + numbered("B") + numbered("b", 1)
    assert _lines(body, numbering) == ["1. A", "1) a", "2. B", "2) b"]


def test_a_level_may_start_again_only_after_a_level_further_up() -> None:
    numbering = (
        definition(level(0, "%1."), level(1, "%1.%2"), level(2, "(%3)", more='<w:lvlRestart w:val="1"/>')) + use()
    )
    body = numbered("A") + numbered("x", 1) + numbered("p", 2) + numbered("y", 1) + numbered("q", 2) + numbered("B")
    assert _lines(body + numbered("r", 2), numbering) == ["1. A", "1.1 x", "(1) p", "1.2 y", "(2) q", "2. B", "(1) r"]


def test_lists_of_one_definition_count_on_unless_one_has_a_start_of_its_own() -> None:
    restart = '<w:lvlOverride w:ilvl="0"><w:startOverride w:val="5"/></w:lvlOverride>'
    numbering = definition(level(0, "%1.")) + use(1) + use(2) + use(3, overrides=restart)
    body = numbered("a") + numbered("b", list_id=2) + numbered("c", list_id=3) + numbered("d", list_id=3)
    assert _lines(body, numbering) == ["1. a", "2. b", "5. c", "6. d"]


def test_a_list_may_replace_a_level_of_its_definition() -> None:
    override = f'<w:lvlOverride w:ilvl="0">{level(0, "(%1)", "upperLetter")}</w:lvlOverride>'
    assert _lines(numbered("a"), definition(level(0, "%1.")) + use(1, overrides=override)) == ["(A) a"]


def test_styles_number_their_paragraphs_also_by_inheritance() -> None:
    styles = (
        '<w:style w:type="paragraph" w:styleId="Clause"><w:pPr><w:numPr><w:numId w:val="1"/></w:numPr></w:pPr>'
        "</w:style>"
        '<w:style w:type="paragraph" w:styleId="Sub"><w:pPr><w:numPr><w:ilvl w:val="1"/><w:numId w:val="1"/></w:numPr>'
        '</w:pPr></w:style><w:style w:type="paragraph" w:styleId="Mine"><w:basedOn w:val="Sub"/></w:style>'
    )

    def styled(text: str, style: str, more: str = "") -> str:
        return paragraph(text, properties=f'<w:pStyle w:val="{style}"/>{more}')

    off = '<w:numPr><w:numId w:val="0"/></w:numPr>'
    body = styled("A", "Clause") + styled("b", "Sub") + styled("c", "Mine") + styled("plain", "Mine", off)
    assert _lines(body, styles=styles) == ["1. A", "1.1 b", "1.2 c", "plain"]


def test_a_style_without_a_level_takes_the_one_that_names_it() -> None:
    numbering = definition(level(0, "%1."), level(1, "%1.%2", more='<w:pStyle w:val="Sub"/>')) + use()
    styles = (
        '<w:style w:type="paragraph" w:styleId="Sub"><w:pPr><w:numPr><w:numId w:val="1"/></w:numPr></w:pPr></w:style>'
    )
    body = numbered("A") + paragraph("b", properties='<w:pStyle w:val="Sub"/>')
    assert _lines(body, numbering, styles) == ["1. A", "1.1 b"]


def test_a_definition_may_be_that_of_a_numbering_style() -> None:
    numbering = (
        '<w:abstractNum w:abstractNumId="0"><w:numStyleLink w:val="Legal"/></w:abstractNum>'
        + definition(level(0, "%1)"), definition_id=1)
        + use(1, 0)
        + use(2, 1)
    )
    styles = (
        '<w:style w:type="numbering" w:styleId="Legal"><w:pPr><w:numPr><w:numId w:val="2"/></w:numPr></w:pPr></w:style>'
    )
    assert _lines(numbered("a"), numbering, styles) == ["1) a"]


def test_deleted_paragraphs_are_not_counted() -> None:
    deleted = '<w:rPr><w:del w:id="1"/></w:rPr><w:numPr><w:ilvl w:val="0"/><w:numId w:val="1"/></w:numPr>'
    body = (
        numbered("one")
        + paragraph(properties=deleted, content='<w:del w:id="2"><w:r><w:delText>gone</w:delText></w:r></w:del>')
        + numbered("two")
    )
    assert _lines(body) == ["1. one", "2. two"]


def test_bullets_follow_one_another_line_by_line() -> None:
    numbering = definition(level(0, "\uf0b7", "bullet")) + use()
    text = parse_docx(
        package(paragraph("x") + numbered("a") + numbered("b"), numbering=numbering), ReadingLimits()
    ).text
    assert text == "x\n\n- a\n- b"


def test_numbers_stand_in_cells_and_before_headings() -> None:
    styles = (
        '<w:style w:type="paragraph" w:styleId="H1"><w:name w:val="heading 1"/><w:pPr><w:numPr><w:numId w:val="1"/>'
        '</w:numPr><w:outlineLvl w:val="0"/></w:pPr></w:style>'
    )
    heading = paragraph("Fees", properties='<w:pStyle w:val="H1"/>')
    table = f"<w:tbl><w:tr><w:tc>{numbered('cell', 1)}</w:tc><w:tc>{paragraph('x')}</w:tc></w:tr></w:tbl>"
    assert _lines(heading + table, styles=styles) == ["1. Fees", "1.1 cell | x"]
    assert _outline(heading + table, styles=styles) == [(1, "1. Fees")]


def test_numbered_clauses_open_with_their_title() -> None:
    body = (
        numbered("Governing Law. This Agreement is governed by the laws of Oregon.")
        + numbered("Courts. The courts of Oregon decide.", 1)
        + numbered("Appeal. There is none.", 2)
        + numbered("the party shall pay", 2)
    )
    assert _outline(body) == [(3, "1. Governing Law"), (4, "1.1 Courts"), (5, "(a) Appeal")]


@pytest.mark.parametrize(
    "numbering",
    [
        use(),
        definition(level(0, "%1.")),
        definition(level(0, "%9.%1", start=999_999_999)) + use(),
        definition(level(0, "%1", "lowerLetter", start=999_999_999)) + use(),
        definition(level(12, "%1.")) + use(),
        definition(level(0, "%1." * 10_000)) + use(),
        '<w:abstractNum w:abstractNumId="0"><w:numStyleLink w:val="None"/></w:abstractNum>' + use(),
        '<w:abstractNum/><w:num/><w:num w:numId="1"/>',
    ],
)
def test_definitions_that_make_no_sense_cost_a_number_not_the_text(numbering: str) -> None:
    (line,) = _lines(numbered("text"), numbering)
    assert line.endswith("text")
    assert len(line) < 1_000


def test_levels_that_are_no_numbers_are_the_first() -> None:
    properties = '<w:numPr><w:ilvl w:val="one"/><w:numId w:val="1"/></w:numPr>'
    too_deep = '<w:numPr><w:ilvl w:val="99"/><w:numId w:val="1"/></w:numPr>'
    body = paragraph("a", properties=properties) + paragraph("b", properties=too_deep)
    assert _lines(body) == ["1. a", "b"]
