"""From bytes to text and passages, for texts that nobody wrote."""

import time

import pytest

from proviso_service.reading.formats import read_document
from proviso_service.reading.model import ReadDocument, ReadingLimits, UnreadableFile

TEXT = "text/plain"
MARKDOWN = "text/markdown"


def _read(media_type: str, text: str, limits: ReadingLimits | None = None) -> ReadDocument:
    return read_document(media_type, text.encode(), limits or ReadingLimits())


@pytest.mark.parametrize(
    ("media_type", "text"),
    [
        (TEXT, "x" * 250_000),
        (TEXT, "word " * 50_000),
        (TEXT, "\n" * 250_000 + "The end."),
        (TEXT, " " * 250_000 + "The end."),
        (TEXT, "".join(f"{number}. The thing\n" for number in range(12_000))),
        (TEXT, "".join(f"{number % 99}.{number % 77} Thing. It is.\n" for number in range(12_000))),
        (TEXT, "".join(f"{number}\n" for number in range(25_000))),
        (TEXT, "THE TERM\n\n" * 12_000),
        (TEXT, "(a) " * 50_000),
        (TEXT, "a\f" * 2_000),
        (MARKDOWN, "x" * 250_000),
        (MARKDOWN, "[" * 75_000),
        (MARKDOWN, "*a **b " * 25_000),
        (MARKDOWN, "- " * 25_000),
        (MARKDOWN, "1. " * 12_000),
        (MARKDOWN, "".join("  " * (line % 500) + "- x\n" for line in range(2_000))),
        (MARKDOWN, (">" * 1_000 + " x\n") * 100),
        (MARKDOWN, "# a\n" * 5_000),
    ],
)
def test_time_grows_with_the_size_of_a_text_and_no_faster(media_type: str, text: str) -> None:
    started = time.process_time()
    read = _read(media_type, text)
    assert time.process_time() - started < 4
    assert read.chunks
    assert sum(len(chunk.text.split()) for chunk in read.chunks) > 0


@pytest.mark.parametrize("text", ["# a\n" * 100_001, "# a\nb\n\n" * 100_001])
def test_a_text_of_nothing_but_headings_is_refused_at_once(text: str) -> None:
    started = time.process_time()
    with pytest.raises(UnreadableFile, match=r"^The document has too many sections\. Split it"):
        _read(MARKDOWN, text)
    assert time.process_time() - started < 2


def test_a_text_of_too_many_pages_is_refused() -> None:
    assert len(_read(TEXT, "a\f" * 3, ReadingLimits(max_pages=4)).parsed.pages) == 3
    with pytest.raises(UnreadableFile, match=r"^The document has more than 4 pages\. Split it"):
        _read(TEXT, "a\f" * 4 + "b", ReadingLimits(max_pages=4))


@pytest.mark.parametrize("text", ["", " ", "\n\f\n", "\ufeff \t\n"])
def test_a_file_without_words_is_refused(text: str) -> None:
    with pytest.raises(UnreadableFile, match=r"^The file holds no text\.$"):
        _read(TEXT, text)


def test_a_text_of_nothing_but_running_lines_is_kept() -> None:
    read = _read(TEXT, "Northwind\f" * 5)
    assert "".join(chunk.text for chunk in read.chunks).count("Northwind") == 5
