"""The text of a PDF: its order, its lines, its paragraphs."""

from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st
from reportlab.lib.styles import ParagraphStyle
from reportlab.pdfgen.canvas import Canvas
from reportlab.platypus import Paragraph

from proviso_service.reading.model import ReadingLimits
from proviso_service.reading.pdf import parse_pdf
from tests.support.pdf_files import drawn, laid_out, lines, stream, together, written

_PROSE = (
    "The Supplier shall deliver the goods to the place that the Customer names in its order, and bears the risk of",
    "their loss until they have been unloaded there. Delivery on a day that is not a Business Day is made on the",
    "next one.",
)


def _text(content: bytes) -> str:
    return parse_pdf(content, ReadingLimits()).text


def test_lines_of_a_paragraph_are_joined_and_blank_lines_divide() -> None:
    content = drawn(lines(*_PROSE, "", *_PROSE))
    assert _text(content) == " ".join(_PROSE) + "\n\n" + " ".join(_PROSE)


def test_a_paragraph_begins_where_the_line_before_left_room() -> None:
    second = "Either party may terminate this Agreement by notice in writing to the other party at any time, and"
    content = drawn(lines(*_PROSE, second, "then it ends."))
    assert _text(content).split("\n\n") == [" ".join(_PROSE), f"{second} then it ends."]


def test_an_indented_line_begins_a_paragraph() -> None:
    full = "Delivery on a day that is not a Business Day is made on the next one, at the place agreed upon."
    first = "The Supplier shall deliver the goods to the place that the Customer names in its"
    content = drawn(together(lines(full, full), lines(first, top=732, left=108), lines("order or later.", top=718)))
    assert _text(content).split("\n\n") == [f"{full} {full}", f"{first} order or later."]


def test_numbers_letters_and_bullets_begin_paragraphs() -> None:
    content = drawn(
        lines("1. The Supplier delivers:", "(a) goods;", "(b) services; and", "\u2022 papers.", "2. The Customer pays.")
    )
    assert _text(content).split("\n\n") == [
        "1. The Supplier delivers:",
        "(a) goods;",
        "(b) services; and",
        "\u2022 papers.",
        "2. The Customer pays.",
    ]


def test_a_reference_at_the_start_of_a_line_begins_no_paragraph() -> None:
    before = "Neither party is liable for damage that the other one could have prevented, without prejudice to clause"
    content = drawn(lines(before, "12.3 and to the rights of either party under the laws that apply."))
    assert "\n" not in _text(content)


def test_a_number_drawn_apart_from_its_clause_is_put_before_it() -> None:
    content = drawn(
        together(
            lines("1.", "2.", leading=28),
            lines("Fees.", "Taxes.", left=100, leading=28),
        )
    )
    assert _text(content) == "1. Fees.\n\n2. Taxes."


def test_a_number_set_close_to_its_title_is_set_off() -> None:
    assert _text(drawn(lines("1.DEFINITIONS", "", "U.S. Dollars are meant."))) == (
        "1. DEFINITIONS\n\nU.S. Dollars are meant."
    )


def test_short_lines_stay_lines() -> None:
    content = drawn(lines(*_PROSE, "", "Acme Corporation", "1 Main Street", "Springfield"))
    assert _text(content).endswith("\n\nAcme Corporation\n1 Main Street\nSpringfield")


def test_lines_to_be_filled_in_stay_lines() -> None:
    content = drawn(lines(*_PROSE, "", "By: ______________________________________________", "Name: _____________"))
    assert _text(content).endswith("\n\nBy: ______________________________________________\nName: _____________")


def test_two_columns_are_read_one_after_the_other() -> None:
    left = [f"The left column holds line number {number} of its" for number in range(1, 9)]
    right = [f"The right column has line number {number} of its" for number in range(1, 9)]
    content = drawn(
        together(
            lines("A title that goes across both columns and so is read before them", top=800),
            lines(*left),
            lines(*right, left=330),
        )
    )
    text = _text(content).replace("\n", " ")
    assert text.index("A title") < text.index(left[0]) < text.index(left[-1]) < text.index(right[0])
    assert " | " not in text


def test_three_columns_are_read_from_the_left() -> None:
    columns = [[f"Column {name} with line number {n}" for n in range(1, 9)] for name in "ABC"]
    content = drawn(together(*(lines(*column, left=40 + 180 * index) for index, column in enumerate(columns))))
    text = _text(content)
    places = [text.index(column[row]) for column in columns for row in (0, 7)]
    assert places == sorted(places)


def test_a_word_divided_at_the_end_of_a_line_is_whole() -> None:
    content = drawn(lines("This clause governs the termi-", "nation of the contract."))
    assert _text(content) == "This clause governs the termination of the contract."


def test_a_soft_hyphen_is_a_hyphen_where_it_is_drawn() -> None:
    assert _text(drawn(lines("New York 10003\u00ad1502"))) == "New York 10003-1502"


