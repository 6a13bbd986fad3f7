"""Scores of passages by Isaacus's models, and texts whose positions count."""

from collections.abc import Awaitable, Callable, Sequence
from functools import partial

import numpy as np

from proviso_service.backends.hosted_texts import batches, by_index, with_headings
from proviso_service.backends.isaacus.client import IsaacusClient, TextScore
from proviso_service.backends.isaacus.failures import SERVICE
from proviso_service.concurrency import all_of
from proviso_service.models import ModelPassage, Scores

Ask = Callable[[Sequence[str]], Awaitable[Sequence[TextScore]]]


async def score_all(client: IsaacusClient, passages: Sequence[ModelPassage], texts_per_call: int, ask: Ask) -> Scores:
    """Scores of shape (len(passages),), in the order of the passages. `ask` scores the texts of one call."""
    texts = [with_headings(passage) for passage in passages]
    scores = np.empty(len(texts), dtype=np.float32)

    async def score(part: slice) -> None:
        results = by_index(SERVICE, await ask(texts[part]), part.stop - part.start)
        scores[part] = [result.score for result in results]

    await all_of((partial(score, part) for part in batches(texts, texts_per_call)), client.calls_at_once)
    return scores


def code_points(text: str) -> str:
    """The text with each character at its own position; lone surrogates, which no encoding can express, become question
    marks."""
    return text.encode("utf-8", "replace").decode("utf-8")
