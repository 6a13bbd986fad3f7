"""What a child says: nothing of it is believed."""

import json
import math
from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proviso_service.reading.model import (
    PACKED_WORD,
    Chunk,
    FileTooLong,
    Heading,
    PageSpan,
    PageWords,
    ParsedDocument,
    ReadDocument,
    ReadingLimits,
    Span,
    UnreadableFile,
)
from proviso_service.reading.worker.answers import (
    OUT_OF_MEMORY,
    READ,
    BrokenAnswer,
    ChildFault,
    ChildOutOfMemory,
    decode_answer,
    encode_fault,
    encode_read,
    encode_unsupported,
)
from proviso_service.reading.worker.messages import frame

LIMITS = ReadingLimits(max_text_chars=1_000, chunk_chars=100)
TEXT = "# Lease\n\nThe rent is due.\n\n7\n\nThe term is a year."
WORD = PACKED_WORD.pack(9, 3, 0, 1, 2, 0xFFFF)
DOCUMENT = ReadDocument(
    ParsedDocument(
        TEXT,
        (Heading(1, "Lease", 0, 7),),
        (PageSpan(1, 0, 28), PageSpan(2, 28, len(TEXT))),
        (Span(27, 28),),
        (PageWords(1, 595.0, 842.0, WORD), PageWords(2, 842.0, 595.0)),
    ),
    (
        Chunk(0, 0, 25, TEXT[:25], 1, ("Lease",), ("1", "1(a)")),
        Chunk(1, 30, len(TEXT), TEXT[30:], 2, ("Lease", "Term \U0001f600")),
    ),
)


def test_a_document_arrives_as_it_was_sent() -> None:
    assert decode_answer(b"".join(encode_read(DOCUMENT)), LIMITS) == DOCUMENT


@given(st.text(st.characters(exclude_characters="\0"), min_size=1, max_size=300), st.lists(st.text(min_size=1)))
def test_any_text_and_titles_arrive(text: str, titles: list[str]) -> None:
    chunks = (Chunk(0, 0, min(len(text), 100), text[:100], 0, tuple(titles[:3])),)
    headings = tuple(Heading(1, title, 0, 0) for title in titles)
    sent = b"".join(encode_read(ReadDocument(ParsedDocument(text, headings), chunks)))
    if any("\0" in title for title in titles):
        with pytest.raises(BrokenAnswer):
            decode_answer(sent, LIMITS)
        return
    arrived = decode_answer(sent, LIMITS)
    assert arrived.parsed.text == text.encode("utf-8", "replace").decode()
    assert len(arrived.parsed.headings) == len(titles)
    assert arrived.chunks[0].content_sha256


def test_a_late_page_of_a_short_text_arrives() -> None:
    document = ReadDocument(ParsedDocument("Rent", pages=(PageSpan(500, 0, 4),)), (Chunk(0, 0, 4, "Rent", 500),))
    assert decode_answer(b"".join(encode_read(document)), LIMITS) == document


def test_lone_surrogates_do_not_arrive() -> None:
    document = ReadDocument(ParsedDocument("a\ud800b"), (Chunk(0, 0, 3, "a\ud800b"),))
    assert decode_answer(b"".join(encode_read(document)), LIMITS).chunks[0].text == "a?b"


def test_the_other_verdicts_arrive() -> None:
    with pytest.raises(UnreadableFile, match=r"^No text  here\.$"):
        decode_answer(encode_unsupported(UnreadableFile("No text\r\nhere.")), LIMITS)
    with pytest.raises(FileTooLong, match="Split it"):
        decode_answer(encode_unsupported(FileTooLong("Split it.")), LIMITS)
    with pytest.raises(ChildOutOfMemory):
        decode_answer(frame(OUT_OF_MEMORY, b""), LIMITS)
    with pytest.raises(ChildFault, match=r"^ValueError at pdf\.py:3$"):
        decode_answer(encode_fault("ValueError at pdf.py:3"), LIMITS)


def _forged(**changes: Sequence[object]) -> bytes:
    """An answer with some of its parts forged: kinds are H, P, N, S, C as in answers.py."""
    parts: dict[str, Sequence[object]] = {"C": [[0, 5, 0, -1, []]]} | changes
    frames = [frame(kind.encode(), json.dumps(entries).encode()) for kind, entries in parts.items()]
    return frame(b"T", TEXT.encode()) + b"".join(frames) + frame(READ, b"")


