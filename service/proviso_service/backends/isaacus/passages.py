"""How passages are written for Isaacus, and how many go into one call."""

from collections.abc import Awaitable, Callable, Iterator, Sequence
from functools import partial

import numpy as np

from proviso_service.backends.isaacus.client import IsaacusClient, Scored, by_index
from proviso_service.concurrency import all_of
from proviso_service.models import Passage, Scores
from proviso_service.reading import readable


def headed(passage: Passage) -> str:
    """The passage under its headings, outermost first, because what a clause is called often stands only there. A
    heading that the passage itself begins with is left out."""
    text = plain(passage.text)
    titles = [title for title in map(readable, passage.section_path) if title and not text.startswith(title)]
    above = " / ".join(titles)[-HEADING_CHARS:]
    return f"{above}\n\n{text}" if above.strip() else text


def batches(texts: Sequence[str], max_texts: int) -> Iterator[slice]:
    """Runs of texts that one call may hold, in order."""
    start = chars = 0
    for index, text in enumerate(texts):
        if index > start and (index - start == max_texts or chars + len(text) > MAX_CHARS_PER_CALL):
            yield slice(start, index)
            start, chars = index, 0
        chars += len(text)
    if start < len(texts):
        yield slice(start, len(texts))


FORM = "1"
"""Stands for how passages are written, in the ids of models: scores of another form are other scores."""


Ask = Callable[[Sequence[str]], Awaitable[Sequence[Scored]]]


async def score_all(client: IsaacusClient, passages: Sequence[Passage], texts_per_call: int, ask: Ask) -> Scores:
    """Shape (len(passages),), in order. `ask` has the texts of one call scored."""
    texts = [headed(passage) for passage in passages]
    scores = np.empty(len(texts), dtype=np.float32)

    async def score(part: slice) -> None:
        found = by_index(await ask(texts[part]), part.stop - part.start)
        scores[part] = [one.score for one in found]

    await all_of((partial(score, part) for part in batches(texts, texts_per_call)), client.calls_at_once)
    return scores


HEADING_CHARS = 300
"""Of the headings above a passage, the innermost ones."""


MAX_CHARS_PER_CALL = 200_000
"""Of all texts of a call; a longer text has a call of its own."""


_NOTHING = "-"
"""In place of a text in which there is nothing to read, since the API takes no blank ones."""


def plain(text: str) -> str:
    """The text as words are read in it: without ligatures and characters that are not seen."""
    words = readable(text)
    return words if words.strip() else _NOTHING


def code_points(text: str) -> str:
    """The text as it is, position by position: only lone surrogates, which no encoding takes, are question marks."""
    return text.encode("utf-8", "replace").decode("utf-8")
