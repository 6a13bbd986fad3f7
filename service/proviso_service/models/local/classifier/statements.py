"""What a statement asks of a passage."""

import re
from dataclasses import dataclass
from enum import Enum


from proviso_service.models.local.classifier.concepts import Concepts
from proviso_service.models.local.classifier.fitted import WordStatistics
from proviso_service.models.local.classifier.matching import Weighted, find, phrase_holders
from proviso_service.models.local.classifier.passages import Words
from proviso_service.models.local.classifier.words import Stemmer, distinct

_MAX_WORDS = 48
_MAX_COMPANIONS = 60
_COMPANION_SHARE = 2.0
_MAX_CONCEPTS = 6

# Words that say that something is stated, not what.
_FRAME_WORDS = """
a about also an and any anything are as at be because been being but by can case category certain clause clauses contract
contracts could counterparty describe did do does each either etc for from given had has have he if in include includes
including into is it its kind may must no not of on one or other others out party parties particular particularly
provision provisions provide provides providing say says section set shall she should so some specified specifies
specify state stated states statement such text than that the their them then there these they this those to under up
what when where whether which who whom whose why will with would agreement agreements document passage something someone
"""


class Form(Enum):
    """What kind of statement it is: most are about content, some about how a clause is made."""

    CONTENT = "content"
    CALLED = "called"
    CLAUSE = "clause"
    OBLIGATION = "obligation"
    RIGHT = "right"
    UNILATERAL = "unilateral"


