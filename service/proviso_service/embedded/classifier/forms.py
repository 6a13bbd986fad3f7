"""Judges passages by statements about how a clause is made: what it is called, whom it obliges or entitles, whether it
binds one side only, and whether it is a clause at all. The probabilities of duties and rights were set by hand,
because no contracts with labels for them were available; they rest on the grammar of drafting, in which the party is
the subject right before "shall" or "may". Grammar decides whether a passage is above one half, and how much of the
passage is of that form decides how far above."""

import math
import re
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from itertools import islice

import numpy as np

from proviso_service.embedded.classifier.matching import Floats
from proviso_service.embedded.classifier.statements import Form, UnderstoodStatement
from proviso_service.embedded.classifier.words import named_headings
from proviso_service.models import ModelPassage
from proviso_service.reading import plain_words

_MAX_CHARS = 20_000
_SENTENCE_WORDS = 25
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
_SMALL_WORDS = frozenset(("a", "an", "and", "for", "in", "of", "on", "or", "the", "to"))

_UNLIKELY, _LIKELY, _SURE = 0.06, 0.55, 0.98
_MOST_FOUND = 6
"""More would be slow to look for, and make a passage hardly surer."""
_BY_THE_WAY = 0.6
_MILD = frozenset(("agree", "agrees", "can", "may", "promise", "promises", "will"))

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
    named = re.compile(rf"\b{_named(statement.name)}\b")
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


def _graded(count: float, words: int, rest: float) -> float:
    """Returns a probability above one half: by how many signs of a form there are, by how much of a text of so many
    words their sentences take, and by `rest`, which is within 0 and 1."""
    share = min(1.0, count * _SENTENCE_WORDS / words)
    return _LIKELY + (_SURE - _LIKELY) * (0.45 * (1 - math.pow(0.5, count)) + 0.35 * share + 0.2 * rest)


def _unilateral_score(text: str) -> float:
    """Returns the probability that a clause binds one side only, from the parties that are subjects in it."""
    read = " ".join(text[:_MAX_CHARS].split())
    subjects = Counter(match["subject"].split()[-1].lower() for match in _SUBJECT.finditer(read))
    parties = [count for name, count in subjects.items() if name not in _NO_PARTIES]
    chief = max(parties, default=0) / max(1, sum(parties))
    if _MUTUAL.search(read):
        return 0.1 + 0.15 * chief
    if not parties:
        return 0.15
    if len(parties) == 1:
        return _graded(parties[0], read.count(" ") + 1, parties[0] / subjects.total())
    return 0.12 + 0.36 * chief


def _clause_score(text: str) -> float:
    """Returns the probability that a text is a provision and not a title, a signature or a table, from the words that
    provisions use."""
    words = text.count(" ") + 1
    found = _OPERATIVE.findall(text[:_MAX_CHARS].lower())
    length = min(1.0, words / _SENTENCE_WORDS)
    return _graded(len(found), words, length * (1 - 0.5 ** len(set(found)))) if found else 0.08 + 0.27 * length


def called_score(passage: ModelPassage, name: str) -> float:
    """Returns the probability that the passage has the name. The heading right above it decides; headings further up
    and the words with which it begins make it likely, and it is the surer the more the text has of the name's words."""
    wanted = _words(name)
    if not wanted:
        return _LEAST
    *further, nearest = named_headings(passage) or [""]
    opening = _OPENING_SCORE if wanted in _openings(passage.text, nearest) else 0.0
    above = max((_FURTHER_SHARE * _likeness(wanted, _words(title)) for title in further), default=0.0)
    found = max(_LEAST, opening, above, _likeness(wanted, _words(nearest)))
    return found if found <= 0.5 else 0.5 + (found - 0.5) * (0.8 + 0.2 * _mentions(wanted, passage.text))


