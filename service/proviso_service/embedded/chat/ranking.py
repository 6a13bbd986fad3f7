"""Ranks sentences by how well they answer a question: by nearness in meaning, by shared words, and by whether they
hold the kind of evidence that the question asks for."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from proviso_service.embedded.chat.text import content_stems, excerpt, split_sentences, stems
from proviso_service.embedded.topics import VALUE_PATTERNS, Topic, ValueKind
from proviso_service.models import Embedder
from proviso_service.tool_results import FoundPassage

_MAX_SENTENCES = 64

_OVERLAP_WEIGHT = 0.3
_HEADING_WEIGHT = 0.15
_EVIDENCE_BONUS = 0.15
_OPENING_BONUS = 0.4
_KIND_BONUS = 0.2
_FRAGMENT_MALUS = 0.1


@dataclass(frozen=True, slots=True)
class AnswerCriteria:
    """What sentences are measured against. Where `kind` is given, an answer must hold such a value."""

    question: str
    topic: Topic | None = None
    kind: ValueKind | None = None

    @property
    def queries(self) -> list[str]:
        """The texts that sentences are compared with: the question, and its topic in the words that agreements use."""
        return [self.question, self.topic.search] if self.topic else [self.question]

    @property
    def besides(self) -> frozenset[str]:
        """The stems of the question that do not belong to its topic."""
        if self.topic is None:
            return frozenset()
        named = {match.span() for match in self.topic.cue.finditer(self.question)}
        outside = re.sub(
            r"\S+",
            lambda word: "" if any(start < word.end() and word.start() < end for start, end in named) else word[0],
            self.question,
        )
        return content_stems(outside) - stems(f"{self.topic.name} {self.topic.search}")


@dataclass(frozen=True, slots=True)
class ScoredSentence:
    """A sentence of a passage with its score; `position` is its place among all sentences that were scored. `overlap`
    is the share of the question's words that the sentence or the heading holds. `on_topic` says that the sentence
    shows evidence of the topic, `has_evidence` that it also holds a value of the kind asked for. `is_beside` says that
    the question has several words besides its topic and the sentence holds none of them."""

    passage: FoundPassage
    sentence: str
    position: int
    score: float
    similarity: float
    overlap: float
    on_topic: bool
    has_evidence: bool
    is_beside: bool = False

    @property
    def document(self) -> str:
        return self.passage.document_id or self.passage.filename


async def rank(embedder: Embedder, wanted: AnswerCriteria, passages: Sequence[FoundPassage]) -> list[ScoredSentence]:
    """Scores the sentences of `passages` and returns them best first; sentences with equal scores keep the order of
    the passages. At most 64 sentences are scored."""
    candidates = [
        (passage, sentence) for passage in passages for sentence in split_sentences(passage.text, passage.heading)
    ][:_MAX_SENTENCES]
    if not candidates:
        return []
    queries = [await embedder.embed_query(text) for text in wanted.queries]
    vectors = await embedder.embed_documents([sentence for _, sentence in candidates])
    similarities = np.max(vectors @ np.stack(queries, axis=1), axis=1)
    scored = [
        _score(wanted, *candidate, position, float(similarities[position]))
        for position, candidate in enumerate(candidates)
    ]
    return sorted(scored, key=lambda one: -one.score)


def closest(good: Sequence[ScoredSentence], wanted: AnswerCriteria) -> list[ScoredSentence]:
    """Returns the sentences that hold the most of the words besides the topic: a question about `termination for
    convenience` is not about termination in general."""
    held = [len(wanted.besides & (stems(one.sentence) | stems(one.passage.heading))) for one in good]
    return [one for one, count in zip(good, held, strict=True) if count == max(held)]


def quote_of(scored: ScoredSentence, wanted: AnswerCriteria) -> str:
    """Returns the part of the sentence to quote."""
    return excerpt(scored.sentence, _evidence_pattern(wanted))


def _score(
    wanted: AnswerCriteria, passage: FoundPassage, sentence: str, position: int, similarity: float
) -> ScoredSentence:
    asked = content_stems(wanted.question)
    own = stems(sentence)
    heading = stems(passage.heading)
    overlap = len(asked & (own | heading)) / len(asked) if asked else 0.0
    in_heading = bool((asked | stems(wanted.topic.name if wanted.topic else "")) & heading)
    on_topic = bool(wanted.topic and wanted.topic.evidence.search(sentence))
    has_kind = bool(wanted.kind and VALUE_PATTERNS[wanted.kind].search(sentence))
    has_evidence = (on_topic or wanted.topic is None) and (has_kind or wanted.kind is None)
    score = (
        similarity
        + _OVERLAP_WEIGHT * (len(asked & own) / len(asked) if asked else 0.0)
        + _HEADING_WEIGHT * in_heading
        + (_OPENING_BONUS if wanted.topic and wanted.topic.is_in_opening else _EVIDENCE_BONUS) * on_topic
        + _KIND_BONUS * (has_kind and on_topic)
        - _FRAGMENT_MALUS * sentence[:1].islower()
    )
    besides = wanted.besides
    is_beside = len(besides) > 1 and not besides & (own | heading | stems(passage.filename))
    return ScoredSentence(passage, sentence, position, score, similarity, overlap, on_topic, has_evidence, is_beside)


def _evidence_pattern(wanted: AnswerCriteria) -> re.Pattern[str] | None:
    if wanted.kind:
        return VALUE_PATTERNS[wanted.kind]
    return wanted.topic.evidence if wanted.topic else None
