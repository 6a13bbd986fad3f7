"""Ranks sentences by how well they answer a question: by nearness in meaning and by shared words."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from proviso_service.embedded.chat.text import content_stems, split_sentences, stems
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


@dataclass(frozen=True, slots=True)
class ScoredSentence:
    """A sentence of a passage with its score. `overlap` is the share of the question's words that the sentence or the
    heading holds."""

    passage: FoundPassage
    sentence: str
    score: float
    similarity: float
    overlap: float

    @property
    def is_answer(self) -> bool:
        """Whether the sentence may be given as an answer. Otherwise it is only close to the question."""
        if self.similarity < _MIN_SIMILARITY:
            return False
        if self.overlap >= 1 / 2:
            return self.score >= (_MIN_FULL_SCORE if self.overlap == 1 else _MIN_SCORE)
        return self.overlap >= 1 / 3 and self.similarity >= _SURE_SIMILARITY


async def rank(embedder: Embedder, question: str, passages: Sequence[FoundPassage]) -> list[ScoredSentence]:
    """Scores the sentences of `passages` and returns them best first; sentences with equal scores keep the order of
    the passages. At most 64 sentences are scored."""
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
        overlap = len(asked & (own | heading)) / words
        score = (
            similarity
            + _OVERLAP_WEIGHT * len(asked & own) / words
            + _HEADING_WEIGHT * bool(asked & heading)
            - _FRAGMENT_MALUS * sentence[:1].islower()
        )
        scored.append(ScoredSentence(passage, sentence, score, similarity, overlap))
    return sorted(scored, key=lambda one: -one.score)


def best_of_each(good: Sequence[ScoredSentence], part: Callable[[FoundPassage], object]) -> list[ExtractedAnswer]:
    """Returns the best sentence of each document, or whatever `part` a passage is of, unless it is much worse than the
    best of all. The best are first. As answers they are either sure or not at all."""
    best: dict[object, ScoredSentence] = {}
    for one in good:
        if one.score >= good[0].score - _BEST_MARGIN:
            best.setdefault(part(one.passage), one)
    return [
        ExtractedAnswer.model_validate(
            {**dict(one.passage), "answer": one.sentence, "confidence": float(one.is_answer)}
        )
        for one in best.values()
    ]
