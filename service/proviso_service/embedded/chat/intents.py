"""Recognises what a question wants, its intent, by how near it is in meaning to example questions. Rules about how
questions are built add a bonus to that nearness; a rule never decides alone."""

import asyncio
from collections.abc import Mapping

import numpy as np

from proviso_service.embedded.chat.phrases import DOCUMENT_FREE, Intent, content_words, intents, pattern
from proviso_service.models import Embedder, Vectors

_PHRASES = intents()
_NEEDS_CUE = frozenset({Intent.COUNT, Intent.COMPARE, Intent.SHOW, Intent.SUMMARY})
"""What a question does not want that has no word for it, whatever it is near to: one that asks for one thing in a
document, for example, is not for the document."""

_NEAREST = 2
# Below this no example is near. The question is then taken for one about the documents, and its answer is searched.
_MIN_NEARNESS = 0.3
# An intent that has nothing to do with documents must be nearer than the best other one, by this much.
_MARGIN = 0.02
_DOCUMENT_MARGIN = 0.18
_MAX_SMALL_TALK_WORDS, _MAX_SMALL_TALK_SUBJECT = 8, 4


class IntentRecogniser:
    """Compares questions with the examples, which it embeds once: on first use or by `warm_up`."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._lock = asyncio.Lock()
        self._examples: Mapping[Intent, Vectors] | None = None

    async def warm_up(self) -> None:
        """Embeds the examples unless that was done. Concurrent callers share the work."""
        await self._embedded_examples()

    async def recognise(self, question: str) -> Intent:
        """Returns the intent of a question, in which the names of documents were replaced by a general word."""
        examples = await self._embedded_examples()
        vector = await self._embedder.embed_query(question)
        nearness = {intent: float(np.sort(vectors @ vector)[-_NEAREST:].mean()) for intent, vectors in examples.items()}
        return choose(question, nearness)

    async def _embedded_examples(self) -> Mapping[Intent, Vectors]:
        async with self._lock:
            if self._examples is None:
                groups = [one.examples for one in _PHRASES.values()]
                texts = [text for group in groups for text in group]
                vectors = await self._embedder.embed_documents(texts)
                ends = np.cumsum([len(group) for group in groups])[:-1]
                self._examples = dict(zip(_PHRASES, np.split(vectors, ends), strict=True))
            return self._examples


def choose(question: str, nearness: Mapping[Intent, float]) -> Intent:
    """Returns the intent with the best sum of nearness and bonus. An intent that has nothing to do with documents
    needs a margin, so that questions about documents are not turned away."""
    scores = {intent: _score(question, intent, nearness.get(intent, 0.0)) for intent in Intent}
    best_legal = max((intent for intent in Intent if intent not in DOCUMENT_FREE), key=scores.__getitem__)
    others = [one for one in DOCUMENT_FREE if one is not Intent.ADVICE or _rule_bonus(question, one) > 0]
    best_other = max(others, key=lambda intent: (scores[intent], intent.value))
    if scores[best_other] < max(_MIN_NEARNESS, scores[best_legal] + _needed_margin(question, best_other)):
        return best_legal if scores[best_legal] >= _MIN_NEARNESS else Intent.FACT
    return best_other


def _rule_bonus(question: str, intent: Intent) -> float:
    """Returns the strongest bonus of the rules for `intent` that hold, or 0 when none does."""
    return max((adds for adds, cue in _PHRASES[intent].cues if cue.search(question)), default=0.0)


def _score(question: str, intent: Intent, nearness: float) -> float:
    bonus = _rule_bonus(question, intent)
    if intent in _NEEDS_CUE and not bonus:
        return 0.0
    if intent is Intent.LIST and not pattern("of_documents").search(question):
        return 0.0  # it asks for a list of something else
    return nearness + bonus


def _needed_margin(question: str, other: Intent) -> float:
    is_long = len(content_words(question)) > _MAX_SMALL_TALK_SUBJECT or len(question.split()) > _MAX_SMALL_TALK_WORDS
    if is_long and other in (Intent.GREETING, Intent.THANKS):
        return 1.0  # a courtesy in front of a question does not make it small talk
    if other is Intent.ABOUT and not pattern("about_assistant").search(question):
        return 1.0  # "Who has to help the buyers?" is no question about the assistant
    if other is Intent.ADVICE:
        return 0.0
    return _DOCUMENT_MARGIN if pattern("about_documents").search(question) else _MARGIN
