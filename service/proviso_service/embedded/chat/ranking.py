"""Ranks sentences by how well they answer a question: by nearness in meaning and by shared words."""

from collections.abc import Sequence
from dataclasses import dataclass

from proviso_service.embedded.chat.text import content_stems, split_sentences, stems
from proviso_service.models import Embedder
from proviso_service.tool_results import FoundPassage

_MAX_SENTENCES = 64

_OVERLAP_WEIGHT = 0.3
_HEADING_WEIGHT = 0.15
_FRAGMENT_MALUS = 0.1


@dataclass(frozen=True, slots=True)
class ScoredSentence:
    """A sentence of a passage with its score; `position` is its place among all sentences that were scored. `overlap`
    is the share of the question's words that the sentence or the heading holds."""

    passage: FoundPassage
    sentence: str
    position: int
    score: float
    similarity: float
    overlap: float

    @property
    def document(self) -> str:
        return self.passage.document_id or self.passage.filename


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
    scored = [
        _score(asked, *candidate, position, float(similarities[position]))
        for position, candidate in enumerate(candidates)
    ]
    return sorted(scored, key=lambda one: -one.score)


def _score(
    asked: frozenset[str], passage: FoundPassage, sentence: str, position: int, similarity: float
) -> ScoredSentence:
    own, heading = stems(sentence), stems(passage.heading)
    words = max(1, len(asked))
    score = (
        similarity
        + _OVERLAP_WEIGHT * len(asked & own) / words
        + _HEADING_WEIGHT * bool(asked & heading)
        - _FRAGMENT_MALUS * sentence[:1].islower()
    )
    return ScoredSentence(passage, sentence, position, score, similarity, len(asked & (own | heading)) / words)
