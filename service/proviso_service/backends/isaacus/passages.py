"""How passages are written for Isaacus's models, and how their texts are divided into calls."""

from collections.abc import Awaitable, Callable, Iterator, Sequence
from functools import partial

import numpy as np

from proviso_service.backends.isaacus.client import IsaacusClient, TextScore, by_index
from proviso_service.concurrency import all_of
from proviso_service.models import ModelPassage, Scores
from proviso_service.reading import readable

FORM = "1"
"""The version of the way in which passages are written. It is part of model ids, because scores of passages that were
written in another way cannot be compared with these."""

HEADING_CHARS = 300
"""The longest text of headings above a passage; the innermost headings are kept."""

MAX_CHARS_PER_CALL = 200_000
"""The most characters of all texts of a call together. A text that is longer is sent in a call of its own."""

_BLANK = "-"
"""Sent in place of a blank text, which the API refuses."""

Ask = Callable[[Sequence[str]], Awaitable[Sequence[TextScore]]]


async def score_all(client: IsaacusClient, passages: Sequence[ModelPassage], texts_per_call: int, ask: Ask) -> Scores:
    """Scores of shape (len(passages),), in the order of the passages. `ask` scores the texts of one call."""
    texts = [with_headings(passage) for passage in passages]
    scores = np.empty(len(texts), dtype=np.float32)

    async def score(part: slice) -> None:
        results = by_index(await ask(texts[part]), part.stop - part.start)
        scores[part] = [result.score for result in results]

    await all_of((partial(score, part) for part in batches(texts, texts_per_call)), client.calls_at_once)
    return scores


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


def code_points(text: str) -> str:
    """The text with each character at its own position; lone surrogates, which no encoding can express, become question
    marks."""
    return text.encode("utf-8", "replace").decode("utf-8")
