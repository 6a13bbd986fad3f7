"""Ranks sentences by how well they answer a question: by nearness in meaning and by shared words."""

from collections.abc import Callable, Sequence

from proviso_service.embedded.chat.phrases import content_stems, stems
from proviso_service.embedded.sentences import split_sentences
from proviso_service.models import Embedder
from proviso_service.tool_results import ExtractedAnswer, FoundPassage

_MAX_SENTENCES = 64

_OVERLAP_WEIGHT = 0.3
_HEADING_WEIGHT = 0.15
_FRAGMENT_MALUS = 0.1
_BEST_MARGIN = 0.35
# A sentence is an answer when it shares enough words and meaning with the question. On the questions of the tests
# answers score above these values, and sentences that are merely close below.
_MIN_SIMILARITY = 0.22
_MIN_FULL_SCORE = 0.5
_MIN_SCORE = 0.62
_SURE_SIMILARITY = 0.55

ANSWERS = 1.0
"""The confidence of a sentence that reads like an answer."""


async def rank(
    embedder: Embedder, question: str, passages: Sequence[FoundPassage], part: Callable[[FoundPassage], object]
) -> list[ExtractedAnswer]:
    """Returns the best sentence of each document, or whatever `part` a passage is of, unless it is much worse than the
    best of all. The best are first, those that read like answers before the others, whose confidence is their nearness
    to the question in meaning. At most 64 sentences are scored."""
    candidates = [
        (passage, sentence) for passage in passages for sentence in split_sentences(passage.text, passage.heading)
    ][:_MAX_SENTENCES]
    if not candidates:
        return []
    vector = await embedder.embed_query(question)
    similarities = await embedder.embed_documents([sentence for _, sentence in candidates]) @ vector
    asked = content_stems(question)
    words = max(1, len(asked))
    scored = []
    for (passage, sentence), similarity in zip(candidates, map(float, similarities), strict=True):
        own, heading = stems(sentence), stems(passage.heading)
        shared = _OVERLAP_WEIGHT * len(asked & own) / words + _HEADING_WEIGHT * bool(asked & heading)
        score = similarity + shared - _FRAGMENT_MALUS * sentence[:1].islower()
        answers = _answers(similarity, len(asked & (own | heading)) / words, score)
        found = {**dict(passage), "answer": sentence, "confidence": ANSWERS if answers else min(similarity, 0.99)}
        scored.append((answers, score, ExtractedAnswer.model_validate(found)))
    scored.sort(key=lambda one: (not one[0], -one[1]))
    best: dict[object, ExtractedAnswer] = {}
    for _, score, one in scored:
        if score >= scored[0][1] - _BEST_MARGIN:
            best.setdefault(part(one), one)
    return list(best.values())


def _answers(similarity: float, overlap: float, score: float) -> bool:
    """Tells whether a sentence may be given as an answer; `overlap` is the share of the question's words that it or its
    heading holds. Otherwise it is only close to the question."""
    if similarity < _MIN_SIMILARITY:
        return False
    if overlap >= 1 / 2:
        return score >= (_MIN_FULL_SCORE if overlap == 1 else _MIN_SCORE)
    return overlap >= 1 / 3 and similarity >= _SURE_SIMILARITY
