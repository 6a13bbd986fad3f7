"""Tables of a PDF, row by row."""

from collections.abc import Sequence
from typing import Any

from reportlab.lib import colors
from reportlab.lib.styles import getSampleStyleSheet
from reportlab.pdfgen.canvas import Canvas
from reportlab.platypus import Paragraph, Table

from proviso_service.reading.model import ReadingLimits
from proviso_service.reading.pdf import parse_pdf
from tests.support.pdf_files import drawn, laid_out, lines, together

_BODY = getSampleStyleSheet()["BodyText"]
_GRID = [("GRID", (0, 0), (-1, -1), 0.5, colors.black)]
_LONG = (
    "Painting of the walls and of the ceilings of the house, with two coats of white paint, and cleaning up after it"
)


def _text(content: bytes) -> str:
    return parse_pdf(content, ReadingLimits()).text


def _table(rows: Sequence[Sequence[Any]], widths: Sequence[float] = (), style: Sequence[Any] = _GRID) -> bytes:
    table = Table(rows, colWidths=list(widths) or None, style=list(style))
    return laid_out([Paragraph("The prices are these.", _BODY), table, Paragraph("No others are due.", _BODY)])


def test_a_ruled_table_is_read_row_by_row() -> None:
    rows = [["Item", "Price", "Due"], ["Painting", "USD 5", "May"], ["Tax", "USD 1", "June"]]
    assert _text(_table(rows)) == (
        "The prices are these.\n\nItem | Price | Due\nPainting | USD 5 | May\nTax | USD 1 | June\n\nNo others are due."
    )


def test_cells_of_several_lines_stay_in_their_row() -> None:
    rows = [["Work", "Price"], [Paragraph(_LONG, _BODY), "USD 5"], [Paragraph(_LONG, _BODY), Paragraph(_LONG, _BODY)]]
    assert f"\n\nWork | Price\n{_LONG} | USD 5\n{_LONG} | {_LONG}\n\n" in _text(_table(rows, [150, 150]))


def test_an_empty_cell_keeps_its_place() -> None:
    rows = [["Item", "Price", "Due"], ["Painting", "", "May"], ["", "USD 1", ""]]
    assert "\nPainting |  | May\n | USD 1 | \n" in _text(_table(rows, [100, 100, 100]))


def test_a_table_of_boxes_is_ruled() -> None:
    boxes = [("BOX", (column, row), (column, row), 0.5, colors.black) for column in range(2) for row in range(3)]
    rows = [["a", "b"], ["c", "d"], ["e", "f"]]
    assert "\n\na | b\nc | d\ne | f\n\n" in _text(_table(rows, style=boxes))


def test_a_table_without_rules_is_found_by_its_columns() -> None:
    rows = [["Milestone", "Payment"], ["Signing of the agreement", "USD 5,000"], ["Delivery", "USD 12,000"]]
    assert "\n\nMilestone | Payment\nSigning of the agreement | USD 5,000\nDelivery | USD 12,000\n\n" in _text(
        _table(rows, [250, 150], style=())
    )


def test_definitions_beside_their_terms_stay_together() -> None:
    rows = [
        ["Affiliate", Paragraph(_LONG, _BODY)],
        [Paragraph("Confidential Information of either party", _BODY), Paragraph(_LONG, _BODY)],
        ["Territory", "Oregon"],
    ]
    assert (
        f"\n\nAffiliate | {_LONG}\nConfidential Information of either party | {_LONG}\nTerritory | Oregon\n\n"
        in _text(_table(rows, [120, 250], style=[("VALIGN", (0, 0), (-1, -1), "TOP")]))
    )


def test_a_boxed_paragraph_is_no_table() -> None:
    assert " | " not in _text(_table([[Paragraph(_LONG, _BODY)]], [200]))


def test_lines_with_one_wide_gap_are_no_table() -> None:
    content = drawn(
        together(lines("Invoice number", "", "Payable within thirty days of"), lines("2020/1", left=300)),
    )
    assert _text(content).startswith("Invoice number 2020/1")


def test_justified_typewriting_is_no_table() -> None:
    texts = [
        "the   mutual   promises   herein    made   and   in   consideration   of   it",
        "as    specified   herein   the   Parties   may   make   any   and   all   use",
        "of   the   information   necessary   to    perform   the   services   and   to",
        "disclose   it   for   the   purposes   authorised   by   this   agreement   only",
    ]
    assert " | " not in _text(drawn(lines(*texts, font="Courier 10")))


def test_a_table_on_a_page_set_sideways_is_ruled_as_well() -> None:
    def sideways(canvas: Canvas) -> None:
        canvas.translate(500, 100)
        canvas.rotate(90)
        table = Table([["a", "b"], ["c", "d"], ["e", "f"]], style=_GRID)
        table.wrapOn(canvas, 400, 400)
        table.drawOn(canvas, 100, 100)

    assert _text(drawn(sideways)) == "a | b\nc | d\ne | f"