def test_ligatures_and_hard_spaces_are_plain() -> None:
    content = _with_unicode(b"ABC", {"A": "\ufb01", "B": "\u00a0", "C": "x"})
    assert _text(content) == "fi x"


def test_characters_beyond_the_basic_plane_and_unknown_ones_shift_nothing() -> None:
    content = _with_unicode(b"AxB yC", {"A": "\U0001f600", "B": "\U0001d518", "C": "\U00020000"})
    assert _text(content) == "\U0001f600x\U0001d518 y\U00020000"


def test_characters_without_a_meaning_are_left_out() -> None:
    assert _text(_with_unicode(b"aAb", {"A": "\0"})) == "a b"
    assert _text(_with_unicode(b"AAAAab", {"A": "\u200f"})) == "ab"


def test_right_to_left_marks_are_left_out() -> None:
    assert _text(_with_unicode(b"xAyB", {"A": "\u200f", "B": "\u202b"})) == "xy"


def test_a_rotated_page_is_read_as_it_is_seen() -> None:
    def sideways(canvas: Canvas) -> None:
        canvas.setPageRotation(90)
        canvas.translate(80, 40)
        canvas.rotate(90)
        lines(*_PROSE, top=0, left=0)(canvas)

    assert _text(drawn(sideways)) == " ".join(_PROSE)


def test_text_set_sideways_on_an_upright_page_is_read_too() -> None:
    for angle in (90, 180, 270):

        def turned(canvas: Canvas, angle: int = angle) -> None:
            canvas.translate(300, 400)
            canvas.rotate(angle)
            lines("First line.", "", "Second line.", top=0, left=-100)(canvas)

        assert _text(drawn(turned)) == "First line.\n\nSecond line."


def test_a_stamp_in_the_margin_is_kept_out_of_the_lines() -> None:
    def stamp(canvas: Canvas) -> None:
        canvas.saveState()
        canvas.translate(40, 700)
        canvas.rotate(90)
        canvas.drawString(0, 0, "Filed 12 May 2020")
        canvas.restoreState()

    assert _text(drawn(together(stamp, lines(*_PROSE)))) == " ".join(_PROSE) + "\n\nFiled 12 May 2020"


def test_what_is_filled_into_a_form_is_read_where_it_stands() -> None:
    def form(canvas: Canvas) -> None:
        canvas.drawString(72, 700, "Name of the buyer:")
        canvas.acroForm.textfield(name="buyer", value="Acme Holdings", x=170, y=694, width=200, height=20)
        canvas.drawString(72, 650, "signs this agreement.")

    assert _text(drawn(form)).startswith("Name of the buyer: Acme Holdings")


def test_invisible_text_of_a_recognised_scan_is_read() -> None:
    def recognised(canvas: Canvas) -> None:
        text = canvas.beginText(72, 700)
        text.setTextRenderMode(3)
        text.textLine("Recognised words")
        canvas.drawText(text)

    assert _text(drawn(recognised)) == "Recognised words"


def test_paragraphs_set_by_a_program_come_back_whole() -> None:
    style = ParagraphStyle("body", fontName="Times-Roman", fontSize=11, leading=14, spaceAfter=8, alignment=4)
    words = Random(1)  # noqa: S311
    texts = [f"It {' '.join(words.choices(' '.join(_PROSE).lower().split(), k=70))} ends." for _ in range(30)]
    assert _text(laid_out([Paragraph(text, style) for text in texts])).split("\n\n") == texts


@settings(max_examples=40, deadline=None)
@given(st.lists(st.text(st.sampled_from("abc AB.1(-"), min_size=1, max_size=60), min_size=1, max_size=30))
def test_no_word_is_lost_whatever_the_lines(texts: list[str]) -> None:
    text = "x " + _text(drawn(lines("start", *texts)))
    letters = [char for line in ("xstart", *texts) for char in line if char.isalnum()]
    assert [char for char in text if char.isalnum()] == letters


def _with_unicode(shown: bytes, meanings: dict[str, str]) -> bytes:
    """A PDF that shows the bytes, some of which stand for other characters."""
    pairs = b"".join(
        b"<%02X> <%b>\n" % (ord(code), meaning.encode("utf-16-be").hex().upper().encode())
        for code, meaning in meanings.items()
    )
    meaning = stream(
        b"/CIDInit /ProcSet findresource begin 12 dict begin begincmap /CMapName /X def /CMapType 2 def\n"
        b"1 begincodespacerange <00> <FF> endcodespacerange\n"
        b"%d beginbfchar\n%bendbfchar endcmap end end" % (len(meanings), pairs)
    )
    return written(
        [
            b"<</Type/Catalog/Pages 2 0 R>>",
            b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
            b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Contents 4 0 R/Resources<</Font<</F1 5 0 R>>>>>>",
            stream(b"BT /F1 12 Tf 72 700 Td (%b) Tj ET" % shown),
            b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica/ToUnicode 6 0 R>>",
            meaning,
        ]
    )
