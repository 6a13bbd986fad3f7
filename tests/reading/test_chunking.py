"""Chunks: exact, in order, complete, bounded, and cut where a reader would."""

import time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from proviso_service.reading.chunking import chunk_document
from proviso_service.reading.markdown import parse_markdown
from proviso_service.reading.model import Chunk, PageSpan, ParsedDocument, ReadingLimits, Span
from proviso_service.reading.plain import parse_plain

_PIECES = st.one_of(
    st.text(max_size=80),
    st.sampled_from(["\n\n", "\n", "\f", "# Title\n\n", "## Part\n", "1. Fees. ", "ARTICLE II\n\n", ". ", "; ", " "]),
    st.sampled_from(["The fee is due. ", "word " * 40, "x" * 230, " " * 150, "\U0001f600 \u4f60\u597d. "]),
)
_TEXTS = st.lists(_PIECES, max_size=40).map(lambda pieces: "".join(pieces).replace("\0", "").replace("\r", ""))


def _both(text: str) -> list[ParsedDocument]:
    content = text.encode("utf-8", "surrogatepass").decode("utf-8", "replace").encode()
    return [parse_markdown(content, ReadingLimits()), parse_plain(content, ReadingLimits())]


@given(_TEXTS, st.integers(100, 300))
@example("", 100)
@example(f"A0AA\n{' ' * 150}0. A0 ", 100)  # a title far from the text before it, and nothing after it
def test_chunks_are_exact_ordered_complete_and_bounded(text: str, max_chars: int) -> None:
    for parsed in _both(text):
        chunks = chunk_document(parsed, max_chars)
        position = 0
        for ordinal, chunk in enumerate(chunks):
            assert chunk.ordinal == ordinal
            assert chunk.text == parsed.text[chunk.start : chunk.end]
            assert 0 < len(chunk.text) <= max_chars
            assert chunk.text == chunk.text.strip()
            assert not _without_furniture(parsed, position, chunk.start).strip()
            position = chunk.end
        assert not _without_furniture(parsed, position, len(parsed.text)).strip()


def _without_furniture(parsed: ParsedDocument, start: int, end: int) -> str:
    chars = list(parsed.text)
    for span in parsed.furniture:
        chars[span.start : span.end] = " " * (span.end - span.start)
    return "".join(chars[start:end])


_MARKED_TEXTS = st.lists(
    st.tuples(
        st.booleans(), st.sampled_from(["The rent is due.", "and so on", "- 12 -", "x" * 120, "word " * 30, "."])
    ),
    max_size=30,
)


def _marked(lines: list[tuple[bool, str]], separator: str) -> ParsedDocument:
    """A document of lines, the first of each pair says whether it is furniture."""
    text, furniture = "", []
    for is_furniture, line in lines:
        start = len(text) + len(separator)
        text += separator + line
        if is_furniture:
            furniture.append(Span(start, start + len(line.rstrip())))
    return ParsedDocument(text, furniture=tuple(furniture))


@given(_MARKED_TEXTS, st.sampled_from(["\n", "\n\n", "\n \n\f"]), st.integers(100, 300))
def test_chunks_begin_and_end_beside_furniture_and_cover_the_rest(
    lines: list[tuple[bool, str]], separator: str, max_chars: int
) -> None:
    parsed = _marked(lines, separator)
    position = 0
    for chunk in chunk_document(parsed, max_chars):
        assert 0 < len(chunk.text) <= max_chars
        assert not _without_furniture(parsed, position, chunk.start).strip()
        kept = _without_furniture(parsed, chunk.start, chunk.end)
        assert kept[0] == chunk.text[0]
        assert kept[-1] == chunk.text[-1]
        position = chunk.end
    assert not _without_furniture(parsed, position, len(parsed.text)).strip()


@given(_TEXTS)
def test_a_chunk_crosses_a_heading_only_where_headings_follow_one_another(text: str) -> None:
    for parsed in _both(text):
        for chunk in chunk_document(parsed, 200):
            inside = [h for h in parsed.headings if chunk.start < h.start < chunk.end]
            for heading in inside:
                before = max((h for h in parsed.headings if h.start < heading.start), key=lambda h: h.start)
                assert before.level < heading.level
                assert not parsed.text[before.end : heading.start].strip(" \t\n\f.:;-\u2013\u2014_=*#")


@given(st.lists(st.integers(2, 18), min_size=1, max_size=60), st.sampled_from([" ", "\n", "\n\n"]))
def test_sentences_that_fit_are_never_cut(lengths: list[int], separator: str) -> None:
    sentences = [f"The {'word ' * length}ends." for length in lengths]
    chunks = chunk_document(ParsedDocument(separator.join(sentences)), 100)
    assert separator.join(chunk.text for chunk in chunks) == separator.join(sentences)
    assert all(chunk.text.startswith("The") and chunk.text.endswith("ends.") for chunk in chunks)


