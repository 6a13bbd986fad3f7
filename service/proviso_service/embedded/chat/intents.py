"""Recognises what a question wants, its intent, by how near it is in meaning to example questions. Rules about how
questions are built add a bonus to that nearness; a rule never decides alone."""

import asyncio
import re
from collections.abc import Mapping

import numpy as np

from proviso_service.embedded.chat.examples import EXAMPLES, Intent
from proviso_service.embedded.chat.text import content_words
from proviso_service.models import Embedder, Vectors

DOCUMENTS = r"(?:documents?|files?|agreements?|contracts?|leases?|exhibits?|papers?|NDAs?|uploads?)"
_ASKED = r"^(?:please )?(?:(?:can|could) you )?(?:please )?"
_LARGER = (
    r"(?:longer|shorter|higher|lower|stricter|broader|larger|smaller|better|more|less|longest|shortest|highest|lowest"
    r"|earlier|later)"
)
_HOLD = r"(?:mention|contain|include|refer|talk|discuss|cover|deal|address|have|has)"
_GRANT = r"(?:allow|permit|prohibit|forbid|require|renew|provide for|are governed)"
_QUESTION_WORD = r"what(?:['\u2019]s| is| are)|when|who|where|how (?:long|much)"

_RULES: Mapping[Intent, tuple[tuple[float, str], ...]] = {
    Intent.LIST: (
        (0.25, _ASKED + r"(?:list|show|name|give)\b.{0,20}\b(?:documents|files)\b(?! (?:that|which|about|mention))"),
        (0.35, rf"^(?:what|which) {DOCUMENTS} (?:are|do|have|did|can)\b(?!.*\b(?:mention|contain|cover|about)\b)"),
        (0.45, _ASKED + r"(?:list|show|name)(?: me)?(?: all)?(?: the| our)? (?:agreements|contracts)\b[^a-z]*$"),
        (0.2, r"\buploaded\b|still (?:being )?process|\bready (?:for|to) search"),
    ),
    Intent.SHOW: (
        (0.3, r"\b(?:section|article|paragraph|page) (?:\d|[ivx]+\b)"),
        (0.25, r"\b(?:whole|full|entire|complete) (?:text|document|agreement|contract|thing)\b(?! clause)"),
        (0.2, _ASKED + rf"(?:show|open|display|read|print)\b.{{0,20}}\b{DOCUMENTS}\b(?: please)?[^a-z]*$"),
        (0.2, r"\b(?:see|read|open|show)\b.{0,20}\b(?:text|page|whole)\b"),
    ),
    Intent.SUMMARY: (
        (0.35, rf"\bsummar|\bsum up|\bgist\b|\bin a nutshell|\boverview of (?:the|this) {DOCUMENTS}\b"),
        (0.35, r"\bkey (?:terms|points)|\bmain points"),
        (0.2, rf"^what(?:['\u2019]s| is) (?:this|the|that) (?:\w+ )?{DOCUMENTS} about\b"),
        (0.2, rf"\b(?:explain|describe)\b.{{0,30}}\b{DOCUMENTS}\b"),
    ),
    Intent.FIND: (
        (0.2, _ASKED + r"(?:find|search|look for|locate|quote)\b(?!.*\b(?:clause|provision)s?\b)"),
        (0.2, r"\b(?:passages?|mentions?|references|everything|language) (?:about|on|of|to|regarding|related)\b"),
        (0.4, r"\bsays?\b.{0,10}\b(?:about|on|regarding)\b|\btalks? about\b|\bdiscussed\b"),
        (0.4, r"^(?:please )?tell me about .{3,60} (?:in|under|of) (?:the|this|our)\b"),
        (0.3, r"\b(?:clauses?|provisions?|language) (?:about|on|regarding|concerning|dealing with|related to)\b"),
    ),
    Intent.COUNT: (
        (0.35, rf"\bhow many (?:of )?(?:the |our |these )?(?:\w+ )?{DOCUMENTS}\b|\bnumber of {DOCUMENTS}\b|\bcount\b"),
        (0.35, r"\bhow often\b|\bhow many (?:times|passages|mentions)\b"),
        (
            0.25,
            rf"\b(?:which|what) (?:of (?:the|our|these) )?{DOCUMENTS} (?:\w+ )?{_HOLD}",
        ),
        (0.2, rf"\bin (?:which|what|how many) {DOCUMENTS}\b"),
    ),
    Intent.FACT: (
        (
            0.1,
            rf"^(?:{_QUESTION_WORD}|under (?:what|which)|may|must|can (?:the|a|either))\b(?!.*\b(?:about|differen))",
        ),
    ),
    Intent.CLAUSE: (
        (0.25, r"^(?:is|are) there\b.{0,60}\b(?:clause|provision|section|language)s?\b"),
        (0.25, r"\b(?:clause|provision)s?\b[^a-z]*$"),
        (0.2, r"^(?:does|do|has|have)\b.{0,60}\b(?:contain|include|have)\b"),
        (0.15, r"^(?:is|are) there\b"),
        (0.45, rf"^(?:which|what) {DOCUMENTS} (?:(?:can|may|must) (?!i\b|we\b)|{_GRANT})"),
    ),
    Intent.COMPARE: (
        (0.35, r"\bcompar|\bdifferen(?:ce|t|ces|tly)\b|\bdiffer\b|\bversus\b|\bvs\b|side by side|\bcontrast\b"),
        (0.35, rf"\b(?:which|what|whose)\b.{{0,25}}\b{_LARGER}\b|\b{_LARGER} than\b"),
        (0.25, rf"\b(?:both|two) {DOCUMENTS}\b.{{0,60}}\b(?:same|identical|similar)\b|\bthe same .{{0,40}}\bas\b"),
    ),
    Intent.GREETING: ((0.2, r"^(?:hello|hi|hey|good (?:morning|afternoon|evening|day)|greetings)\b"),),
    Intent.THANKS: ((0.2, r"^(?:many )?(?:thanks|thank you|cheers|bye|goodbye)\b"),),
    Intent.ABOUT: ((0.25, r"^(?:who|what) are you\b|\bwhat can you do\b|\byour (?:name|capabilities)\b"),),
    Intent.ADVICE: (
        (0.25, r"\bshould (?:i|we|my|our)\b|\benforceable\b|\badvi[cs]e\b|\brecommend\b"),
        (0.25, r"\b(?:would|will) (?:a|the) (?:judge|court|jury)\b"),
        (0.25, r"\b(?:win|lose|chances)\b.{0,25}\b(?:case|court|lawsuit|trial|suit|dispute)\b"),
    ),
    Intent.OFF_TOPIC: (
        (0.15, _ASKED + r"(?:write|draft|compose|translate|code|program|sing|play|cook|bake)\b"),
    ),
}  # fmt: skip
_COMPILED = {
    intent: tuple((bonus, re.compile(pattern, re.IGNORECASE)) for bonus, pattern in rules)
    for intent, rules in _RULES.items()
}
_OF_DOCUMENTS = re.compile(rf"\b{DOCUMENTS}\b|\bupload|\bprocess|\b(?:matter|case)\b", re.IGNORECASE)
_ABOUT_DOCUMENTS = re.compile(
    rf"\b{DOCUMENTS}\b|\b(?:clauses?|provisions?|matter|part(?:y|ies)|section|tenant|landlord|customer|supplier|provider"
    r"|licens\w+|terminat\w+|liab\w+|indemn\w+|confidential\w*|govern\w* law|notice period)\b",
    re.IGNORECASE,
)


