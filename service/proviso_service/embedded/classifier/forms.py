"""Judges passages by statements about how a clause is made: what it is called, whom it obliges or entitles, whether it
binds one side only, and whether it is a clause at all. The probabilities of duties and rights were set by hand,
because no contracts with labels for them were available; they rest on the grammar of drafting, in which the party is
the subject right before "shall" or "may"."""

import math
import re
from collections.abc import Sequence
from itertools import chain, islice

import numpy as np

from proviso_service.embedded.classifier.matching import Floats
from proviso_service.embedded.classifier.statements import Form, UnderstoodStatement
from proviso_service.embedded.classifier.words import named_headings
from proviso_service.models import ModelPassage
from proviso_service.reading import plain_words

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

_FURTHER_SHARE = 0.8
_OPENING_SCORE = 0.95
_LEAST = 0.02
_OPENING_CHARS = 200
_NUMBER = re.compile(r"^\W*(?:(?:article|section|clause)\s+)?[\dA-Za-z]{1,3}(?:\.\d+)*[.)]?\s+(?=[A-Z])", re.IGNORECASE)
_TITLE_END = re.compile(r"[.:\n\u2013\u2014](?:\s|$)")
_KINDS = frozenset(("article", "section", "clause"))

_SURE = (0.06, 0.8, 0.9, 0.94)

# Repetitions are bounded, and nothing matches in two ways, so that a hostile text takes no longer than another.
_ADVERBS = r"(?:(?:also|always|at all times|then|in turn|\w+by|\w+ly) |,[^,.;]{1,80},(?: |\b)){0,3}"


def form_scores(form: Form, name: str, passages: Sequence[ModelPassage]) -> Floats:
    """Returns the probability that each passage has the form. `name` is that of the party or of the heading, or
    empty."""
    return np.array([_score(form, name, passage) for passage in passages], dtype=np.float64)


def burden_shares(statement: UnderstoodStatement, passages: Sequence[ModelPassage]) -> Floats:
    """Returns factors for the scores of statements about what a party must or may do. The factor is low where the
    passage names the party and gives the duty or the right to another one. It is 1 where the passage does not name the
    party, which may have another name there."""
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


def _score(form: Form, name: str, passage: ModelPassage) -> float:
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
    """Returns the probability that a clause binds one side only, from the parties that are subjects in it."""
    read = " ".join(text[:_MAX_CHARS].split())
    named = (match["subject"].split()[-1].lower() for match in _SUBJECT.finditer(read))
    parties = {party for party in named if party not in _NO_PARTIES}
    if _MUTUAL.search(read):
        return 0.25 if len(parties) == 1 else 0.1
    if not parties:
        return 0.15
    return 0.82 if len(parties) == 1 else 0.3


def _clause_score(text: str) -> float:
    """Returns the probability that a text is a provision and not a title, a signature or a table, from the words that
    provisions use."""
    words = text.count(" ") + 1
    operative = len(set(_OPERATIVE.findall(text[:_MAX_CHARS].lower())))
    if not operative:
        return 0.35 if words > 30 else 0.08
    return min(0.97, (0.7 if words > _FULL_SENTENCE_WORDS else 0.55) + 0.1 * operative)


def called_score(passage: ModelPassage, name: str) -> float:
    """Returns the probability that the passage has the name. The heading right above it decides; headings further up
    and the words with which it begins make it likely."""
    wanted = _words(name)
    if not wanted:
        return _LEAST
    *further, nearest = named_headings(passage) or [""]
    opening = _OPENING_SCORE if wanted in _openings(passage.text, nearest) else 0.0
    above = max((_FURTHER_SHARE * _likeness(wanted, _words(title)) for title in further), default=0.0)
    return max(_LEAST, opening, above, _likeness(wanted, _words(nearest)))


def _likeness(wanted: Sequence[str], title: Sequence[str]) -> float:
    """Returns 1 for the same words, less for words that are missing, and a little less for words that are added."""
    if not title:
        return 0.0
    shared = len(set(wanted) & set(title))
    recall, precision = shared / len(set(wanted)), shared / len(set(title))
    return 0.98 * recall * recall * math.sqrt(precision)


def _words(title: str) -> list[str]:
    """Returns the words of a title in the singular, without its number."""
    named = [word.rstrip("s") or word for word in plain_words(title) if not word.isdigit() and word not in _KINDS]
    return named[1:] if len(named) > 1 and len(named[0]) == 1 else named


def _openings(text: str, heading: str) -> list[list[str]]:
    """Returns the words of the title with which a text begins, and of the one below it where the text opens with its
    heading, which is numbered."""
    first, _, below = text[:_OPENING_CHARS].strip().partition("\n")
    titles = [first, below.lstrip()] if heading[:1].isdecimal() and first.startswith(heading) else [first]
    return [_words(_TITLE_END.split(_NUMBER.sub("", title, count=1), maxsplit=1)[0]) for title in titles]


