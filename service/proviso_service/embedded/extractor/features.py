"""Computes the features of pieces of passages: the numbers from which the logistic model makes scores."""

import re
from collections.abc import Sequence

import numpy as np

from proviso_service.embedded.classifier.features import NAMES as STATEMENT_NAMES
from proviso_service.embedded.classifier.matching import Floats
from proviso_service.embedded.extractor.questions import AnswerKind, UnderstoodQuestion, values_in
from proviso_service.embedded.pieces import Piece

_OF_PIECE = (
    "bm25",
    "coverage",
    "closeness",
    "pairs",
    "widened bm25",
    "widened coverage",
    "widened closeness",
    "concept",
    "concept by cover",
)
_OF_PASSAGE = (*_OF_PIECE, "title")
_OF_QUESTION = ("no concept", "statement length")
NAMES = (
    *(f"passage: {name}" for name in _OF_PASSAGE),
    *(f"piece: {name}" for name in _OF_PIECE),
    *(f"question: {name}" for name in _OF_QUESTION),
    "has value",
    "has period",
    "has date",
    "has amount",
    "has law",
    "has parties",
    "has title",
    "lacks value",
    "value in opening",
    "value by coverage",
    "value by concept",
    "length",
    "share of coverage",
    "concept of both",
)
_KINDS = (
    (AnswerKind.DURATION, AnswerKind.PERIOD),
    (AnswerKind.DATE,),
    (AnswerKind.SUM, AnswerKind.MONEY, AnswerKind.PERCENTAGE, AnswerKind.NUMBER),
    (AnswerKind.LAW,),
    (AnswerKind.PARTIES,),
    (AnswerKind.TITLE,),
)
# How a contract introduces itself, with its title, date and parties.
_OPENING = re.compile(
    r"\b(?:agreement|contract|lease|deed|amendment|plan)\b.{0,160}?\b(?:made|entered|dated|effective|between|among)\b"
    r"|\bby and (?:between|among)\b|\bwitnesseth\b",
    re.IGNORECASE | re.DOTALL,
)
_USUAL_CHARS = 100
_LEAST_COVERAGE = 0.01


def features(question: UnderstoodQuestion, pieces: Sequence[Piece], of_passages: Floats, of_pieces: Floats) -> Floats:
    """Returns the features, of shape (len(pieces), len(NAMES)). `of_passages` and `of_pieces` are the classifier's
    features of each piece's passage and of the piece alone."""
    passage, piece = _columns(of_passages), _columns(of_pieces)
    value = np.array([bool(values_in(one.text, question.answer_kind)) for one in pieces], dtype=np.float64)
    lacks_value = (1 - value) * (question.answer_kind is not AnswerKind.STATEMENT)
    columns = (
        *(passage[name] for name in _OF_PASSAGE),
        *(piece[name] for name in _OF_PIECE),
        *(piece[name] for name in _OF_QUESTION),
        value,
        *(value * (question.answer_kind in kinds) for kinds in _KINDS),
        lacks_value,
        value * np.array([bool(_OPENING.search(one.text)) for one in pieces]),
        value * piece["coverage"],
        value * piece["concept"],
        np.log([len(one.text) / _USUAL_CHARS for one in pieces]),
        np.minimum(1, piece["coverage"] / np.maximum(passage["coverage"], _LEAST_COVERAGE)),
        passage["concept"] * piece["concept"],
    )
    return np.stack(columns, axis=1)


def _columns(rows: Floats) -> dict[str, Floats]:
    return dict(zip(STATEMENT_NAMES, rows.T, strict=True))
