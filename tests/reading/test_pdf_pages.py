"""Pages of a PDF, what runs at their heads and feet, and paragraphs that go on from one to the next."""

from itertools import count
from random import Random

import pytest
from reportlab.pdfgen.canvas import Canvas

from proviso_service.reading.model import ParsedDocument, ReadingLimits
from proviso_service.reading.pdf import parse_pdf
from tests.support.pdf_files import Page, drawn, lines, together

_FULL = "The Supplier shall deliver the goods to the place that the Customer names in its order, and bears the risk of"


def _parsed(content: bytes) -> ParsedDocument:
    return parse_pdf(content, ReadingLimits())


def _pages(parsed: ParsedDocument) -> list[tuple[int, str]]:
    return [(page.number, parsed.text[page.start : page.end].strip()) for page in parsed.pages]


def _furniture(parsed: ParsedDocument) -> list[str]:
    return [parsed.text[span.start : span.end] for span in parsed.furniture]


def _body(parsed: ParsedDocument) -> str:
    text = parsed.text
    for span in reversed(parsed.furniture):
        text = text[: span.start] + text[span.end :]
    return " ".join(text.split())


def _framed(number: int, body: Page, *, header: str = "Supply Agreement", footer: str = "Page {} of 9") -> Page:
    return together(lines(header, top=810), body, lines(footer.format(number), top=30, left=280))


def test_pages_cover_the_text_without_gaps() -> None:
    parsed = _parsed(drawn(*(lines(f"Clause {name} stands alone.") for name in "ABC")))
    assert _pages(parsed) == [
        (1, "Clause A stands alone."),
        (2, "Clause B stands alone."),
        (3, "Clause C stands alone."),
    ]
    assert parsed.pages[0].start == 0
    assert [page.end for page in parsed.pages] == [*(page.start for page in parsed.pages[1:]), len(parsed.text)]


def test_an_empty_page_is_counted_but_has_no_text() -> None:
    parsed = _parsed(drawn(lines("One."), lines(), lines("Three.")))
    assert _pages(parsed) == [(1, "One."), (3, "Three.")]


def test_a_paragraph_goes_on_over_the_end_of_its_page_with_the_footer_after_it() -> None:
    content = drawn(
        _framed(1, lines("1. Fees. They are paid.", "", _FULL)),
        _framed(
            2,
            lines(
                "their loss until", "they have been unloaded.", "", "2. Taxes.", "", "3. The Customer bears its own,"
            ),
        ),
        _framed(3, lines("and all of the others.", "", "4. Notices.")),
    )
    parsed = _parsed(content)
    assert f"{_FULL} their loss until they have been unloaded." in parsed.text
    assert _furniture(parsed) == [
        *("Supply Agreement", "Page 1 of 9"),
        *("Supply Agreement", "Page 2 of 9"),
        *("Supply Agreement", "Page 3 of 9"),
    ]
    assert "bears its own, and all of the others.\n\nPage 2 of 9\n\nSupply Agreement\n\n4. Notices." in parsed.text
    assert [parsed.text[page.start :].split(" ")[0] for page in parsed.pages] == ["Supply", "their", "and"]


@pytest.mark.parametrize("rule", ["---------------", "_______", "* * *"])
def test_nothing_goes_on_after_a_rule_at_the_foot_of_a_page(rule: str) -> None:
    parsed = _parsed(drawn(lines("1. Fees. They are paid.", "", rule), lines("d. the duties of the Customer.")))
    assert parsed.text == f"1. Fees. They are paid.\n\n{rule}\n\nd. the duties of the Customer."
    assert _pages(parsed)[1] == (2, "d. the duties of the Customer.")


def test_a_word_divided_between_two_pages_is_whole_and_its_page_begins_inside() -> None:
    parsed = _parsed(drawn(lines("A clause about the termi-"), lines("nation of the contract.")))
    assert parsed.text == "A clause about the termination of the contract."
    assert parsed.text[parsed.pages[1].start :] == "nation of the contract."


def test_a_new_clause_on_the_next_page_is_a_new_paragraph() -> None:
    parsed = _parsed(drawn(lines("1. Delivery. It is in time."), lines("2. Fees. They are paid.")))
    assert parsed.text.endswith("in time.\n\n2. Fees. They are paid.")


@pytest.mark.parametrize("style", ["{}", "- {} -", "Page {}", "{} of 12", "A-{}", "Supply Agreement, page {}"])
def test_page_numbers_are_furniture(style: str) -> None:
    bodies = [f"Clause {name} is of its own." for name in "ABCD"]
    content = drawn(*(_framed(n, lines(body), header="", footer=style) for n, body in enumerate(bodies, start=1)))
    parsed = _parsed(content)
    assert _furniture(parsed) == [style.format(number) for number in range(1, 5)]
    assert _body(parsed) == " ".join(bodies)


def test_roman_page_numbers_are_furniture() -> None:
    numbers = ["i", "ii", "iii", "iv", "v"]
    content = drawn(*(together(lines(f"Clause {n} of it."), lines(n, top=30, left=290)) for n in numbers))
    assert _furniture(_parsed(content)) == numbers


def test_headers_of_left_and_right_pages_take_turns() -> None:
    headers = ["Acme Corporation", "Supply Agreement"] * 3
    content = drawn(*(_framed(n, lines(f"Clause {n} of it."), header=h) for n, h in enumerate(headers, start=1)))
    assert [text for text in _furniture(_parsed(content)) if "Page" not in text] == headers


