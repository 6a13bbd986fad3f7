"""The embedded reranker: it reads what is searched for together with the best passages of a search."""

from collections.abc import Sequence

import numpy as np

from proviso_service.embedded.judge import Judge, readable_pairs
from proviso_service.models import ModelPassage, Scores
from proviso_service.reading import readable

_RANK_WEIGHT = 1.5
"""How much the order by meaning and words still counts. Measured on labelled contracts (evals/README.md): 1 and 2 are
as good, and without it the first passage is right a little less often."""


class EmbeddedReranker:
    """Implements Reranker by the judge. Where it cannot read the query or one of the passages, because they are not in
    English, all passages have the same score."""

    most = 8
    """Reading so many passages takes some 0.1 s."""

    def __init__(self, judge: Judge) -> None:
        self._judge = judge

    @property
    def model_id(self) -> str:
        return self._judge.model_id

    async def score(self, query: str, passages: Sequence[ModelPassage]) -> Scores:
        texts = [readable(passage.text) for passage in passages]
        if not readable_pairs(query, texts).all():
            return np.zeros(len(texts), dtype=np.float32)
        margins = await self._judge.margins([(query, text) for text in texts])
        margins -= _RANK_WEIGHT * np.log1p(np.arange(len(texts)))
        return (1 / (1 + np.exp(-margins))).astype(np.float32)
