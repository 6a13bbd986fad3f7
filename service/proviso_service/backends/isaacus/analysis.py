"""Isaacus's classifier and extractor; they implement the protocols Classifier and AnswerExtractor of `models`."""

from collections.abc import Sequence
from functools import partial
from typing import Any

from proviso_service.backends.hosted_calls import unusable_answer
from proviso_service.backends.hosted_texts import FORM, batches, by_index, plain
from proviso_service.backends.isaacus.client import (
    ApiCall,
    Classifications,
    ExtractedAnswer,
    Extractions,
    IsaacusClient,
    IsaacusConfig,
    TextExtraction,
    TextScore,
)
from proviso_service.backends.isaacus.failures import SERVICE
from proviso_service.backends.isaacus.passages import code_points, score_all
from proviso_service.concurrency import all_of
from proviso_service.models import AnswerSpan, ModelPassage, Scores

CLASSIFICATION = "classifications/universal"


class IsaacusClassifier:
    """Scores how far a passage fits a statement, over Isaacus's classification endpoint.

    Each statement is sent as plain text (`is_iql` is off): the service evaluates IQL queries itself, so that it can
    store one score for each statement."""

    def __init__(self, client: IsaacusClient, settings: IsaacusConfig) -> None:
        self._client = client
        self._model = settings.classifier_model
        self._texts_per_call = settings.texts_per_call

    @property
    def model_id(self) -> str:
        return f"isaacus/{self._model}/{FORM}"

    async def score(self, statement: str, passages: Sequence[ModelPassage]) -> Scores:
        """Raises ModelApiError, ModelBusy, ModelClosed."""
        ask = partial(self._ask, plain(statement))
        return await score_all(self._client, passages, self._texts_per_call, ask)

    async def _ask(self, statement: str, texts: Sequence[str]) -> Sequence[TextScore]:
        request: dict[str, Any] = {
            "model": self._model,
            "query": statement,
            "texts": texts,
            "is_iql": False,
            "scoring_method": "auto",
            "chunking_options": None,  # passages are chunks already
        }
        send = partial(self._client.sdk.classifications.universal.with_raw_response.create, **request)
        answer = await self._client.call(ApiCall(CLASSIFICATION, send, texts, statement), Classifications)
        return answer.classifications


EXTRACTION = "extractions/qa"
ANSWERS = 3
"""The number of answers that are asked for in each passage."""


class IsaacusExtractor:
    """Finds the spans of passages that answer a question, over Isaacus's extraction endpoint.

    Passages are sent unchanged and without headings, because answers come back as positions in them. The API gives each
    span a score among the passage's spans, and each passage the score of holding no answer at all. An answer's score
    is span score times (1 - score of no answer), so that a good span of a passage that hardly answers the question
    ranks below a fair span of a passage that does."""

    def __init__(self, client: IsaacusClient, settings: IsaacusConfig) -> None:
        self._client = client
        self._model = settings.extractor_model
        self._texts_per_call = settings.texts_per_call

    @property
    def model_id(self) -> str:
        return f"isaacus/{self._model}/1"

    async def extract(self, question: str, passages: Sequence[ModelPassage]) -> Sequence[Sequence[AnswerSpan]]:
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
        answer = await self._client.call(ApiCall(EXTRACTION, send, texts, question), Extractions)
        ordered = by_index(SERVICE, answer.extractions, len(texts))
        return [_answers(extraction, text) for extraction, text in zip(ordered, texts, strict=True)]


def _answers(extraction: TextExtraction, text: str) -> tuple[AnswerSpan, ...]:
    """The passage's answers, best first; of answers that overlap, only the best is kept."""
    kept: list[AnswerSpan] = []
    for span in sorted(extraction.answers, key=lambda span: (-span.score, span.start)):
        answer = _checked(span, text, 1 - extraction.inextractability_score)
        if answer.start < answer.end and not any(answer.start < k.end and k.start < answer.end for k in kept):
            kept.append(answer)
    return tuple(kept)


def _checked(span: ExtractedAnswer, text: str, share: float) -> AnswerSpan:
    """The span without white space at its ends, its score multiplied by `share`.

    Raises ModelApiUnavailable where the passage does not hold the answer's text at its position."""
    inside = text[span.start : span.end]
    if span.end > len(text) or inside.split() != span.text.split():
        raise unusable_answer(SERVICE, "an extracted answer is not at the position that it gives")
    start = span.end - len(inside.lstrip())
    return AnswerSpan(start, start + len(inside.strip()), span.score * share)
