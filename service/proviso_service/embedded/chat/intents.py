"""Recognises what a question wants: nearness in meaning to examples, corrected by how the question is built."""

import asyncio
from collections.abc import Mapping

import numpy as np

from proviso_service.embedded.chat.examples import EXAMPLES, Intent
from proviso_service.embedded.chat.lexical import content_words
from proviso_service.embedded.chat.rules import rule_bonus, speaks_of_documents
from proviso_service.embedded.topics import topic_of
from proviso_service.models import Embedder, Vectors

_NEAREST = 2
_DOCUMENT_FREE = frozenset({Intent.GREETING, Intent.THANKS, Intent.ABOUT, Intent.ADVICE, Intent.OFF_TOPIC})
# Below this no example is near; the question is then taken as one about the documents, whose answer must be found.
_MIN_NEARNESS = 0.3
# What has nothing to do with documents must be clearly nearer than the best intent about documents.
_MARGIN = 0.02
_DOCUMENT_MARGIN = 0.18
_MAX_SMALL_TALK_WORDS = 4


class IntentRecogniser:
    """Embeds the examples once, on first use or by `warm_up`, and then places questions among them."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._lock = asyncio.Lock()
        self._examples: Mapping[Intent, Vectors] | None = None

    async def warm_up(self) -> None:
        """Idempotent; concurrent callers share the work."""
        await self._embedded_examples()

    async def recognise(self, question: str) -> Intent:
        """`question` without block, names of documents replaced by a general word."""
        examples = await self._embedded_examples()
        vector = await self._embedder.embed_query(question)
        nearness = {intent: _mean_of_best(vectors @ vector) for intent, vectors in examples.items()}
        return choose(question, nearness)

    async def _embedded_examples(self) -> Mapping[Intent, Vectors]:
        async with self._lock:
            if self._examples is None:
                texts = [text for group in EXAMPLES.values() for text in group]
                vectors = await self._embedder.embed_documents(texts)
                ends = np.cumsum([len(group) for group in EXAMPLES.values()])[:-1]
                self._examples = dict(zip(EXAMPLES, np.split(vectors, ends), strict=True))
            return self._examples


def choose(question: str, nearness: Mapping[Intent, float]) -> Intent:
    """The intent with the best sum of nearness and rule bonuses, under the guards that keep questions about documents
    from being turned away."""
    scores = {intent: _score(question, intent, nearness.get(intent, 0.0)) for intent in Intent}
    best_legal = max((intent for intent in Intent if intent not in _DOCUMENT_FREE), key=scores.__getitem__)
    best_other = max(_DOCUMENT_FREE, key=lambda intent: (scores[intent], intent.value))
    if scores[best_other] < max(_MIN_NEARNESS, scores[best_legal] + _needed_margin(question, best_other)):
        return best_legal if scores[best_legal] >= _MIN_NEARNESS else Intent.FACT
    return best_other


def _score(question: str, intent: Intent, nearness: float) -> float:
    bonus = rule_bonus(question, intent)
    if intent is Intent.COUNT and not bonus:
        return 0.0  # whatever it is near to, a question that asks for no number and for no documents counts nothing
    if intent in (Intent.SHOW, Intent.SUMMARY) and not bonus and topic_of(question):
        return 0.0  # it asks for one thing in a document, not for the document
    return nearness + bonus


def _needed_margin(question: str, other: Intent) -> float:
    if other in (Intent.GREETING, Intent.THANKS) and len(content_words(question)) > _MAX_SMALL_TALK_WORDS:
        return 1.0  # a courtesy in front of a question does not make it small talk
    if other is Intent.ADVICE and rule_bonus(question, other) > 0:
        return 0.0
    return _DOCUMENT_MARGIN if speaks_of_documents(question) else _MARGIN


def _mean_of_best(similarities: Vectors) -> float:
    best = np.sort(similarities)[-_NEAREST:]
    return float(best.mean())