def _any_of(*patterns: str) -> str:
    return f"(?:{'|'.join(patterns)})"


_STATES = _any_of(
    r"be entitled",
    r"have (?:the|a|an|no)\b(?! (?:obligation|duty))",
    r"mean\b",
    r"be (?:deemed|permitted|free|allowed|construed|governed|effective)",
    r"not be (?:liable|obligated|obliged|required|responsible)",
    r"(?:constitute|become|include|survive|remain|commence|expire)\b",
)
_DUTY = _any_of(
    rf"(?:shall|will|must) (?!(?:\w+ly )?{_STATES})",
    r"(?:may not|cannot|can not) ",
    r"(?:agrees?|undertakes?|covenants?|commits?|promises?) (?!that )",
    r"(?:is|are|shall be|will be) (?:\w+ly )?(?:required|obligated|obliged|bound|responsible|liable)\b",
    r"(?:has|have|is under|shall have) (?:the|an|a) (?:duty|obligation)\b",
)
_RIGHT = _any_of(
    r"(?:may|can) (?!not )",
    r"(?:is|are|shall be|will be) (?:\w+ly )?(?:entitled|authori[sz]ed|permitted|allowed|free|granted)\b",
    r"(?:shall |will )?(?:has|have|retains?|reserves?|enjoys?) (?:\w+ly )?(?:the |a |an )?(?:\w+ ){0,2}?"
    r"(?:rights?|option|discretion)\b",
)
_GRANT = _any_of(r"grants?", r"granted", r"gives?", r"licenses?")
_ANYBODY_DUTY = re.compile(rf"\b{_DUTY}", re.IGNORECASE)
_ANYBODY_RIGHT = re.compile(rf"\b(?:{_RIGHT}|hereby grants?\b)", re.IGNORECASE)


def duty_score(text: str, party: str) -> float:
    """Returns the probability that the text puts a duty on the party, or on anybody if `party` is empty. A prohibition
    is a duty."""
    if not party:
        return _by_count(text, [_ANYBODY_DUTY])
    return _by_count(text, _party_duties(party)) if _is_named(text, party) else _SURE[0]


def right_score(text: str, party: str) -> float:
    """Returns the probability that the text gives a right to the party, or to anybody if `party` is empty."""
    if not party:
        return _by_count(text, [_ANYBODY_RIGHT])
    return _by_count(text, _party_rights(party)) if _is_named(text, party) else _SURE[0]


def _party_duties(party: str) -> Sequence[re.Pattern[str]]:
    name = _named(party)
    return (
        re.compile(rf"{_subject(name)}{_ADVERBS}{_DUTY}"),
        re.compile(rf"\b(?:shall|must|will) (?:not )?be [\w ]{{1,60}}?\bby {name}\b(?! (?:may|shall)\b)"),
        re.compile(rf"\b(?:duty|obligation|responsibility) of {name}\b"),
    )


def _party_rights(party: str) -> Sequence[re.Pattern[str]]:
    name = _named(party)
    return (
        re.compile(rf"{_subject(name)}{_ADVERBS}{_RIGHT}"),
        re.compile(rf"\b{_GRANT} (?:(?:un)?to )?{name}\b(?!['\u2019]s)"),
        re.compile(rf"\b(?:right|option|discretion) of {name}\b|\b{name}['\u2019]s (?:\w+ )?(?:right|option)\b"),
    )


def _is_named(text: str, party: str) -> bool:
    """Tells whether the text has the party's last word. The check is quick, and rules out most texts."""
    words = party.lower().split()
    return bool(words) and words[-1] in text.lower()


def _by_count(text: str, patterns: Sequence[re.Pattern[str]]) -> float:
    read = " ".join(text[:_MAX_CHARS].split())
    found = chain.from_iterable(pattern.finditer(read) for pattern in patterns)
    return _SURE[sum(1 for _ in islice(found, len(_SURE) - 1))]


def _named(party: str) -> str:
    words = [re.escape(word) for word in re.sub(r"^the\s+", "", party.strip(), flags=re.IGNORECASE).split()]
    return rf"(?:[Tt]he )?(?i:{' '.join(words)})"


def _subject(name: str) -> str:
    """Returns the pattern of the party as a subject, with its affiliates and a definition in brackets."""
    company = r"(?: (?:and|or)(?: each of)?(?: its| their| the)? [\w-]+(?: [A-Z][\w-]*)*)?"
    return rf"\b{name}\b(?!['\u2019]s){company}(?: \([^)]{{1,60}}\))? ?"
