"""How a clause is made: whom it obliges or entitles, whether it binds one side only, what it is called.

The grammar of legal drafting carries this: the party is the subject of "shall" or "may". The probabilities are set by
hand; no labelled data exist for them.
"""

import re
from collections.abc import Callable, Sequence

import numpy as np

from proviso_service.models.local.classifier.matching import Floats
from proviso_service.models.local.classifier.statements import Form
from proviso_service.models.ports import Passage

_MAX_CHARS = 20_000

_ADVERB = r"(?:also |always |at all times |hereby |\w+ly |then |in turn |,[^,.;]{1,80}, ?)*"
_RIGHT_VERB = (
    r"(?:may(?! not\b)|can(?! not\b)|is entitled|are entitled|(?:shall|will) be entitled|is authori[sz]ed|are authori[sz]ed"
    r"|(?:shall |will |also )?(?:has|have|retains?|reserves?|enjoys?) (?:\w+ly )?(?:the |a |an )?(?:\w+ ){0,2}?(?:rights?|option|discretion|remedy)"
    r"|is (?:hereby )?granted|are (?:hereby )?granted|shall be (?:free|permitted|allowed)|is (?:permitted|allowed|free) to)"
)
_DUTY_VERB = (
    r"(?:(?:shall|will|must)(?! (?:\w+ly )?(?:be entitled|have (?:the|a|an|no)\b|mean|be deemed|be permitted|be free|be allowed"
    r"|not be (?:liable|obligated|obliged|required|responsible)|be construed|be governed|constitute|be effective|become|be null"
    r"|retain|include|survive|remain|commence|expire))"
    r"|may not|cannot|can not|agrees?\b(?! that)|undertakes?|covenants?|(?:is|are|shall be|will be) (?:\w+ly )?(?:required|obligated|obliged|bound|responsible|liable)"
    r"|has (?:the|an|a) (?:duty|obligation)|have (?:the|an|a) (?:duty|obligation)|is under (?:the|an|a) (?:duty|obligation)"
    r"|(?:undertakes|commits|promises))\b"
)
_TO_PARTY = r"(?:the )?"
_ANYONE = r"(?:(?:[A-Z][\w&'\u2019-]*|party|parties|each|either|neither|both|it|they|he|she|we|you|who|which)\b,? ?(?:\([^)]{1,60}\) )?)"
_MUTUAL = re.compile(
    r"\b(?:each|either|both|neither|the|all)(?: of the)? (?:party|parties)\b|\bmutual|\beach other\b|\bthe other party\b",
    re.IGNORECASE,
)
_SUBJECT = re.compile(
    r"\b(?P<subject>[A-Z][\w&'\u2019-]*(?: [A-Z][\w&'\u2019-]*){0,4}),? "
    + _ADVERB
    + r"(?:shall|will|must|may|agrees|undertakes|covenants|warrants|represents|is entitled|is obligated|is required|grants|has the right)\b"
)
_NOT_PARTIES = frozenset(
    "agreement section article contract notice notices this the such any all each no if payment payments term party parties"
    " confidential information product products services fee fees".split()
)
_PROVISION = re.compile(
    r"\b(?:shall|will|must|may|agrees?|hereby|means|warrants?|represents?|acknowledges?|entitled|provided that|subject to|deemed"
    r"|governed|liable|terminate)\b",
    re.IGNORECASE,
)
_SPACES = re.compile(r"\s+")


def form_scores(form: Form, name: str, passages: Sequence[Passage]) -> Floats:
    """Probabilities that passages have the form; `name` is the party's or the heading's, or empty."""
    score = _SCORERS[form](name)
    return np.array([score(passage) for passage in passages], dtype=np.float64)


def _called(name: str) -> Callable[[Passage], float]:
    wanted = _title_words(name)

    def score(passage: Passage) -> float:
        above = [_likeness(wanted, _title_words(title)) for title in passage.section_path[-1:]]
        further = [0.8 * _likeness(wanted, _title_words(title)) for title in passage.section_path[:-1]]
        first = _opening_words(passage.text, len(wanted))
        opening = [0.95 if wanted and first == wanted else 0.0]
        return max((*above, *further, *opening, 0.02))

    return score


