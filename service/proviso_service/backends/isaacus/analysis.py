"""Isaacus's classifier and extractor, as the ports of `models` ask for them."""

from collections.abc import Sequence
from functools import partial
from typing import Any

from proviso_service.backends.isaacus.client import (
    AnswerPart,
    Call,
    Classifications,
    Extraction,
    Extractions,
    IsaacusClient,
    Scored,
    by_index,
)
from proviso_service.backends.isaacus.failures import unreadable_answer
from proviso_service.backends.isaacus.passages import FORM, batches, code_points, plain, score_all
from proviso_service.concurrency import all_of
from proviso_service.models import AnswerSpan, Passage, Scores
from proviso_service.settings import IsaacusSettings

CLASSIFICATION = "classifications/universal"


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
        """Raises ModelApiError, ModelBusy, ModelClosed."""
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
        answer = await self._client.call(Call(CLASSIFICATION, send, texts, statement), Classifications)
        return answer.classifications


EXTRACTION = "extractions/qa"
ANSWERS = 3
"""Of one passage."""


class IsaacusExtractor:
    """Answer extractor port. Passages are sent as they stand, without headings, because answers are positions in them.

    An answer's score is that of the span among the passage's spans, times what is left by the score of there being no
    answer: so a good span of a passage that hardly answers comes after a fair one of a passage that does."""

    def __init__(self, client: IsaacusClient, settings: IsaacusSettings) -> None:
        self._client = client
        self._model = settings.extractor_model
        self._texts_per_call = settings.texts_per_call

    @property
    def model_id(self) -> str:
        return f"isaacus/{self._model}/1"

    async def extract(self, question: str, passages: Sequence[Passage]) -> Sequence[Sequence[AnswerSpan]]:
        """Raises ModelApiError, ModelBusy, ModelClosed."""
        found: list[Sequence[AnswerSpan]] = [()] * len(passages)
        readable = [index for index, passage in enumerate(passages) if passage.text.strip()]
        texts = [code_points(passages[index].text) for index in readable]
        query = plain(question)

        async def extract(part: slice) -> None:
            for index, answers in zip(readable[part], await self._ask(query, texts[part]), strict=True):
                found[index] = answers

        await all_of(
            (partial(extract, part) for part in batches(texts, self._texts_per_call)), self._client.calls_at_once
        )
        return found

    async def _ask(self, question: str, texts: Sequence[str]) -> list[Sequence[AnswerSpan]]:
        request: dict[str, Any] = {
            "model": self._model,
            "query": question,
            "texts": texts,
            "ignore_inextractability": False,
            "top_k": ANSWERS,
            "chunking_options": None,  # passages are chunks already
        }
        send = partial(self._client.sdk.extractions.qa.with_raw_response.create, **request)
        answer = await self._client.call(Call(EXTRACTION, send, texts, question), Extractions)
        ordered = by_index(answer.extractions, len(texts))
        return [_answers(extraction, text) for extraction, text in zip(ordered, texts, strict=True)]


def _answers(extraction: Extraction, text: str) -> tuple[AnswerSpan, ...]:
    """Best first; of those that overlap, the best."""
    kept: list[AnswerSpan] = []
    for span in sorted(extraction.answers, key=lambda span: (-span.score, span.start)):
        answer = _checked(span, text, 1 - extraction.inextractability_score)
        if answer.start < answer.end and not any(answer.start < k.end and k.start < answer.end for k in kept):
            kept.append(answer)
    return tuple(kept)


def _checked(span: AnswerPart, text: str, share: float) -> AnswerSpan:
    """The span without white space at its ends. Raises ModelApiUnavailable where the answer does not stand there."""
    inside = text[span.start : span.end]
    if span.end > len(text) or inside.split() != span.text.split():
        raise unreadable_answer("an answer is not where it says")
    start = span.end - len(inside.lstrip())
    return AnswerSpan(start, start + len(inside.strip()), span.score * share)
