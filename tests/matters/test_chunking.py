"""Chunks: exact, in order, complete, bounded, and cut where a reader would."""

import time

from hypothesis import example, given
from hypothesis import strategies as st

from proviso_service.matters.chunking import chunk_document
from proviso_service.matters.model import Chunk, ParsedDocument
from proviso_service.matters.parsing.canonical import ReadingLimits
from proviso_service.matters.parsing.markdown import parse_markdown
from proviso_service.matters.parsing.plain import parse_plain

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
            assert not parsed.text[position : chunk.start].strip()
            position = chunk.end
        assert not parsed.text[position:].strip()


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


def test_a_sentence_longer_than_a_chunk_is_cut_at_its_joints() -> None:
    sentence = "; ".join(f"item {number} of the list of goods" for number in range(20)) + "."
    chunks = chunk_document(ParsedDocument(sentence), 150)
    assert all(chunk.text.endswith((";", ".")) for chunk in chunks)


def test_a_chunk_is_on_the_page_on_which_it_begins() -> None:
    parsed = parse_plain(("Page one says this. " * 8 + "\f" + "Page two says that. " * 8).encode(), ReadingLimits())
    assert [chunk.page for chunk in chunk_document(parsed, 200)] == [1, 2]
    assert [chunk.page for chunk in _chunks("No pages.")] == [0]


def test_five_megabytes_are_cut_in_reasonable_time() -> None:
    clause = "9.2 Governing Law. This Agreement is governed by the laws of Oregon, and by no other; so be it.\n\n"
    parsed = parse_plain((clause * (5_000_000 // len(clause))).encode(), ReadingLimits())
    started = time.process_time()
    chunks = chunk_document(parsed, 900)
    assert time.process_time() - started < 15
    assert sum(len(chunk.text) for chunk in chunks) > 4_500_000
