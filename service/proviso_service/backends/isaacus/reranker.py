"""The reranker port on Isaacus."""

from collections.abc import Sequence
from functools import partial
from typing import Any

from proviso_service.backends.isaacus.answers import Rerankings, Scored
from proviso_service.backends.isaacus.client import Call, IsaacusClient
from proviso_service.backends.isaacus.scoring import FORM, score_all
from proviso_service.backends.isaacus.texts import plain
from proviso_service.models import Passage, Scores
from proviso_service.settings import IsaacusSettings

ENDPOINT = "rerankings"


class IsaacusReranker:
    """Reranker port. Somebody waits for a search, so its calls are urgent."""

    def __init__(self, client: IsaacusClient, settings: IsaacusSettings) -> None:
        self._client = client
        self._model = settings.reranker_model
        self._texts_per_call = settings.texts_per_call

    @property
    def model_id(self) -> str:
        return f"isaacus/{self._model}/{FORM}"

    async def score(self, query: str, passages: Sequence[Passage]) -> Scores:
        """Raises ModelApiError, TooBusy, NotReady."""
        ask = partial(self._ask, plain(query))
        return await score_all(self._client, passages, self._texts_per_call, ask)

    async def _ask(self, query: str, texts: Sequence[str]) -> Sequence[Scored]:
        request: dict[str, Any] = {
            "model": self._model,
            "query": query,
            "texts": texts,
            "top_n": None,
            "is_iql": False,
            "scoring_method": "auto",
            "chunking_options": None,  # passages are chunks already
        }
        send = partial(self._client.sdk.rerankings.with_raw_response.create, **request)
        answer = await self._client.call(Call(ENDPOINT, send, texts, query, urgent=True), Rerankings)
        return answer.results
