"""Statements about how a clause is made rather than what it is about: what it is called, whom it obliges or entitles,
whether it binds one side only, whether it is a clause at all."""

import re
from collections.abc import Sequence

import numpy as np

from proviso_service.embedded.classifier.headings import called_score
from proviso_service.embedded.classifier.matching import Floats
from proviso_service.embedded.classifier.parties import duty_score, right_score
from proviso_service.embedded.classifier.statements import Form, Statement
from proviso_service.models import Passage

_MAX_CHARS = 20_000
_FULL_SENTENCE_WORDS = 8
_OTHERS_BURDEN = 0.4
_MUTUAL = re.compile(
    r"\b(?:each|either|both|neither|the|all)(?: of the)? (?:party|parties)\b|\bmutual|\beach other\b"
    r"|\bthe other party\b",
    re.IGNORECASE,
)
_SUBJECT = re.compile(
    r"\b(?P<subject>[A-Z][\w&'\u2019-]*(?: [A-Z][\w&'\u2019-]*){0,4}),?(?: (?:hereby|also|\w+ly))? "
    r"(?:shall|will|must|may|agrees|undertakes|covenants|warrants|represents|grants|is entitled|is obligated"
    r"|is required|has the right)\b"
)
_NO_PARTIES = frozenset(
    """
    agreement all any article confidential contract each fee fees if information no notice notices parties party payment
    payments product products section services such term the this
    """.split()  # noqa: SIM905  # a list of 30 literals is no easier to read
)
_OPERATIVE = re.compile(
    r"\b(?:shall|will|must|may|agrees?|hereby|means|warrants?|represents?|acknowledges?|entitled|provided that|subject"
    r" to|deemed|governed|liable|terminate)\b"
)


def form_scores(form: Form, name: str, passages: Sequence[Passage]) -> Floats:
    """Probabilities that passages have the form; `name` is the party's or the heading's, or empty."""
    return np.array([_score(form, name, passage) for passage in passages], dtype=np.float64)


def burden_shares(statement: Statement, passages: Sequence[Passage]) -> Floats:
    """What is left of the scores for what a party must or may do: less where the passage names the party and lays the
    duty or the right on another; all where it does not name it, since it may have another name there."""
    if statement.burden is None:
        return np.ones(len(passages))
    named = re.compile(rf"\b{re.escape(statement.name.removeprefix('the '))}\b", re.IGNORECASE)
    return np.array(
        [
            _OTHERS_BURDEN
            if named.search(passage.text) and _score(statement.burden, statement.name, passage) < 0.5
            else 1.0
            for passage in passages
        ]
    )


def _score(form: Form, name: str, passage: Passage) -> float:
    match form:
        case Form.CALLED:
            return called_score(passage, name)
        case Form.OBLIGATION:
            return duty_score(passage.text, name)
        case Form.RIGHT:
            return right_score(passage.text, name)
        case Form.UNILATERAL:
            return _unilateral_score(passage.text)
        case _:
            return _clause_score(passage.text)


def _unilateral_score(text: str) -> float:
    """By the parties that stand as subjects: one, or several, or each of them."""
    read = " ".join(text[:_MAX_CHARS].split())
    named = (match["subject"].split()[-1].lower() for match in _SUBJECT.finditer(read))
    parties = {party for party in named if party not in _NO_PARTIES}
    if _MUTUAL.search(read):
        return 0.25 if len(parties) == 1 else 0.1
    if not parties:
        return 0.15
    return 0.82 if len(parties) == 1 else 0.3


def _clause_score(text: str) -> float:
    """By words that make a text a provision rather than a title, a signature or a table."""
    words = text.count(" ") + 1
    operative = len(set(_OPERATIVE.findall(text[:_MAX_CHARS].lower())))
    if not operative:
        return 0.35 if words > 30 else 0.08
    return min(0.97, (0.7 if words > _FULL_SENTENCE_WORDS else 0.55) + 0.1 * operative)
