"""Web pages: the text that a browser shows."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proviso_service.reading.html import parse_html
from proviso_service.reading.model import ParsedDocument, ReadingLimits, UnreadableFile


def _parsed(page: str) -> ParsedDocument:
    return parse_html(page.encode(), ReadingLimits())


def _text(page: str) -> str:
    return _parsed(page).text


def _outline(page: str) -> list[tuple[int, str]]:
    return [(heading.level, heading.title) for heading in _parsed(page).headings]


def _furniture(parsed: ParsedDocument) -> list[str]:
    return [parsed.text[span.start : span.end] for span in parsed.furniture]


def test_blocks_are_paragraphs_and_inline_markup_is_not_seen() -> None:
    page = "<div>One <b>bo</b>ld <i>word</i>.<p>Two<section>Three</section>four</div>five"
    assert _text(page) == "One bold word.\n\nTwo\n\nThree\n\nfour\n\nfive"


def test_white_space_runs_together_and_breaks_stay() -> None:
    assert _text("<p> a \n\t b&nbsp;&nbsp;&nbsp;c <br> d<br/><span> e</span> </p>") == "a b c\nd\ne"


def test_entities_ligatures_and_unseen_marks() -> None:
    assert (
        _text("<p>&sect;&#160;5 &lt;fee&gt; &#xFB01;ne pay&shy;ment &rlm;x&bogus;</p>")
        == "§ 5 <fee> fine payment x&bogus;"
    )


@pytest.mark.parametrize(
    "hidden",
    [
        "<script>no</script>",
        "<style>no</style>",
        "<template>no</template>",
        "<noscript>no</noscript>",
        "<!-- no -->",
        "<p hidden>no</p>",
        '<div style="color:red; DISPLAY : none">no<p>no</p></div>',
        '<span style="visibility:hidden">no</span>',
        "<select><option>no</option></select>",
        "<svg><text>no</text></svg>",
        '<ix:header style="x">no</ix:header>',
        "<ol hidden><li>no</ol>",
    ],
)
def test_what_is_not_shown_is_not_read(hidden: str) -> None:
    assert (
        _text(f"<html><head><title>no</title></head><body><p>yes</p>{hidden}<ol><li>one</ol></body>") == "yes\n\n1. one"
    )


def test_ordered_lists_show_their_numbers() -> None:
    page = (
        '<ol start="3"><li>three<li>four<li value="9">nine<li>ten</ol>'
        '<ol type="a"><li>a<ol type="i"><li>one<li>two</ol><li>b</ol>'
        '<ol reversed start="2"><li>two<li>one</ol>'
        '<ol style="list-style-type: upper-roman"><li>x</ol>'
        '<ol style="list-style: none"><li>plain</ol>'
    )
    assert [line for line in _text(page).split("\n") if line] == [
        *("3. three", "4. four", "9. nine", "10. ten"),
        *("a. a", "i. one", "ii. two", "b. b"),
        *("2. two", "1. one", "I. x", "plain"),
    ]


def test_items_follow_line_by_line_and_keep_their_further_paragraphs() -> None:
    assert (
        _text("<p>x</p><ul><li>a</li><li><p>b</p><p>more</p></li><li></li><li>c</li></ul>")
        == "x\n\n- a\n- b\n\nmore\n\n- c"
    )


@pytest.mark.parametrize("number", ["x", "99999999999999999999", "-5", ""])
def test_lists_with_odd_numbers_are_lists(number: str) -> None:
    assert re.fullmatch(r"-?\d+\. x", _text(f'<ol start="{number}"><li>x</ol>'))


def test_tables_are_read_row_by_row_without_empty_columns() -> None:
    page = (
        "<table><caption>Fees</caption><tr><th>Item<th><th>Year<th>Note<tr><td>Rent<td>&nbsp;<td>5<td>"
        "<tr><td><td><td>7<td>x</table>"
    )
    assert _text(page) == "Fees\n\nItem | Year | Note\nRent | 5\n | 7 | x"


def test_cells_that_span_are_read_once_and_hold_their_place() -> None:
    page = "<table><tr><td rowspan=2>A<td colspan=2>B<tr><td>c<td>d<tr><td>e<td>f<td>g</table>"
    assert _text(page) == "A | B\n | c | d\ne | f | g"


def test_spans_without_end_are_bounded() -> None:
    page = "<table>" + '<tr><td colspan="999999999" rowspan="999999999">A<td>B' * 300 + "</table>"
    assert _text(page).count("A") == 300


def test_a_table_that_only_places_paragraphs_is_read_as_paragraphs() -> None:
    long = "The Supplier shall deliver the goods that the Customer has ordered. " * 5
    page = f"<table><tr><td>&nbsp;<td><p>{long}<p>{long}</tr><tr><td>(a)</td><td></td><td>Item</td></tr></table>"
    assert _text(page) == f"{long.strip()}\n\n{long.strip()}\n\n(a) Item"


def test_tables_inside_tables_are_read_in_place() -> None:
    inner = "<table><tr><td>in<td>ner</table>"
    assert _text(f"<table><tr><td>left{inner}<td>right</table>") == "left in | ner | right"
    assert _text(f"<table><tr><td>{inner}</table>") == "in | ner"


def test_preformatted_text_keeps_its_lines_and_columns() -> None:
    page = "<pre>\nTERMS\n\n  a    1\n  b\t2\n</pre><p>x</p>"
    assert _text(page) == "TERMS\n\na    1\n  b     2\n\nx"


def test_definition_lists_and_quotations_are_paragraphs() -> None:
    assert _text("<dl><dt>Fee<dd>What is paid.</dl><blockquote>Quoted</blockquote>") == "Fee\n\nWhat is paid.\n\nQuoted"


def test_headings_of_the_markup_bold_lines_and_clauses_make_the_outline() -> None:
    page = (
        "<h1>Lease</h1><h2>1. Term</h2><p>x</p><p>2. Rent. The rent is due.</p><p><b>Deposit</b></p><p>y</p>"
        '<p style="font-weight:bold">shall not</p><p align="center"><u>Notices</u></p><p><u>The Bank</u></p>'
    )
    assert _outline(page) == [(1, "Lease"), (2, "1. Term"), (2, "2. Rent"), (4, "Deposit"), (4, "Notices")]


def test_a_paragraph_in_the_markup_of_a_heading_is_text() -> None:
    sentence = "This notice is given to all holders of the notes that were issued in the year before. " * 2
    assert _outline(f"<h3>{sentence}</h3><h3>Holders</h3>") == [(3, "Holders")]


def test_navigation_is_furniture_and_page_headers_are_text() -> None:
    parsed = _parsed(
        "<nav><ul><li>Home<li>About</ul></nav><header><h1>Terms</h1></header><p>x</p><footer>Acme</footer>"
    )
    assert _furniture(parsed) == ["- Home", "- About"]
    assert [heading.title for heading in parsed.headings] == ["Terms"]
    assert parsed.text.endswith("x\n\nAcme")


def _filing(separator: str, count: int = 6) -> str:
    pages = (
        f"<P>Clause {chr(64 + number)} of the text goes on here.</P><P>More of {number * 7} things.</P>"
        f'<P ALIGN="center">-{number}-</P>'
        for number in range(1, count + 1)
    )
    return separator.join(pages)


@pytest.mark.parametrize(
    "separator",
    [
        "<HR>",
        '<p style="page-break-before:always"></p>',
        '<HR WIDTH="100%" style="page-break-after: always">',
        "<PAGE>",
    ],
)
def test_pages_of_a_filing_are_known_by_their_numbers(separator: str) -> None:
    parsed = _parsed(_filing(separator))
    assert [page.number for page in parsed.pages] == [1, 2, 3, 4, 5, 6]
    assert _furniture(parsed) == [f"-{number}-" for number in range(1, 7)]
    third = parsed.pages[2]
    assert parsed.text[third.start : third.end].split()[:2] == ["Clause", "C"]
    assert (parsed.pages[0].start, parsed.pages[-1].end) == (0, len(parsed.text))


def test_rules_without_page_numbers_are_no_pages() -> None:
    parsed = _parsed("<hr>".join(f"<p>Section {word}</p><p>text</p>" for word in ("one", "two", "three", "four")))
    assert parsed.pages == ()
    assert parsed.furniture == ()


def test_page_numbers_that_do_not_count_are_text() -> None:
    parsed = _parsed("<hr>".join(f"<p>words</p><p>{number}</p>" for number in (12, 5, 88, 3)))
    assert parsed.pages == ()


def test_too_many_pages_are_refused() -> None:
    with pytest.raises(UnreadableFile, match="more than 4 pages"):
        parse_html(_filing("<HR>").encode(), ReadingLimits(max_pages=4))


def test_pages_without_a_body_or_text_are_empty() -> None:
    for page in ("", "   ", "<html></html>", "<frameset><frame src=x></frameset>", "<!-- -->", "<p>&nbsp;</p>"):
        assert _text(page) == ""


def test_the_text_limit_ends_reading() -> None:
    with pytest.raises(UnreadableFile, match="longer than 100 characters"):
        parse_html(b"<p>" + b"word " * 50, ReadingLimits(max_text_chars=100))


_TAGS = "p /p div /div b /b h2 /h2 br hr ol /ol li table tr td /table pre /pre nav /nav center u".split(" ")  # noqa: SIM905
_WORDS = (
    "1. Fees. The",
    "2.1 Term",
    "ARTICLE I",
    " ",
    "\n\n",
    "word ",
    "&nbsp;",
    "&#xFB01;",
    "GOVERNING LAW",
    "12",
    "| ",
)
_FRAGMENTS = st.sampled_from([*(f"<{tag}>" for tag in _TAGS), "<td rowspan=3 colspan=2>", *_WORDS])


@settings(max_examples=300, deadline=None)
@given(st.lists(_FRAGMENTS, max_size=40))
def test_positions_are_exact_whatever_the_markup(fragments: list[str]) -> None:
    parsed = _parsed("".join(fragments))
    for heading in parsed.headings:
        assert " ".join(parsed.text[heading.start : heading.end].split()).startswith(heading.title)
    assert all(a.end <= b.start for a, b in zip(parsed.headings, parsed.headings[1:], strict=False))
    assert all(0 <= span.start < span.end <= len(parsed.text) for span in parsed.furniture)


@given(
    st.lists(st.sampled_from(["a", "bc", " ", "\n", "\t", "\u00a0", "<i>", "</i>", "<span>", "</span>"]), max_size=25)
)
def test_inline_white_space_is_single_and_never_glues_words(pieces: list[str]) -> None:
    shown = "".join(piece for piece in pieces if not piece.startswith("<"))
    assert _text(f"<p>{''.join(pieces)}</p>") == " ".join(shown.split())