def test_a_forgery_without_faults_is_an_answer() -> None:
    assert decode_answer(_forged(), LIMITS).chunks[0].text == TEXT[:5]


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"T",
        b"garbage and more of it",
        frame(READ, b""),
        frame(b"T", b"text") + frame(READ, b""),
        frame(b"T", b"text"),
        frame(b"?", b"text"),
        frame(b"T", b"\xff\xff"),
        frame(b"U", b""),
        frame(b"U", b"\xff"),
        frame(b"C", b"[" * 100_000),
        frame(b"C", b"9" * 10_000),
        frame(b"C", b"x" * (1024 * 1024 + 1)),
        frame(b"C", b'{"a": 1}') + frame(READ, b""),
        b"T\xff\xff\xff\xff",
        _forged() + frame(READ, b""),
        _forged() + b"x",
        _forged().replace(b"Lease", b"Le\0se"),
        _forged(C=[]),
        _forged(C=[[0, 5, 0, -1]]),
        _forged(C=[[0, 5, 0, -1, [], 1]]),
        _forged(C=[7]),
        _forged(C=[[5, 5, 0, -1, []]]),
        _forged(C=[[5, 3, 0, -1, []]]),
        _forged(C=[[-1, 3, 0, -1, []]]),
        _forged(C=[[0, 1_000, 0, -1, []]]),
        _forged(C=[[0, 1e9, 0, -1, []]]),
        _forged(C=[[0, True, 0, -1, []]]),
        _forged(C=[["0", 5, 0, -1, []]]),
        _forged(C=[[0, 5, 0, -1, []], [4, 8, 0, -1, []]]),
        _forged(C=[[6, 8, 0, -1, []], [0, 4, 0, -1, []]]),
        _forged(C=[[0, 5, 3, -1, []]]),
        _forged(C=[[0, 5, 0, 0, []]]),
        _forged(C=[[0, 5, 0, -2, []]]),
        _forged(C=[[0, 5, 0, -1, ["1"] * 33]]),
        _forged(C=[[0, 5, 0, -1, ["1" * 41]]]),
        _forged(C=[[0, 5, 0, -1, ["1\n2"]]]),
        _forged(C=[[0, 5, 0, -1, [1]]]),
        _forged(C=[[0, 5, 0, -1, "12"]]),
        _forged(H=[[1, "Title", 0, 1_000]]),
        _forged(H=[[0, "Title", 0, 5]]),
        _forged(H=[[1, "", 0, 5]]),
        _forged(H=[[1, "x" * 1_001, 0, 5]]),
        _forged(H=[[1, 7, 0, 5]]),
        _forged(H=[[1, "\ud800", 0, 5]]),
        _forged(H=[[1, "Later", 6, 7], [1, "Earlier", 2, 3]]),
        _forged(P=[[1, 0, 10], [2, 5, 20]]),
        _forged(P=[[0, 0, 10]]),
        _forged(P=[[10**9, 0, 10]]),
        _forged(N=[[0, 5], [4, 8]]),
        _forged(N=[[8, 5]]),
        _forged(S=[[0, "Title"]]),
        _forged(S=[[-2, "Title"]]),
        _forged(S=[[index - 1, "Title"] for index in range(65)]),
    ],
)
def test_what_is_no_answer_is_broken(answer: bytes) -> None:
    with pytest.raises(BrokenAnswer):
        decode_answer(answer, LIMITS)


@pytest.mark.parametrize(
    "pages",
    [
        (PageWords(0, 595.0, 842.0),),
        (PageWords(10**9, 595.0, 842.0),),
        (PageWords(1, math.nan, 842.0),),
        (PageWords(1, 595.0, -1.0),),
        (PageWords(1, 595.0, 1e9),),
        (PageWords(1, 595.0, 842.0, WORD[1:]),),
        (PageWords(1, 595.0, 842.0, WORD * 20),),
        (PageWords(2, 595.0, 842.0), PageWords(1, 595.0, 842.0)),
        (PageWords(1, 595.0, 842.0), PageWords(1, 595.0, 842.0)),
    ],
)
def test_words_outside_the_text_and_impossible_pages_are_broken(pages: tuple[PageWords, ...]) -> None:
    forged = replace(DOCUMENT, parsed=replace(DOCUMENT.parsed, page_words=pages))
    with pytest.raises(BrokenAnswer):
        decode_answer(b"".join(encode_read(forged)), LIMITS)
    with pytest.raises(BrokenAnswer):
        decode_answer(frame(b"W", b"short") + b"".join(encode_read(DOCUMENT)), LIMITS)


def test_a_text_over_the_limit_and_chunks_over_theirs_are_broken() -> None:
    sent = b"".join(encode_read(DOCUMENT))
    for limits in (
        ReadingLimits(max_text_chars=len(TEXT) - 1, chunk_chars=100),
        ReadingLimits(max_text_chars=1_000, chunk_chars=24),
    ):
        with pytest.raises(BrokenAnswer):
            decode_answer(sent, limits)


@given(st.data())
def test_damaged_bytes_are_an_answer_or_broken(data: st.DataObject) -> None:
    sent = bytearray(b"".join(encode_read(DOCUMENT)))
    for _ in range(data.draw(st.integers(1, 4))):
        sent[data.draw(st.integers(0, len(sent) - 1))] = data.draw(st.integers(0, 255))
    try:
        read = decode_answer(bytes(sent), LIMITS)
    except (BrokenAnswer, UnreadableFile, ChildFault, ChildOutOfMemory):
        return
    for chunk in read.chunks:
        assert chunk.text == read.parsed.text[chunk.start : chunk.end]
