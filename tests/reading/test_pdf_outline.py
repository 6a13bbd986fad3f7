"""The outline of a PDF."""

from itertools import pairwise

from reportlab.lib.styles import getSampleStyleSheet
from reportlab.pdfgen.canvas import Canvas
from reportlab.platypus import Paragraph

from proviso_service.reading.model import ReadingLimits
from proviso_service.reading.pdf import parse_pdf
from tests.support.pdf_files import drawn, hello, laid_out, lines, together

_TEXT = "The Supplier shall deliver the goods to the place that the Customer names."


def _headings(content: bytes) -> list[tuple[int, str]]:
    parsed = parse_pdf(content, ReadingLimits())
    assert all(before.end <= after.start for before, after in pairwise(parsed.headings))
    assert all(parsed.text[h.start : h.end].split()[0] == h.title.split()[0] for h in parsed.headings)
    return [(heading.level, heading.title) for heading in parsed.headings]


def test_numbered_clauses_are_headings_as_in_plain_text() -> None:
    content = drawn(lines("ARTICLE I", "DELIVERY", "", "1.1 Place.", _TEXT, "", "1.2 Time. The next day."))
    assert _headings(content) == [(1, "ARTICLE I DELIVERY"), (4, "1.1 Place"), (4, "1.2 Time")]


def test_larger_and_bold_lines_are_headings() -> None:
    styles = getSampleStyleSheet()
    story = [
        Paragraph("Supply Agreement", styles["Title"]),
        Paragraph("Delivery of goods", styles["Heading2"]),
        Paragraph(_TEXT, styles["BodyText"]),
        Paragraph("<b>Place</b>", styles["BodyText"]),
        Paragraph(f"<b>In short</b>, {_TEXT}", styles["BodyText"]),
    ]
    assert _headings(laid_out(story)) == [(1, "Supply Agreement"), (2, "Delivery of goods"), (3, "Place")]


def test_a_title_on_two_lines_is_one_heading() -> None:
    title = lines(
        "Agreement for the Supply of Goods and for their Transport to", "Oregon", font="Times-Bold 18", leading=22
    )
    content = drawn(together(title, lines(*[_TEXT] * 6, top=600)))
    assert _headings(content) == [(1, "Agreement for the Supply of Goods and for their Transport to Oregon")]


def test_names_and_signatures_in_bold_are_no_headings() -> None:
    bold = lines("Acme Supplies, Inc.", "", "By: ______________", "", "12,000.00", "", "and", font="Times-Bold 11")
    assert _headings(drawn(together(lines(*[_TEXT] * 6), bold, lines("x", top=500)))) == []


def test_text_that_is_bold_throughout_has_no_headings_for_it() -> None:
    assert _headings(drawn(lines("Short line", "", _TEXT, "", "Other line", font="Times-Bold 11"))) == []


def test_bookmarks_give_titles_their_levels() -> None:
    def page(canvas: Canvas) -> None:
        for level, title in enumerate(["General terms", "Delivery", "Place of delivery"]):
            canvas.bookmarkPage(title)
            canvas.addOutlineEntry(title.upper(), title, level)
        canvas.bookmarkPage("nowhere")
        canvas.addOutlineEntry("A title that is nowhere", "nowhere", 0)
        lines("General terms", "", _TEXT, "", "Delivery", "", _TEXT, "", "Place of delivery: Oregon")(canvas)

    assert _headings(drawn(page)) == [(1, "General terms"), (2, "Delivery"), (3, "Place of delivery")]


def test_clauses_without_a_bookmark_stand_below_those_that_have_one() -> None:
    def page(canvas: Canvas) -> None:
        canvas.bookmarkPage("1")
        canvas.addOutlineEntry("Delivery", "1", 0)
        lines("Delivery", "", "1. Place. Oregon.", "", "1.1 Time. The next day.")(canvas)

    assert _headings(drawn(page)) == [(1, "Delivery"), (4, "1. Place"), (5, "1.1 Time")]


def test_bookmarks_that_run_in_circles_end() -> None:
    outline = b"<</Type/Outlines/First 7 0 R/Last 7 0 R/Count 1>>"
    mark = b"<</Title(Hello world)/Parent 6 0 R/Next 8 0 R/First 7 0 R/Last 7 0 R/Dest[3 0 R/Fit]>>"
    other = b"<</Title(Other)/Parent 6 0 R/Next 7 0 R/First 8 0 R/Last 8 0 R/Dest[3 0 R/Fit]>>"
    catalog = b"<</Type/Catalog/Pages 2 0 R/Outlines 6 0 R>>"
    pages = b"<</Type/Pages/Kids[3 0 R]/Count 1>>"
    assert _headings(hello(pages, outline, mark, other, catalog=catalog)) == [(1, "Hello world")]


def test_bookmarks_as_deep_as_a_file_likes_are_read_to_a_depth() -> None:
    count = 3_000
    outline = b"<</Type/Outlines/First 7 0 R/Last 7 0 R/Count 1>>"
    marks = [
        b"<</Title(No %d)/Parent %d 0 R/First %d 0 R/Last %d 0 R>>" % (number, number - 1, number + 1, number + 1)
        for number in range(7, 7 + count)
    ]
    catalog = b"<</Type/Catalog/Pages 2 0 R/Outlines 6 0 R>>"
    assert _headings(hello(b"<</Type/Pages/Kids[3 0 R]/Count 1>>", outline, *marks, catalog=catalog)) == []
