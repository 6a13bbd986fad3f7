"""Finds answers in passages: the sentences that are likely to answer a question, or the values in them where the
question asks for one."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from proviso_service.embedded.classifier.content import ContentReader, StatementContent, load_concepts
from proviso_service.embedded.classifier.features import features as statement_features
from proviso_service.embedded.classifier.fitted import Head, WordStatistics
from proviso_service.embedded.classifier.matching import Floats
from proviso_service.embedded.classifier.words import PassageBlock, Stemmer, plain_titles, read_passage
from proviso_service.embedded.extractor.features import NAMES, features
from proviso_service.embedded.extractor.questions import AnswerKind, Bounds, UnderstoodQuestion, understand, values_in
from proviso_service.embedded.judge import below_title
from proviso_service.embedded.pieces import Piece, pieces_of
from proviso_service.models import AnswerSpan, ModelPassage
from proviso_service.reading import REQUEST_STOP_WORDS, WORD, readable

MAX_ANSWERS = 8
"""How many answers one passage may give."""

_LEAST_SCORE = 0.005
_USUAL_NEARNESS = 0.3
_DECIMALS = 4
_REACH_CHARS = 40
_NAMES_REACH_CHARS = 900
_BEFORE_NAMES = re.compile(r"\b(?:between|among|amongst)\W*$", re.IGNORECASE)
_AFTER_NAMES = re.compile(r"\n\s*\n\s*(?=#|\d{1,2}[.)]\s|(?i:whereas|recitals|background|witnesseth)\b)")

_FIRST_WORD = 2.0


@dataclass(frozen=True, slots=True)
class AnswerHead:
    """The fitted numbers: `words` makes a logit of the features of a piece, and `support` and `nearness` are what the
    judge's logit and the cosine of the vectors of question and piece add to it."""

    words: Head
    support: float
    nearness: float


@dataclass(frozen=True, slots=True)
class JudgedPieces:
    """Pieces of passages with their features: `owners` are the indices of the passages, and `rows` is what `features`
    returns."""

    pieces: Sequence[Piece]
    owners: Sequence[int]
    rows: Floats


@dataclass(frozen=True, slots=True)
class Candidate:
    """A piece that may be an answer. `owner` is the index of its passage, `logit` how likely it is by what is known,
    and `read` the piece as the models read it."""

    piece: Piece
    owner: int
    logit: float
    read: str