def _likeness(wanted: Sequence[str], title: Sequence[str]) -> float:
    """Between two titles: equal words surely match, a title that has all of the words and few others likely."""
    if not wanted or not title:
        return 0.02
    shared = len(set(wanted) & set(title))
    recall, precision = shared / len(set(wanted)), shared / len(set(title))
    return 0.02 + 0.96 * recall**2 * precision**0.5


def _title_words(title: str) -> list[str]:
    words = re.findall(r"[^\W_]+", title.lower())
    named = [word.rstrip("s") for word in words if not word.isdigit() and word not in {"article", "section", "clause"}]
    return named if len(named) < 2 or len(named[0]) > 1 else named[1:]


def _opening_words(text: str, count: int) -> list[str]:
    line = re.split(
        r"[.:\n\u2013\u2014]\s",
        re.sub(
            r"^\W*(?:(?:article|section|clause)\s+)?[\dA-Za-z]{1,3}(?:\.\d+)*[.)]?\s+(?=[A-Z])",
            "",
            text[:200].lstrip(),
            flags=re.I,
        ),
        maxsplit=1,
    )[0]
    words = _title_words(line)
    return words if len(words) <= count + 1 else []


def _clause(_: str) -> Callable[[Passage], float]:
    def score(passage: Passage) -> float:
        found = len(set(_PROVISION.findall(passage.text[:_MAX_CHARS].lower())))
        words = passage.text.count(" ") + 1
        if not found:
            return 0.35 if words > 30 else 0.08
        return min(0.97, (0.7 if words > 8 else 0.55) + 0.1 * found)

    return score


def _subjects(name: str) -> str:
    """Pattern of what may stand as the subject: the party with its company, or anybody."""
    if not name:
        return rf"(?:{_ANYONE}|\w+ )"
    words = r"\s+".join(re.escape(word) for word in re.sub(r"^the\s+", "", name.strip(), flags=re.I).split())
    return rf"\b(?i:{words})(?!['\u2019]s)\b(?: (?:and|or)(?: each of)?(?: its| their| the)? [\w-]+(?: [A-Z][\w-]*)*)?(?: \([^)]{{1,60}}\))? ?"


def _verbs(name: str, verb: str) -> re.Pattern[str]:
    return re.compile(rf"{_subjects(name)}{_ADVERB}(?:{verb})")


def _counted(pattern: re.Pattern[str], passage: Passage, *more: re.Pattern[str]) -> int:
    text = _SPACES.sub(" ", passage.text[:_MAX_CHARS])
    return sum(len(one.findall(text)) for one in (pattern, *more))


def _sure(count: int) -> float:
    return (0.06, 0.8, 0.9, 0.94)[min(count, 3)]


def _obligation(name: str) -> Callable[[Passage], float]:
    pattern = _verbs(name, _DUTY_VERB)
    by_party = re.compile(rf"(?:shall|must|will) be [\w ]{{1,60}}? by (?:the )?{_subjects(name)}") if name else None
    return lambda passage: _sure(_counted(pattern, passage, *filter(None, (by_party,))))


def _right(name: str) -> Callable[[Passage], float]:
    pattern = _verbs(name, _RIGHT_VERB)
    to_party = (
        re.compile(
            rf"(?i:grants?|granted|gives?|licenses?)(?: \w+)?? to (?:the )?{_subjects(name)}|(?i:option|right|discretion) of (?:the )?{_subjects(name)}"
        )
        if name
        else re.compile(r"(?i:hereby grants?|right of|has the right|option to|entitled to|shall have the right)")
    )
    return lambda passage: _sure(_counted(pattern, passage, to_party))


def _unilateral(_: str) -> Callable[[Passage], float]:
    def score(passage: Passage) -> float:
        text = _SPACES.sub(" ", passage.text[:_MAX_CHARS])
        subjects = {
            match["subject"].split()[-1].lower()
            for match in _SUBJECT.finditer(text)
            if match["subject"].split()[-1].lower() not in _NOT_PARTIES
        }
        if _MUTUAL.search(text):
            return 0.25 if len(subjects) == 1 else 0.1
        if not subjects:
            return 0.15
        return 0.82 if len(subjects) == 1 else 0.3

    return score


_SCORERS: dict[Form, Callable[[str], Callable[[Passage], float]]] = {
    Form.CALLED: _called,
    Form.CLAUSE: _clause,
    Form.OBLIGATION: _obligation,
    Form.RIGHT: _right,
    Form.UNILATERAL: _unilateral,
}
