"""The words of a PDF's text stand on its pages where their boxes say."""

from collections.abc import Iterator
from io import BytesIO
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pypdfium2 import PdfDocument
from reportlab.lib import colors
from reportlab.lib.styles import getSampleStyleSheet
from reportlab.pdfgen.canvas import Canvas
from reportlab.platypus import Paragraph, Table

from proviso_service.reading.canonical import readable
from proviso_service.reading.model import ParsedDocument, PlacedWord, ReadingLimits
from proviso_service.reading.pdf import parse_pdf
from proviso_service.reading.pdf_words import Run, page_words
from tests.support.pdf_files import Page, drawn, laid_out, lines, together

_WORD = st.text(st.sampled_from("abcdefgXYZ019.,;()$'"), min_size=1, max_size=12)
_LINE = st.lists(_WORD, min_size=1, max_size=9).map(" ".join)
_PAGE = st.lists(_LINE, min_size=0, max_size=12)
_SENTENCE = (
    "The Supplier delivers the goods to the place that the Customer names, and bears the risk of their loss until"
)


def _parsed(content: bytes) -> ParsedDocument:
    return parse_pdf(content, ReadingLimits())


def _drawn_in(content: bytes, parsed: ParsedDocument) -> Iterator[tuple[str, str]]:
    """Yields each word of the text with what PDFium finds inside its box on the page."""
    document = PdfDocument(BytesIO(content))
    for page in parsed.page_words:
        textpage = document[page.number - 1].get_textpage()
        for word in page.words():
            found = textpage.get_text_bounded(
                word.left * page.width - 0.5,
                (1 - word.bottom) * page.height - 0.5,
                word.right * page.width + 0.5,
                (1 - word.top) * page.height + 0.5,
            )
            yield parsed.text[word.start : word.end], "".join(readable(found).split())


def _assert_boxes_hold_their_words(content: bytes) -> ParsedDocument:
    parsed = _parsed(content)
    pairs = list(_drawn_in(content, parsed))
    assert pairs
    for word, inside in pairs:
        assert "".join(word.split()).rstrip("-") in inside
    for page in parsed.page_words:
        assert all(before.end <= after.start for before, after in pairwise(page.words()))
    return parsed


def _word(parsed: ParsedDocument, text: str, page: int = 1) -> PlacedWord:
    start = parsed.text.index(text)
    words = next(found for found in parsed.page_words if found.number == page).words()
    return next(word for word in words if word.start == start)


@settings(max_examples=40, deadline=None)
@given(st.lists(_PAGE, min_size=1, max_size=4))
def test_each_box_holds_the_word_at_its_offsets(pages: list[list[str]]) -> None:
    # Without it all lines of a file can be furniture, and the file no document.
    pages[0].insert(0, "The parties agree as follows:")
    parsed = _assert_boxes_hold_their_words(drawn(*(lines(*page, leading=24) for page in pages)))
    places = sorted((word.start, word.end) for page in parsed.page_words for word in page.words())
    covered = "".join(parsed.text[start:end] for start, end in places)
    assert covered.replace(" ", "") == "".join(parsed.text.split())
    assert [page.number for page in parsed.page_words] == list(range(1, len(pages) + 1))


def test_columns_furniture_and_words_that_lines_divide_keep_their_boxes() -> None:
    left = [f"Left column, line {number} of termi-" if number % 3 else f"nation {number} of it" for number in range(12)]
    right = [f"Right column speaks of line {number} too" for number in range(12)]

    def framed(number: int) -> Page:
        return together(
            lines("Supply Agreement", top=810),
            lines(*left),
            lines(*right, left=320),
            lines(_SENTENCE, top=400),
            lines(f"Page {number} of 3", top=30, left=280),
        )

    parsed = _assert_boxes_hold_their_words(drawn(*map(framed, (1, 2, 3))))
    assert "termination" in parsed.text
    furniture = parsed.text.index("Page 2 of 3")
    assert furniture in {word.start for word in parsed.page_words[1].words()}


def test_cells_of_tables_keep_their_boxes() -> None:
    rows = [["Item", "Fee", "Due"], ["Licence", "1,000", "Yes"], ["Support", "1,000", "Yes"], ["Training", "", "Yes"]]
    style = [("GRID", (0, 0), (-1, -1), 1, colors.black)]
    text = Paragraph(_SENTENCE, getSampleStyleSheet()["Normal"])
    parsed = _assert_boxes_hold_their_words(laid_out([text, Table(rows, style=style), text]))
    boxes = {word.start: word for word in parsed.page_words[0].words()}
    rows_of_yes = [boxes[place].top for place in range(len(parsed.text)) if parsed.text.startswith("Yes", place)]
    assert len(rows_of_yes) == 3
    assert rows_of_yes == sorted(rows_of_yes)


def test_ligatures_and_unseen_characters_do_not_shift_the_words_after_them() -> None:
    runs = [Run(1, "the e\ufb03cient \u200b co\u00admpany", bytes(range(32))), Run(2, "pays", bytes(8))]
    [first, second] = page_words("the efficient company\n\npays", runs, [(1, (100, 100)), (2, (100, 100))])
    assert [(word.start, word.end) for word in first.words()] == [(0, 3), (4, 13), (14, 21)]
    assert [(word.start, word.end) for word in second.words()] == [(23, 27)]


def test_a_word_that_is_not_in_the_text_does_not_lose_those_after_it() -> None:
    runs = [Run(1, "one lost two three", bytes(32))]
    [page] = page_words("one found two three", runs, [(1, (100, 100))])
    assert [(word.start, word.end) for word in page.words()] == [(0, 3), (10, 13), (14, 19)]


@pytest.mark.parametrize("turn", [0, 90, 180, 270])
def test_a_turned_page_has_the_places_of_the_page_as_it_is_shown(turn: int) -> None:
    width, height = 595, 842

    def page(canvas: Canvas) -> None:
        canvas.setPageRotation(turn)
        # Upright for a reader of the turned page, 72 points from its left and 100 from its upper edge.
        corner = {0: (72, 742), 90: (100, 72), 180: (width - 72, 100), 270: (height - 100, width - 72)}[turn]
        canvas.translate(*corner)
        canvas.rotate(turn)
        canvas.drawString(0, 0, "Upright words")

    parsed = _parsed(drawn(page))
    [shown] = parsed.page_words
    assert (shown.width, shown.height) == (width, height)
    word = _word(parsed, "Upright")
    assert word.left * width == pytest.approx(72, abs=0.5)
    assert word.top * height < 100 < word.bottom * height + 0.5
    assert 30 < (word.right - word.left) * width < 45
    assert (word.bottom - word.top) * height < 15


def test_text_across_the_page_has_boxes_too() -> None:
    def stamp(canvas: Canvas) -> None:
        canvas.rotate(90)
        canvas.drawString(300, -560, "Draft of May")

    parsed = _parsed(drawn(together(lines(_SENTENCE, "they are paid."), stamp)))
    word = _word(parsed, "Draft")
    [page] = parsed.page_words
    assert word.left * page.width == pytest.approx(550, abs=5)
    assert (word.bottom - word.top) * page.height > (word.right - word.left) * page.width


def test_pages_without_text_have_their_size() -> None:
    parsed = _parsed(drawn(lines("One."), lines(), lines("Three.")))
    assert [(page.number, page.width, page.height, len(list(page.words()))) for page in parsed.page_words] == [
        (1, 595, 842, 1),
        (2, 595, 842, 0),
        (3, 595, 842, 1),
    ]
