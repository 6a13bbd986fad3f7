"""Headings of Markdown."""

from proviso_service.reading.markdown import parse_markdown
from proviso_service.reading.model import Heading, ReadingLimits


def _headings(source: str) -> list[tuple[int, str]]:
    return [(heading.level, heading.title) for heading in parse_markdown(source.encode(), ReadingLimits()).headings]


def test_the_text_is_the_source_and_headings_point_into_it() -> None:
    source = "\ufeff# Lease\r\n\r\n## 1. *Rent* and `fees`\r\nUSD 5.\r\n"
    parsed = parse_markdown(source.encode(), ReadingLimits())
    assert parsed.text == "# Lease\n\n## 1. *Rent* and `fees`\nUSD 5.\n"
    assert parsed.headings == (Heading(1, "Lease", 0, 7), Heading(2, "1. Rent and fees", 9, 32))
    assert parsed.text[9:32] == "## 1. *Rent* and `fees`"


def test_setext_headings_are_read_with_their_underline() -> None:
    parsed = parse_markdown(b"Lease\nof land\n===\nText\n\nRent\n---\n", ReadingLimits())
    assert parsed.headings == (Heading(1, "Lease of land", 0, 17), Heading(2, "Rent", 24, 32))


def test_what_only_looks_like_a_heading_is_text() -> None:
    assert _headings("```\n# code\n```\n\n> # quoted\n\n    # indented\n\n#hashtag\n") == []


def test_titles_of_numbered_clauses_are_headings() -> None:
    source = (
        "# Terms\n\n"
        '1. <span id="1">Service</span>\n'
        "    1. **Access.** The customer may use it.\n"
        "    2. **Support.** By mail.\n"
        "2. Termination for Cause. Either party may terminate.\n"
    )
    assert [title for _, title in _headings(source)] == [
        "Terms",
        "1. Service",
        "1. Access",
        "2. Support",
        "2. Termination for Cause",
    ]
    levels = [level for level, _ in _headings(source)]
    assert levels[0] < levels[1] < levels[2] == levels[3]
    assert levels[4] == levels[1]


def test_the_end_of_a_clause_title_is_where_its_text_begins() -> None:
    parsed = parse_markdown(b"1. **Fees.** The fee is due.\n", ReadingLimits())
    heading = parsed.headings[0]
    assert parsed.text[heading.start : heading.end] == "1. **Fees.**"


def test_items_of_a_list_are_no_headings() -> None:
    assert _headings("1. Apples\n2. Pears\n\n- **Note:** bring both\n") == []


def test_marked_paragraphs_are_headings_when_short_or_numbered() -> None:
    assert _headings("**Governing Law**\n\n**9. Fees.** Due at once.\n\n**Provider:** Acme\n") == [
        (7, "Governing Law"),
        (7, "9. Fees"),
    ]