_QUOTED = r"[\"\u201c\u2018']?(?P<name>[^\"\u201c\u201d]+?)[\"\u201d\u2019']?"
_START = r"(?:this|it) (?:is |)(?:an? |the |)(?:clause |provision |section |)(?:that |which |)"
_PARTY = r"(?:an? |one |any |some |either |the |one of the )?(?:part(?:y|ies))"
_FORMS = tuple(
    (form, re.compile(rf"\s*{pattern}\s*[.!]?\s*", re.IGNORECASE))
    for form, pattern in (
        (
            Form.CALLED,
            rf"(?:this is )?(?:an? |the )?(?:clause|section|provision) (?:called|named|titled|headed) {_QUOTED}",
        ),
        (Form.CALLED, rf"this (?:clause|section|provision) is (?:called|named|titled|headed) {_QUOTED}"),
        (
            Form.CLAUSE,
            r"this is an? (?:contractual )?(?:clause|provision)(?: of a contract)?(?:: a provision that .*)?",
        ),
        (Form.UNILATERAL, r"(?:this is )?an? unilateral (?:clause|provision)(?:: it binds or benefits only one .*)?"),
        (Form.UNILATERAL, rf"{_START}(?:binds|benefits|binds or benefits) only one (?:side|party|of the parties)"),
        (
            Form.OBLIGATION,
            rf"{_START}imposes? (?:an? )?(?:obligations?|dut(?:y|ies))(?: or (?:an? )?dut(?:y|ies))?(?: (?:up)?on {_PARTY})?",
        ),
        (
            Form.OBLIGATION,
            rf"{_START}imposes? (?:an? )?(?:obligations?|dut(?:y|ies))(?: or (?:an? )?dut(?:y|ies))? (?:up)?on {_QUOTED}",
        ),
        (Form.OBLIGATION, rf"{_START}(?:obligat(?:es|ing)|oblig(?:es|ing)|binds?) {_QUOTED}"),
        (Form.OBLIGATION, r"(?:this is )?an? (?:obligation|duty)"),
        (
            Form.RIGHT,
            rf"{_START}(?:grants?|gives?) (?:an? )?(?:rights?|entitlements?)(?: or (?:an? )?entitlements?)?(?: to {_PARTY})?",
        ),
        (
            Form.RIGHT,
            rf"{_START}(?:grants?|gives?) (?:an? )?(?:rights?|entitlements?)(?: or (?:an? )?entitlements?)? to {_QUOTED}",
        ),
        (Form.RIGHT, rf"{_START}(?:entitles|entitling) {_QUOTED}"),
        (Form.RIGHT, r"(?:this is )?an? (?:right|entitlement)"),
    )
)
_DENIED = re.compile(
    r"\s*(?P<subject>this (?:clause|provision|section)|it) (?:(?P<be>is) not|isn't|does not|doesn't) (?P<rest>.+)",
    re.I | re.S,
)
_LEAD = re.compile(r"\s*[^\W_].{8,}?[.:?!](?=\s+\S)", re.DOTALL)
_NEGATION = re.compile(
    r"\b(?:not|never|cannot|neither|nor|prohibit(?:s|ed)?|forbid(?:s|den)?|without)\b", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Statement:
    """`asked` is the statement, or what it denies; `name` a party's or a heading's where the form has one."""

    asked: str
    form: Form
    name: str
    is_denied: bool


def understand(text: str) -> Statement:
    denied = _DENIED.fullmatch(text)
    asked = text
    if denied:
        asked = f"{denied['subject']} {'is ' if denied['be'] or 'isn' in text else ''}{denied['rest']}"
    for form, pattern in _FORMS:
        match = pattern.fullmatch(asked)
        if match:
            name = (match.groupdict().get("name") or "").strip()
            return Statement(asked, form, name, bool(denied))
    return Statement(asked, Form.CONTENT, "", bool(denied))


def wordings(statement: Statement) -> tuple[str, ...]:
    """What a statement about content is judged by: itself and, where it has more, its first sentence or the part before
    a colon, which names what the rest explains."""
    lead = _LEAD.match(statement.asked)
    return (statement.asked, lead[0].strip()) if lead else (statement.asked,)


def is_negative(text: str) -> bool:
    """Whether the statement speaks of what is not, or must not be, done."""
    return bool(_NEGATION.search(text))


@dataclass(frozen=True, slots=True)
class Content:
    """The statement's words by their rarity; the same with the words that keep them company under headings; pairs of
    words that follow one another; concepts with how much of the statement brings them up, most first."""

    words: Weighted
    widened: Weighted
    pairs: tuple[tuple[int, int], ...]
    concepts: tuple[tuple[str, float], ...]
    cover: float
    """Share of the words' weight that the chief concept accounts for."""


class ContentReader:
    """Reads statements. For one thread."""

    def __init__(self, stemmer: Stemmer, statistics: WordStatistics, concepts: Concepts) -> None:
        self._stemmer = stemmer
        self._statistics = statistics
        self._concepts = concepts
        self._frame = {number for word in _FRAME_WORDS.split() for number in stemmer.words(word)}

    def read(self, text: str) -> Content:
        tokens = self._stemmer.tokens(text)
        in_order = [number for number in tokens.tolist() if number and number not in self._frame]
        words = {number: self._statistics.rarity_of(number) for number in distinct(in_order)[:_MAX_WORDS]}
        brought_up = self._brought_up(Words.of([tokens]), words)
        chief = brought_up[0][1] if brought_up else 0.0
        weighted = Weighted(words)
        return Content(
            weighted,
            self._widened(weighted),
            tuple((first, second) for first, second in zip(in_order, in_order[1:], strict=False) if first in words),
            tuple((name, weight / chief) for name, weight in brought_up),
            min(1.0, chief / weighted.mass),
        )

    def _brought_up(self, text: Words, words: dict[int, float]) -> list[tuple[str, float]]:
        found = []
        hits = find(
            text.tokens, [number for concept in self._concepts.values() for cue in concept.cues for number in cue.words]
        )
        present = set(hits.words) & set(text.tokens.tolist())
        for concept in self._concepts.values():
            weight = max(
                (
                    sum(
                        max((words.get(number, 0.5) for number in part.words if number in present), default=0.0)
                        for part in cue.parts
                    )
                    for cue in concept.cues
                    if len(phrase_holders(text, hits, cue))
                ),
                default=0.0,
            )
            if weight:
                found.append((concept.name, weight))
        return sorted(found, key=lambda item: (-item[1], item[0]))[:_MAX_CONCEPTS]

    def _widened(self, query: Weighted) -> Weighted:
        added: dict[int, float] = {}
        for number, weight in query.weights.items():
            for other, share in self._statistics.companions.get(number, ()):
                if other not in query.weights and other not in self._frame:
                    added[other] = added.get(other, 0.0) + weight * share
        widened = dict(query.weights)
        for number, weight in added.items():
            widened[number] = _COMPANION_SHARE * weight / query.mass * self._statistics.rarity_of(number)
        chosen = sorted(widened.items(), key=lambda item: (-item[1], item[0]))[:_MAX_COMPANIONS]
        return Weighted(dict(chosen))