def _chunks(source: str, max_chars: int = 200) -> list[Chunk]:
    return list(chunk_document(parse_markdown(source.encode(), ReadingLimits()), max_chars))


def test_small_paragraphs_under_one_heading_are_one_chunk() -> None:
    chunks = _chunks("# Lease\n\n## Rent\n\nUSD 5.\n\nDue monthly.\n\n## Term\n\nOne year.\n")
    assert [chunk.text for chunk in chunks] == ["# Lease\n\n## Rent\n\nUSD 5.\n\nDue monthly.", "## Term\n\nOne year."]
    assert [chunk.section_path for chunk in chunks] == [("Lease", "Rent"), ("Lease", "Term")]
    assert chunks[1].heading == "Term"


def test_a_paragraph_that_fits_stays_whole() -> None:
    short, long = "First things first.", "A sentence of the long paragraph. " * 5
    assert [chunk.text for chunk in _chunks(f"{short}\n\n{long}\n\n{short}", 180)] == [short, long.strip(), short]


def test_a_long_section_is_divided_evenly() -> None:
    chunks = _chunks("# Fees\n\n" + "The fee of this month is due today. " * 30, 300)
    lengths = [len(chunk.text) for chunk in chunks]
    assert min(lengths) > 200
    assert {chunk.section_path for chunk in chunks} == {("Fees",)}


def test_a_title_is_never_left_alone() -> None:
    clause = "2. **Use.** The party shall " + "keep the information safe, " * 7 + "and so on."
    first = _chunks(clause, 200)[0]
    assert first.text.startswith("2. **Use.** The party shall keep")


def test_a_sentence_over_a_page_break_stays_together() -> None:
    text = "The seller shall deliver\n\n\n\nthe goods today. " + "More is said here about goods. " * 8
    assert chunk_document(ParsedDocument(text), 200)[0].text.startswith(
        "The seller shall deliver\n\n\n\nthe goods today."
    )


def _paged(before: str, after: str, max_chars: int = 200) -> list[str]:
    """Chunks of a text with a footer in its middle."""
    footer = "Northwind lease, page 12"
    text = f"{before}\n\n{footer}\n\n{after}"
    start = len(before) + 2
    parsed = ParsedDocument(text, furniture=(Span(start, start + len(footer)),))
    return [chunk.text for chunk in chunk_document(parsed, max_chars)]


def test_furniture_between_sentences_is_in_no_chunk() -> None:
    assert _paged("The rent is due.", "The term is one year.") == ["The rent is due.", "The term is one year."]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("The seller shall deliver", "the goods today."),
        ("The goods are those of", "Acme Corporation."),
        ("They deliver the goods,", "Acme Corporation pays."),
    ],
)
def test_a_sentence_goes_on_over_furniture(before: str, after: str) -> None:
    assert _paged(before, after) == [f"{before}\n\nNorthwind lease, page 12\n\n{after}"]


def test_a_sentence_too_long_for_a_chunk_is_cut_at_furniture() -> None:
    before, after = "The seller shall deliver " + "the goods " * 8, "to the buyer " + "and the tenant " * 6
    assert _paged(before, after, 150) == [before.strip(), after.strip()]


def test_a_sentence_longer_than_a_chunk_is_cut_at_its_joints() -> None:
    sentence = "; ".join(f"item {number} of the list of goods" for number in range(20)) + "."
    chunks = chunk_document(ParsedDocument(sentence), 150)
    assert all(chunk.text.endswith((";", ".")) for chunk in chunks)


def test_a_chunk_is_on_the_page_on_which_it_begins() -> None:
    parsed = parse_plain(("Page one says this. " * 8 + "\f" + "Page two says that. " * 8).encode(), ReadingLimits())
    assert [chunk.page for chunk in chunk_document(parsed, 200)] == [1, 2]
    assert [chunk.page for chunk in _chunks("No pages.")] == [0]


def test_a_chunk_that_a_rule_opens_is_on_the_page_of_its_words() -> None:
    text = "_________\n\nThe term is one year."
    parsed = ParsedDocument(text, pages=(PageSpan(1, 0, 11), PageSpan(2, 11, len(text))))
    assert [(chunk.text, chunk.page) for chunk in chunk_document(parsed, 200)] == [(text, 2)]
    parsed = ParsedDocument("_________", pages=(PageSpan(1, 0, 9),))
    assert [chunk.page for chunk in chunk_document(parsed, 200)] == [1]


def test_a_megabyte_is_cut_in_reasonable_time() -> None:
    clause = "9.2 Governing Law. This Agreement is governed by the laws of Oregon, and by no other; so be it.\n\n"
    parsed = parse_plain((clause * (1_000_000 // len(clause))).encode(), ReadingLimits())
    started = time.process_time()
    chunks = chunk_document(parsed, 900)
    assert time.process_time() - started < 5
    assert sum(len(chunk.text) for chunk in chunks) > 900_000
