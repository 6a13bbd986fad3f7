"""Evidence that a piece of a passage answers a question, as numbers."""

import re
from collections.abc import Sequence

import numpy as np

from proviso_service.embedded.classifier.features import NAMES as STATEMENT_NAMES
from proviso_service.embedded.classifier.matching import Floats
from proviso_service.embedded.extractor.pieces import Piece
from proviso_service.embedded.extractor.questions import Question, Sought
from proviso_service.embedded.extractor.values import values_in

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
    "on topic",
    "off topic",
    "value on topic",
    "length",
    "share of coverage",
    "concept of both",
)
_KINDS = (
    (Sought.DURATION, Sought.PERIOD),
    (Sought.DATE,),
    (Sought.SUM, Sought.MONEY, Sought.PERCENTAGE, Sought.NUMBER),
    (Sought.LAW,),
    (Sought.PARTIES,),
    (Sought.TITLE,),
)
# How a contract introduces itself, with its title, date and parties.
_OPENING = re.compile(
    r"\b(?:agreement|contract|lease|deed|amendment|plan)\b.{0,160}?\b(?:made|entered|dated|effective|between|among)\b"
    r"|\bby and (?:between|among)\b|\bwitnesseth\b",
    re.IGNORECASE | re.DOTALL,
)
_USUAL_CHARS = 100
_LEAST_COVERAGE = 0.01


def features(question: Question, pieces: Sequence[Piece], of_passages: Floats, of_pieces: Floats) -> Floats:
    """Shape (len(pieces), len(NAMES)). `of_passages` and `of_pieces` are what the classifier looks at, for the passage
    of each piece and for the piece by itself."""
    passage, piece = _columns(of_passages), _columns(of_pieces)
    value = np.array([bool(values_in(one.text, question.sought)) for one in pieces], dtype=np.float64)
    lacks_value = (1 - value) * (question.sought is not Sought.STATEMENT)
    on_topic = _on_topic(question, pieces)
    off_topic = (1 - on_topic) * (question.topic is not None)
    columns = (
        *(passage[name] for name in _OF_PASSAGE),
        *(piece[name] for name in _OF_PIECE),
        *(piece[name] for name in _OF_QUESTION),
        value,
        *(value * (question.sought in kinds) for kinds in _KINDS),
        lacks_value,
        value * np.array([bool(_OPENING.search(one.text)) for one in pieces]),
        value * piece["coverage"],
        value * piece["concept"],
        on_topic,
        off_topic,
        value * on_topic,
        np.log([len(one.text) / _USUAL_CHARS for one in pieces]),
        np.minimum(1, piece["coverage"] / np.maximum(passage["coverage"], _LEAST_COVERAGE)),
        passage["concept"] * piece["concept"],
    )
    return np.stack(columns, axis=1)


def _columns(rows: Floats) -> dict[str, Floats]:
    return dict(zip(STATEMENT_NAMES, rows.T, strict=True))


def _on_topic(question: Question, pieces: Sequence[Piece]) -> Floats:
    if question.topic is None:
        return np.zeros(len(pieces))
    evidence = question.topic.evidence
    return np.array([bool(evidence.search(one.text)) for one in pieces], dtype=np.float64)