def rule_bonus(question: str, intent: Intent) -> float:
    """Returns the strongest bonus of the rules for `intent` that hold, or 0 when none does."""
    return max((bonus for bonus, rule in _COMPILED[intent] if rule.search(question)), default=0.0)


def speaks_of_documents(question: str) -> bool:
    """Tells whether a word of the question belongs to documents or their clauses."""
    return _ABOUT_DOCUMENTS.search(question) is not None


_NEAREST = 2
_DOCUMENT_FREE = frozenset({Intent.GREETING, Intent.THANKS, Intent.ABOUT, Intent.ADVICE, Intent.OFF_TOPIC})
# Below this no example is near. The question is then taken for one about the documents, and its answer is searched.
_MIN_NEARNESS = 0.3
# An intent that has nothing to do with documents must be nearer than the best other one, by this much.
_MARGIN = 0.02
_DOCUMENT_MARGIN = 0.18
_MAX_SMALL_TALK_WORDS = 4


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
    """Returns the intent with the best sum of nearness and bonus. An intent that has nothing to do with documents
    needs a margin, so that questions about documents are not turned away."""
    scores = {intent: _score(question, intent, nearness.get(intent, 0.0)) for intent in Intent}
    best_legal = max((intent for intent in Intent if intent not in _DOCUMENT_FREE), key=scores.__getitem__)
    others = [one for one in _DOCUMENT_FREE if one is not Intent.ADVICE or rule_bonus(question, one) > 0]
    best_other = max(others, key=lambda intent: (scores[intent], intent.value))
    if scores[best_other] < max(_MIN_NEARNESS, scores[best_legal] + _needed_margin(question, best_other)):
        return best_legal if scores[best_legal] >= _MIN_NEARNESS else Intent.FACT
    return best_other


def _score(question: str, intent: Intent, nearness: float) -> float:
    bonus = rule_bonus(question, intent)
    if intent in (Intent.COUNT, Intent.COMPARE) and not bonus:
        return 0.0  # whatever it is near to, a question without a word for counting or comparing does neither
    if intent is Intent.LIST and not _OF_DOCUMENTS.search(question):
        return 0.0  # it asks for a list of something else
    if intent in (Intent.SHOW, Intent.SUMMARY) and not bonus:
        return 0.0  # it asks for one thing in a document, not for the document
    return nearness + bonus


def _needed_margin(question: str, other: Intent) -> float:
    if other in (Intent.GREETING, Intent.THANKS) and len(content_words(question)) > _MAX_SMALL_TALK_WORDS:
        return 1.0  # a courtesy in front of a question does not make it small talk
    if other is Intent.ADVICE:
        return 0.0
    return _DOCUMENT_MARGIN if speaks_of_documents(question) else _MARGIN


def _mean_of_best(similarities: Vectors) -> float:
    best = np.sort(similarities)[-_NEAREST:]
    return float(best.mean())
