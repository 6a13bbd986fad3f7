"""The embedded reranker: it reads what is searched for together with the best passages of a search."""

import asyncio
from collections.abc import Sequence

import numpy as np

from proviso_service.embedded.judge import Judge, readable_pairs
from proviso_service.models import ModelPassage, Scores
from proviso_service.reading import readable

_RANK_WEIGHT = 1.5
"""How much the order by meaning and words still counts (evals/README.md): with 1 and 2 the right passage is as often
first, without it a little less often."""


class EmbeddedReranker:
    """Implements Reranker by the judge. A passage or query that is not in English, which it cannot read, is taken for
    neither right nor wrong, so that the order of the search decides."""

    most = 8
    """Reading so many passages takes some 0.1 s."""

    def __init__(self, judge: Judge) -> None:
        self._judge = judge

    @property
    def model_id(self) -> str:
        return self._judge.model_id

    async def score(self, query: str, passages: Sequence[ModelPassage]) -> Scores:
        texts = [readable(passage.text) for passage in passages]
        legible = np.flatnonzero(await asyncio.to_thread(readable_pairs, query, texts))
        margins = np.zeros(len(texts))
        margins[legible] = await self._judge.margins([(query, texts[index]) for index in legible])
        margins -= _RANK_WEIGHT * np.log1p(np.arange(len(texts)))
        return (1 / (1 + np.exp(-margins))).astype(np.float32)
