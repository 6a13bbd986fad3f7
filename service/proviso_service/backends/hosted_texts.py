"""How texts are written for hosted models and divided into calls, and how what comes back is put in order."""

from collections.abc import Iterator, Sequence
from typing import Protocol, TypeVar

import numpy as np

from proviso_service.backends.hosted_calls import unusable_answer
from proviso_service.models import ModelPassage, Vectors
from proviso_service.reading import readable

FORM = "1"
"""The version of the way in which passages are written. It is part of model ids, because scores of passages that were
written in another way cannot be compared with these."""

HEADING_CHARS = 300
"""The longest text of headings above a passage; the innermost headings are kept."""

MAX_CHARS_PER_CALL = 200_000
"""The most characters of all texts of a call together. A text that is longer is sent in a call of its own."""

_BLANK = "-"
"""Sent in place of a blank text, which APIs refuse."""


class _Indexed(Protocol):
    @property
    def index(self) -> int: ...


T = TypeVar("T", bound=_Indexed)


def batches(texts: Sequence[str], max_texts: int) -> Iterator[slice]:
    """Consecutive slices of the texts, each of which fits into one call."""
    start = chars = 0
    for index, text in enumerate(texts):
        if index > start and (index - start == max_texts or chars + len(text) > MAX_CHARS_PER_CALL):
            yield slice(start, index)
            start, chars = index, 0
        chars += len(text)
    if start < len(texts):
        yield slice(start, len(texts))


def with_headings(passage: ModelPassage) -> str:
    """The passage below its headings, outermost first, because the name of a clause often stands in its heading only. A
    heading that the passage itself begins with is left out."""
    text = plain(passage.text)
    titles = [title for title in map(readable, passage.section_path) if title and not text.startswith(title)]
    above = " / ".join(titles)[-HEADING_CHARS:]
    return f"{above}\n\n{text}" if above.strip() else text


def plain(text: str) -> str:
    """The text without ligatures and invisible characters; never blank."""
    words = readable(text)
    return words if words.strip() else _BLANK


def by_index(service: str, results: Sequence[T], count: int) -> list[T]:
    """The results in the order of the `count` texts that were sent. Raises ModelApiUnavailable unless each text has
    exactly one result."""
    ordered = sorted(results, key=lambda result: result.index)
    if [result.index for result in ordered] != list(range(count)):
        raise unusable_answer(service, "it does not have exactly one result for each text")
    return ordered


def unit_vectors(service: str, embeddings: Sequence[Sequence[float]], dimensions: int) -> Vectors:
    """The embeddings as rows of length 1. Raises ModelApiUnavailable for one of a wrong size or without length."""
    if any(len(embedding) != dimensions for embedding in embeddings):
        raise unusable_answer(service, f"an embedding does not have {dimensions} dimensions")
    vectors = np.array(embeddings, dtype=np.float64)
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    if not (np.isfinite(lengths).all() and (lengths > 0).all()):
        raise unusable_answer(service, "an embedding is zero or not finite")
    unit: Vectors = (vectors / lengths).astype(np.float32)
    return unit
