"""Whom a clause obliges and whom it entitles.

The grammar of drafting carries it: the party stands as the subject right before "shall" or "may". The probabilities are
set by hand; no labelled contracts were at hand for them.
"""

import re
from collections.abc import Sequence
from itertools import chain, islice

_MAX_CHARS = 20_000
_SURE = (0.06, 0.8, 0.9, 0.94)


def _any_of(*patterns: str) -> str:
    return f"(?:{'|'.join(patterns)})"


# Bounded, and nothing matches in two ways: a hostile text takes no longer than another.
_ADVERBS = r"(?:(?:also|always|at all times|then|in turn|\w+by|\w+ly) |,[^,.;]{1,80},(?: |\b)){0,3}"
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
    """Probability that the text imposes a duty on the party, or on anybody if it is empty. A prohibition is a duty."""
    if not party:
        return _score(text, [_ANYBODY_DUTY])
    return _score(text, _party_duties(party)) if _is_named(text, party) else _SURE[0]


def right_score(text: str, party: str) -> float:
    """Probability that the text grants a right to the party, or to anybody if it is empty."""
    if not party:
        return _score(text, [_ANYBODY_RIGHT])
    return _score(text, _party_rights(party)) if _is_named(text, party) else _SURE[0]


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
    """Whether the text has the party's last word: cheap to tell, and most texts have not."""
    words = party.lower().split()
    return bool(words) and words[-1] in text.lower()


def _score(text: str, patterns: Sequence[re.Pattern[str]]) -> float:
    read = " ".join(text[:_MAX_CHARS].split())
    found = chain.from_iterable(pattern.finditer(read) for pattern in patterns)
    return _SURE[sum(1 for _ in islice(found, len(_SURE) - 1))]


def _named(party: str) -> str:
    words = [re.escape(word) for word in re.sub(r"^the\s+", "", party.strip(), flags=re.IGNORECASE).split()]
    return rf"(?:[Tt]he )?(?i:{' '.join(words)})"


def _subject(name: str) -> str:
    """The party, with its affiliates and a definition in brackets, as a subject."""
    company = r"(?: (?:and|or)(?: each of)?(?: its| their| the)? [\w-]+(?: [A-Z][\w-]*)*)?"
    return rf"\b{name}\b(?!['\u2019]s){company}(?: \([^)]{{1,60}}\))? ?"
