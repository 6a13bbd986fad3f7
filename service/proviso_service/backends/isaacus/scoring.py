"""Scores of passages by calls that come back in another order."""

from collections.abc import Awaitable, Callable, Sequence
from functools import partial

import numpy as np

from proviso_service.backends.isaacus.answers import Scored, by_index
from proviso_service.backends.isaacus.client import IsaacusClient
from proviso_service.backends.isaacus.texts import batches, headed
from proviso_service.concurrency import all_of
from proviso_service.models import Passage, Scores

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