class AnswerFinder:
    """Finds answers in the calling thread; to be used by one thread."""

    def __init__(self, words: WordStatistics, head: AnswerHead) -> None:
        self._stemmer = Stemmer()
        self.head = head
        self._concepts = load_concepts(self._stemmer)
        self._contents = ContentReader(self._stemmer, words, self._concepts)

    def candidates(self, text: str, passages: Sequence[ModelPassage], first: int = 0) -> list[Candidate]:
        """Returns the pieces of the passages, which have the indices from `first` on."""
        judged = self.judge(text, passages)
        logits = self.head.words.logit(judged.rows).tolist()
        return [
            Candidate(piece, first + owner, logit, as_read(piece, passages[owner]))
            for piece, owner, logit in zip(judged.pieces, judged.owners, logits, strict=True)
        ]

    def answers(self, text: str, candidates: Sequence[Candidate], count: int) -> list[list[AnswerSpan]]:
        """Returns the answers of each of `count` passages, as `AnswerExtractor.extract` does, from the candidates,
        whose logits have what the models have read in them."""
        question = understand(text)
        weights = self._weights(question.wording)
        logit = np.array([one.logit for one in candidates])
        scores = np.round(1 / (1 + np.exp(-np.clip(logit, -30, 30))), _DECIMALS).tolist()
        found: list[list[AnswerSpan]] = [[] for _ in range(count)]
        for candidate, score in sorted(zip(candidates, scores, strict=True), key=_best_first):
            if score >= _LEAST_SCORE:
                spans = self._spans(candidate.piece, question, weights)
                found[candidate.owner].extend(AnswerSpan(*bounds, score) for bounds in spans)
        return [spans[:MAX_ANSWERS] for spans in found]

    def judge(self, text: str, passages: Sequence[ModelPassage]) -> JudgedPieces:
        """Returns the pieces and the features from which their logits are made."""
        question = understand(text)
        return self._judge(question, self._contents.read(question.wording), passages)

    def _judge(
        self, question: UnderstoodQuestion, content: StatementContent, passages: Sequence[ModelPassage]
    ) -> JudgedPieces:
        cut = [list(_possible(passage.text, question)) for passage in passages]
        pieces = [piece for found in cut for piece in found]
        owners = [owner for owner, found in enumerate(cut) for _ in found]
        if not pieces:
            return JudgedPieces((), (), np.empty((0, len(NAMES))))
        of_passages = self._evidence(content, passages)[owners]
        of_pieces = self._evidence(content, [ModelPassage(piece.text) for piece in pieces])
        return JudgedPieces(pieces, owners, features(question, pieces, of_passages, of_pieces))

    def _evidence(self, content: StatementContent, passages: Sequence[ModelPassage]) -> Floats:
        """Returns the classifier's features without those of embeddings, which were measured to add nothing here."""
        block = PassageBlock.of([read_passage(passage, self._stemmer) for passage in passages])
        none = np.zeros(len(passages))
        return statement_features(block, content, self._concepts, none, none)

    def _spans(self, piece: Piece, question: UnderstoodQuestion, weights: Mapping[int, float]) -> Iterator[Bounds]:
        """Yields the names of all parties, the one value that is asked for, or the whole piece."""
        values = values_in(piece.text, question.answer_kind)
        if not values:
            yield piece.start, piece.end
            return
        chosen = values if question.answer_kind is AnswerKind.PARTIES else [self._meant(piece.text, values, weights)]
        for start, end in chosen:
            yield piece.start + start, piece.start + end

    def _meant(self, text: str, values: Sequence[Bounds], weights: Mapping[int, float]) -> Bounds:
        """Chooses the value that is nearest to the words of the question."""
        words = [(match.start(), match.end(), self._weight(match[0], weights)) for match in WORD.finditer(text)]
        asked = [word for word in words if word[2]]
        return max(values, key=lambda value: sum(weight * _nearness(value, start, end) for start, end, weight in asked))

    def _weights(self, wording: str) -> Mapping[int, float]:
        """Returns the weights of the question's words; the first of them, as a rule that of the value, counts more."""
        weights = dict(self._contents.read(wording).words.weights)
        said = (match[0].lower() for match in WORD.finditer(wording))
        numbers = (self._stemmer.number(word) for word in said if word not in REQUEST_STOP_WORDS)
        if first := next((number for number in numbers if number in weights), None):
            weights[first] *= _FIRST_WORD
        return weights

    def _weight(self, word: str, weights: Mapping[int, float]) -> float:
        return weights.get(self._stemmer.number(word.lower()), 0.0)


def relative(nearness: Floats) -> Floats:
    """Nearness to a question above or below the usual, so that 0 says nothing."""
    return nearness - _USUAL_NEARNESS


def as_read(piece: Piece, passage: ModelPassage) -> str:
    """Returns a piece as the judge reads it."""
    return below_title(plain_titles(passage), readable(piece.text))


def _possible(text: str, question: UnderstoodQuestion) -> Iterator[Piece]:
    """Yields the pieces of a text that can answer the question."""
    end = 0
    for piece in pieces_of(text):
        if piece.start < end or (piece.is_title and question.answer_kind is not AnswerKind.TITLE):
            continue
        whole = _with_names(piece, text) if question.answer_kind is AnswerKind.PARTIES else piece
        end = whole.end
        yield whole


def _with_names(piece: Piece, text: str) -> Piece:
    """Adds the paragraphs of names that follow a piece such as "This Agreement is made between:"."""
    if not _BEFORE_NAMES.search(piece.text):
        return piece
    stop = _AFTER_NAMES.search(text, piece.end, piece.start + _NAMES_REACH_CHARS)
    found = text[piece.start : stop.start() if stop else piece.start + _NAMES_REACH_CHARS].rstrip()
    return Piece(piece.start, piece.start + len(found), found)


def _best_first(judged: tuple[Candidate, float]) -> tuple[float, int]:
    candidate, score = judged
    return -score, candidate.piece.start


def _nearness(value: Bounds, start: int, end: int) -> float:
    gap = max(0, start - value[1], value[0] - end)
    return float(np.exp(-gap / _REACH_CHARS))