def test_a_header_in_three_parts_is_furniture_and_no_table() -> None:
    def header(number: int) -> Page:
        return together(
            lines("Acme", top=810), lines("Confidential", top=810, left=270), lines(f"Page {number}", top=810, left=480)
        )

    parsed = _parsed(drawn(*(together(header(n), lines(f"Clause {n} of it.")) for n in range(1, 5))))
    assert _furniture(parsed) == [f"Acme Confidential Page {number}" for number in range(1, 5)]


def test_a_document_of_two_pages_has_furniture_too() -> None:
    parsed = _parsed(drawn(*(_framed(n, lines(f"Clause {name}."), footer="{}") for n, name in ((1, "A"), (2, "B")))))
    assert _furniture(parsed) == ["Supply Agreement", "1", "Supply Agreement", "2"]


def test_clause_numbers_at_the_heads_of_pages_are_text() -> None:
    parsed = _parsed(drawn(*(lines(f"{number}.", "", f"Clause {number}.", top=800) for number in range(1, 6))))
    assert parsed.furniture == ()


@pytest.mark.parametrize("title", ["Schedule {}", "Section ({})", "EXHIBIT {}", "Article {}."])
def test_parts_that_count_with_their_pages_are_text(title: str) -> None:
    bodies = ["Fees are paid.", "Taxes come on top.", "Notices are written.", "Oregon law applies.", "It ends in May."]
    content = drawn(*(lines(title.format(n), "", body, top=800) for n, body in enumerate(bodies, start=1)))
    assert _parsed(content).furniture == ()


def test_signature_lines_at_the_feet_of_pages_are_text() -> None:
    sign = lines("By: ______________", top=60)
    parsed = _parsed(drawn(*(together(lines(f"Form {name} is agreed."), sign) for name in "ABCD")))
    assert parsed.furniture == ()


def test_rows_of_a_table_at_the_heads_of_pages_are_text() -> None:
    def rows(page: int) -> Page:
        cells = [("Item", "Price"), *((f"Item {page}{row}", f"USD {row}.00") for row in range(4))]
        return together(
            *(lines(left, top=810 - 14 * n) for n, (left, _) in enumerate(cells)),
            *(lines(right, top=810 - 14 * n, left=300) for n, (_, right) in enumerate(cells)),
        )

    parsed = _parsed(drawn(*(rows(page) for page in range(1, 6))))
    assert parsed.furniture == ()
    assert parsed.text.count("Item | Price") == 5


def test_lines_of_text_that_pages_have_in_common_are_text() -> None:
    parsed = _parsed(drawn(*(lines(_FULL, f"the loss of item {name}.", top=790) for name in "ABCD")))
    assert parsed.furniture == ()


def test_the_first_page_under_a_schedules_name_keeps_it_as_its_title() -> None:
    pages = [_framed(n, lines(f"Clause {n} of it."), header="", footer="{}") for n in range(1, 4)]
    pages += [_framed(n, lines(f"Item {n} of it."), header="SCHEDULE A", footer="{}") for n in range(4, 8)]
    parsed = _parsed(drawn(*pages))
    assert "SCHEDULE A" in [heading.title for heading in parsed.headings]
    assert _furniture(parsed).count("SCHEDULE A") == 3


def test_a_repeated_stamp_is_furniture() -> None:
    def stamp(canvas: Canvas) -> None:
        canvas.saveState()
        canvas.translate(300, 400)
        canvas.rotate(45)
        canvas.drawString(0, 0, "DRAFT")
        canvas.restoreState()

    parsed = _parsed(drawn(*(together(stamp, lines(f"Clause {name} of it.")) for name in "AB")))
    assert _furniture(parsed) == ["DRAFT", "DRAFT"]
    assert _body(parsed) == "Clause A of it. Clause B of it."


def test_a_stamp_is_on_its_page_also_where_a_paragraph_goes_on_to_the_next() -> None:
    def stamp(canvas: Canvas) -> None:
        canvas.saveState()
        canvas.translate(40, 400)
        canvas.rotate(90)
        canvas.drawString(0, 0, "Filed 12 May 2020")
        canvas.restoreState()

    first = together(stamp, lines("1. Fees. They are paid.", "", _FULL))
    parsed = _parsed(drawn(first, lines("their loss until", "they have been unloaded.", "", "2. Taxes.")))
    assert _pages(parsed) == [
        (1, f"1. Fees. They are paid.\n\nFiled 12 May 2020\n\n{_FULL}"),
        (2, "their loss until they have been unloaded.\n\n2. Taxes."),
    ]


def test_page_numbers_of_another_print_inside_the_pages_are_furniture_after_their_paragraph() -> None:
    words = Random(1)  # noqa: S311
    numbers = count(1)

    def page(canvas: Canvas) -> None:
        for top in (790, 550, 310):
            text = [" ".join(words.choices(["goods", "delivers", "names", "order", "loss"], k=14)) for _ in range(15)]
            lines(*text, "", f"-{next(numbers)}-", top=top)(canvas)

    parsed = _parsed(drawn(page, page, page))
    assert _furniture(parsed) == [f"-{number}-" for number in range(1, 10)]
    assert _body(parsed).replace(" ", "").isalpha()


def test_the_footer_of_a_short_last_page_is_furniture_where_its_text_ends() -> None:
    pages = [together(lines(f"Clause {n} is long."), lines("Source: Acme", top=30)) for n in range(1, 5)]
    pages += [lines("Clause 5 is short.", "", "Source: Acme")]
    assert _furniture(_parsed(drawn(*pages))) == ["Source: Acme"] * 5


def test_a_page_of_nothing_but_furniture_keeps_it() -> None:
    pages = [_framed(n, lines(*([] if n == 2 else [f"Clause {n} of it."])), footer="{}") for n in range(1, 5)]
    parsed = _parsed(drawn(*pages))
    assert _pages(parsed)[1] == (2, "Supply Agreement\n\n2")