def _mentions(wanted: Sequence[str], text: str) -> float:
    """Returns how much a text speaks of the words, within 0 and 1. Half a word stands for all its forms."""
    lower = text[:_MAX_CHARS].lower()
    count = sum(lower.count(word[: max(4, len(word) // 2)]) for word in wanted if word not in _SMALL_WORDS)
    return count / (count + lower.count(" ") / _SENTENCE_WORDS + 1)


def _likeness(wanted: Sequence[str], title: Sequence[str]) -> float:
    """Returns 1 for the same words, less for words that are missing, and a little less for words that are added."""
    asked, given = set(wanted) - _SMALL_WORDS or set(wanted), set(title) - _SMALL_WORDS or set(title)
    shared = len(asked & given)
    if not shared:
        return 0.0
    recall, precision = shared / len(asked), shared / len(given)
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
_OBLIGATION = r"(?:duty|obligation|responsibility)"
_THE = "(?:[Tt]he )?"
_EACH_PARTY = re.compile(r"each party", re.IGNORECASE)
_NEITHER = re.compile(r"\bneither(?: of the)? part(?:y|ies) (?:shall|will|may|can)\b", re.IGNORECASE)
_POSSESSIVE = re.compile(r"(?:['\u2019]s|(?<=s)['\u2019])$")
# What may differ between one and many: "party" and "parties", "business" and "businesses", "supplier" and "suppliers".
_PLURAL = re.compile(r"(?:(?<=[^aeiouAEIOU])(?:y|ies)|(?<=s)es|(?<![sS])s)$", re.IGNORECASE)
_GRANT = _any_of(r"grants?", r"granted", r"gives?", r"licenses?")
# For texts in lower case: to disregard case would take twice as long.
_ANYBODY_DUTY = re.compile(rf"\b{_DUTY}")
_ANYBODY_RIGHT = re.compile(rf"\b(?:{_RIGHT}|hereby grants?\b)")


def duty_score(text: str, party: str) -> float:
    """Returns the probability that the text puts a duty on the party, or on anybody if `party` is empty. A prohibition
    is a duty."""
    if not party:
        return _strength(text.lower(), (_ANYBODY_DUTY,))
    return _strength(text, _party_duties(party)) if _is_named(text, party) else _UNLIKELY


def right_score(text: str, party: str) -> float:
    """Returns the probability that the text gives a right to the party, or to anybody if `party` is empty."""
    if not party:
        return _strength(text.lower(), (_ANYBODY_RIGHT,))
    return _strength(text, _party_rights(party)) if _is_named(text, party) else _UNLIKELY


@lru_cache
def _party_duties(party: str) -> Sequence[re.Pattern[str]]:
    name = _named(party)
    return (
        _subject(name, _DUTY, f"{_OBLIGATION} to"),
        re.compile(rf"\b(?:shall|must|will) (?:not )?be [\w ]{{1,60}}?\bby {_THE}{name}\b(?! (?:may|shall)\b)"),
        re.compile(rf"{_OBLIGATION} of {_THE}{name}\b"),
        *([_NEITHER] if _EACH_PARTY.fullmatch(party) else ()),
    )


@lru_cache
def _party_rights(party: str) -> Sequence[re.Pattern[str]]:
    name = _named(party)
    return (
        _subject(name, _RIGHT, "(?:right|option)"),
        re.compile(rf"\b{_GRANT} (?:(?:un)?to )?{_THE}{name}\b(?!['\u2019])"),
        re.compile(rf"\b(?:right|option|discretion) of {_THE}{name}\b"),
    )


def _bare(party: str) -> str:
    """Returns a party's name without article, without the full stop of "Inc." and not in the possessive."""
    words = _POSSESSIVE.sub("", party.strip()).rstrip(".,; ").split()
    return " ".join(words[1:] if words[:1] and words[0].lower() == "the" else words)


@lru_cache
def _stems(party: str) -> Sequence[str]:
    """Returns the party's words in lower case, of the last what all its forms have in common."""
    *words, last = _bare(party).lower().split() or [""]
    return (*([] if _EACH_PARTY.fullmatch(party) else words), _PLURAL.sub("", last))


def _is_named(text: str, party: str) -> bool:
    """Tells whether the text has all words of the party. The check is quick, and rules out most texts."""
    lower = text.lower()
    return all(map(lower.__contains__, _stems(party)))


def _strength(text: str, patterns: Sequence[re.Pattern[str]]) -> float:
    """Returns a probability above one half where a pattern is found; matches of the patterns after the first, and those
    of mild words, count less than others."""
    read = " ".join(text[:_MAX_CHARS].split())
    count, first = 0.0, len(read)
    for index, pattern in enumerate(patterns):
        for match in islice(pattern.finditer(read), _MOST_FOUND):
            is_mild = match[0].rstrip().rpartition(" ")[2].lower() in _MILD
            count += (_BY_THE_WAY if index else 1.0) * (_BY_THE_WAY if is_mild else 1.0)
            first = min(first, match.start())
    return _graded(count, read.count(" ") + 1, 1 - first / len(read)) if count else _UNLIKELY


def _named(party: str) -> str:
    """Returns the pattern of a party's name, whether it is one or many. "Each party" is named by all that means it."""
    if _EACH_PARTY.fullmatch(party):
        return r"(?i:(?:each|either|both|all)(?: of)?(?: the)? part(?:y|ies)|the parties)"
    stems = " ".join(map(re.escape, _stems(party)))
    # In small letters "suppliers" are anybody's, and not the Supplier.
    return rf"(?:(?i:{re.escape(_bare(party))})|(?=[A-Z])(?i:{stems}(?:y|ies|e?s)?))"


def _subject(name: str, verbs: str, noun: str) -> re.Pattern[str]:
    """Returns the pattern of the party as the subject of one of the verbs, with its affiliates and a definition in
    brackets, or as the owner of what the noun says."""
    company = r"(?: (?:and|or)(?: each of)?(?: its| their| the)? [\w-]+(?: [A-Z][\w-]*)*)?(?: \([^)]{1,60}\))? ?"
    owned = rf"['\u2019]s? (?:\w+ )?{noun}\b"
    return re.compile(rf"\b{name}\b\.?(?:(?!['\u2019]s){company}{_ADVERBS}{verbs}|{owned})")
