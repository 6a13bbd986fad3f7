"""The classifier port on Isaacus."""

from collections.abc import Sequence
from functools import partial
from typing import Any

from proviso_service.backends.isaacus.answers import Classifications, Scored
from proviso_service.backends.isaacus.client import Call, IsaacusClient
from proviso_service.backends.isaacus.scoring import FORM, score_all
from proviso_service.backends.isaacus.texts import plain
from proviso_service.models import Passage, Scores
from proviso_service.settings import IsaacusSettings

ENDPOINT = "classifications/universal"


class IsaacusClassifier:
    """Classifier port. Statements are sent as plain words: the language is evaluated here, so that a score is kept for
    each statement."""

    def __init__(self, client: IsaacusClient, settings: IsaacusSettings) -> None:
        self._client = client
        self._model = settings.classifier_model
        self._texts_per_call = settings.texts_per_call

    @property
    def model_id(self) -> str:
        return f"isaacus/{self._model}/{FORM}"

    async def score(self, statement: str, passages: Sequence[Passage]) -> Scores:
        """Raises ModelApiError, TooBusy, NotReady."""
        ask = partial(self._ask, plain(statement))
        return await score_all(self._client, passages, self._texts_per_call, ask)

    async def _ask(self, statement: str, texts: Sequence[str]) -> Sequence[Scored]:
        request: dict[str, Any] = {
            "model": self._model,
            "query": statement,
            "texts": texts,
            "is_iql": False,
            "scoring_method": "auto",
            "chunking_options": None,  # passages are chunks already
        }
        send = partial(self._client.sdk.classifications.universal.with_raw_response.create, **request)
        answer = await self._client.call(Call(ENDPOINT, send, texts, statement), Classifications)
        return answer.classifications
