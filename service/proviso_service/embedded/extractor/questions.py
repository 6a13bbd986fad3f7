"""Reads questions and finds values: what a question asks for, a statement or a value such as a period, a date or a
name, and where values of each kind stand in a text."""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum

from proviso_service.reading import LAW, NUMBER_WORDS

_UNIT = r"(?:hours?|days?|weeks?|months?|quarters?|years?)"
_CONTRACT = r"(?:contract|agreement|document|lease|deed|instrument|file)"
_POLITE = re.compile(
    r"\W*(?:please\W+|(?:can|could|would|will) you (?:please )?|(?:i|we) (?:want|need|would like) to know\W+|"
    r"(?:tell|show|give|find) (?:me|us)\W+)+",
    re.IGNORECASE,
)
_YES_OR_NO = re.compile(
    r"\W*(?:is|are|was|were|does|do|did|can|could|may|might|must|shall|should|will|would|has|have|had)\b",
    re.IGNORECASE,
)

Bounds = tuple[int, int]

_WORDS = rf"(?:(?:(?:one |a )?hundred(?: (?:and )?\w+)?)|{NUMBER_WORDS})"
_COUNT = rf"(?:\d{{1,4}}|{_WORDS})\s?(?:\(\s?\d{{1,4}}\s?\))?"
_DURATION = (
    rf"\b{_COUNT}[\s-]{{0,3}}(?:(?:business|calendar|working|full|consecutive|additional|successive|contract)\s+){{0,2}}"
    r"(?:hours?|days?|weeks?|months?|quarters?|years?)\b"
)
_MONTH = (
    r"(?:Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?|Sept?(?:ember)?|Oct(?:ober)?"
    r"|Nov(?:ember)?|Dec(?:ember)?)\.?"
)
_DATE = (
    rf"\b{_MONTH}\s+\d{{1,2}}(?:st|nd|rd|th)?,?\s+\d{{4}}\b"
    rf"|\b\d{{1,2}}\s?(?:st|nd|rd|th)?\s+(?:day\s+of\s+)?{_MONTH},?\s+\d{{4}}\b"
    rf"|\b{_MONTH},?\s+\d{{4}}\b|\b\d{{4}}-\d\d-\d\d\b|\b\d{{1,2}}[/.]\d{{1,2}}[/.]\d{{2,4}}\b"
)
_FIGURE = r"\d{1,3}(?:,\d{3}){1,5}(?:\.\d{1,6})?|\d{1,15}(?:\.\d{1,6})?"
_SCALE = r"(?:\s?(?:thousand|million|billion|[mk])\b)?"
_CURRENCY = r"(?:USD|EUR|GBP|CAD|AUD|CHF|JPY|US\s?\$)"
_PERCENTAGE = rf"(?:\b{_WORDS}\s?)?\(?\b(?:{_FIGURE})\s?\)?\s?(?:%|per\s?cent\b)(?:\s?\(\s?[\d.]+\s?%\s?\))?"
_PERCENT_IN_WORDS = rf"\b{_WORDS}\s+per\s?cent\b(?:\s?\(\s?[\d.]+\s?%\s?\))?"
_MONEY = (
    rf"(?:{_CURRENCY}|[$\u20ac\u00a3\u00a5])\s?(?:{_FIGURE}){_SCALE}"
    rf"|\b(?:{_FIGURE}){_SCALE}\s?(?:U\.?S\.?\s)?(?:dollars|euros?|pounds|USD|EUR|GBP)\b"
)
_NUMBER = rf"\b(?:{_FIGURE}|{_WORDS})\s?(?:\(\s?\d[\d,]*\s?\))?(?:\s[a-z]{{3,}})?"

_NAME_WORD = r"[A-Z\d](?:[\w&\u2019'/-]|\.(?=\w))*(?:(?<=\b[A-Z])\.)?"
_COMPANY_ENDING = (
    r"(?:,?\s+(?:Inc|LLC|L\.L\.C|Ltd|Limited|Corp|Corporation|Co|Company|LP|L\.P|LLP|PLC|plc|GmbH|AG|S\.A|N\.V|B\.V|INC|LTD"
    r"|CORP|CO)\b\.?)*"
)
_NAME = re.compile(
    rf"\W{{0,6}}(?:\(?\w{{1,3}}\)\s+\W{{0,3}})?(?:(?i:the|each of|by)\s+)?"
    rf"(?P<name>{_NAME_WORD}(?:\s+(?:(?:of|the|de|du|van|von|&)\s+)?{_NAME_WORD}){{0,8}}{_COMPANY_ENDING})"
)
_BETWEEN = re.compile(r"\b(?i:between|among|amongst)\b")
_NEXT_PARTY = re.compile(r"[,;\s]\s*(?i:and|between)\s+(?=\W{0,3}[A-Z\d])|;\s+|\)\s*,\s+(?=[A-Z\d])")
_PARTIES_REACH = 1_200
_KIND_OF_CONTRACT = (
    r"(?:AGREEMENT|Agreement|CONTRACT|Contract|LEASE|Lease|DEED|Deed|LICENSE|License|PLAN|Plan|TERMS|Terms|LETTER|AMENDMENT"
    r"|Amendment|MEMORANDUM|Memorandum|POLICY|Policy|STATEMENT\s+OF\s+WORK|Statement\s+of\s+Work)"
)
_TITLE_WORD = r"(?!(?:This|THIS|The|THE|Any|Such|Each|In|Under|To|WHEREAS)\b)[A-Z][\w&\u2019'/-]*"
_TITLE = re.compile(
    rf"\b{_TITLE_WORD}(?:,?\s+(?:(?i:of|and|or|for|to|&)\s+){{0,2}}{_TITLE_WORD}){{0,8}}?\s+{_KIND_OF_CONTRACT}\b"
)


class AnswerKind(StrEnum):
    """What an answer is: a statement, or a value alone where that is enough. An answer of the kind MONEY may be a
    percentage, one of the kind SUM may not."""

    STATEMENT = "statement"
    DURATION = "duration"
    DATE = "date"
    PERIOD = "period"
    SUM = "sum"
    MONEY = "money"
    PERCENTAGE = "percentage"
    NUMBER = "number"
    LAW = "law"
    PARTIES = "parties"
    TITLE = "title"


@dataclass(frozen=True, slots=True)
class UnderstoodQuestion:
    """A question. `wording` is the question with the name that its subject has in headings added where it asks for
    the title, the parties or the law: "Who are the parties?" has no word of its own to look for."""

    wording: str
    answer_kind: AnswerKind


_SUBJECTS = {
    AnswerKind.TITLE: "document name",
    AnswerKind.PARTIES: "parties to the agreement",
    AnswerKind.LAW: "governing law",
}


def _cue(answer_kind: AnswerKind, *wordings: str) -> tuple[AnswerKind, re.Pattern[str]]:
    return answer_kind, re.compile("|".join(wordings), re.IGNORECASE)


# The first kind whose cue is found counts, so the special ones stand before the general ones.
_CUES = (
    _cue(
        AnswerKind.TITLE,
        rf"\b(?:name|title) of (?:the|this) {_CONTRACT}\b",
        r"\bdocument (?:name|title)\b",
        rf"\b{_CONTRACT} (?:called|titled|named|entitled)\b",
        rf"\bwhat (?:kind|type|sort) of {_CONTRACT}\b",
    ),
    _cue(
        AnswerKind.PARTIES,
        r"^\W*(?:the |what are |list )?(?:the )?(?:two or more )?(?:names? of )?(?:the )?(?:contracting |signing )?"
        r"parties\b(?! (?:must|may|shall|can|agree|have|do))",
        r"\bbetween whom\b",
        rf"\bparties to (?:the|this) {_CONTRACT}\W*$",
        r"\bwho (?:is|are|was|were|signed|entered|made|executed|concluded)\b",
        r"\bwhich (?:companies|entities|persons|parties) (?:signed|entered|are|made|executed|concluded)\b",
    ),
    _cue(
        AnswerKind.LAW,
        r"\b(?:which|what|whose)\b.{0,60}\blaws?\b",
        r"\bgoverning law\b",
        r"\bchoice of law\b",
        r"\bapplicable law\b",
        r"\b(?:governed|governs) by\b",
        r"\bproper law\b",
    ),
    _cue(
        AnswerKind.PERCENTAGE,
        r"\b(?:what|which|how (?:high|large|big))\b.{0,50}\b(?:percent\w*|per cent|interest|rates?)\b",
    ),
    _cue(
        AnswerKind.DURATION,
        rf"\bhow (?:long|many {_UNIT}|much (?:prior |advance |written )*(?:notice|time))\b",
        r"\bnotice period\b",
        r"\bwhat (?:is|are|was) the (?:[\w-]+ ){0,3}?(?:period|duration|length|renewal term)\b",
        r"\brenewal term\b",
        rf"\b(?:within|after) (?:how many|what|which) (?:{_UNIT}|period|time)\b",
    ),
    _cue(
        AnswerKind.PERIOD,
        r"\bwhat (?:is|was) the (?:[\w-]+ ){0,2}?term\b",
        r"\b(?:when (?:does|will|is|do)|(?:what|which) date|date on which)\b.{0,50}"
        r"\b(?:expire|end|run out|terminate)\w*",
        r"\bexpir(?:y|ation) date\b",
    ),
    _cue(
        AnswerKind.DATE,
        r"\bwhen (?:is|was|were|are|does|did|do|will|shall|must)\b",
        r"^\W*(?:from |since )?when (?:the|this|it)\b",
        r"\b(?:what|which) (?:date|day)\b",
        r"\bdate (?:of|when|on which|from which)\b",
        r"\b(?:effective|commencement|start|agreement|signing|closing) date\b",
    ),
    _cue(
        AnswerKind.SUM,
        r"\b(?:how much|what|how high|how large)\b(?!.{0,60}\b(?:percent\w*|per cent|share)\b).{0,40}"
        r"\b(?:rent|salary|wages?|deposit|purchase price|retainer|lump sum)\b",
    ),
    _cue(
        AnswerKind.MONEY,
        r"\bhow much\b",
        r"\bwhat (?:amount|sum|price)\b",
        r"\bwhat(?:['\u2019]s| is| are| was) the (?:[\w-]+ ){0,3}?(?:rent|salary|fees?|price|deposit|costs?|amount|sum|"
        r"royalt\w+|penalt\w+|payments?|consideration)\b",
    ),
    _cue(AnswerKind.NUMBER, r"\bhow many\b", r"\bwhat number\b"),
)


def understand(text: str) -> UnderstoodQuestion:
    """Reads a question. One that can be answered with yes or no asks for the statement that answers it."""
    polite = _POLITE.match(text)
    asked = text[polite.end() :] if polite else text
    if _YES_OR_NO.match(asked):
        answer_kind = AnswerKind.STATEMENT
    else:
        answer_kind = next((answer_kind for answer_kind, cue in _CUES if cue.search(asked)), AnswerKind.STATEMENT)
    return UnderstoodQuestion(f"{text} {_SUBJECTS.get(answer_kind, '')}".strip(), answer_kind)


_PATTERNS = {
    AnswerKind.DURATION: re.compile(_DURATION, re.IGNORECASE),
    AnswerKind.DATE: re.compile(_DATE, re.IGNORECASE),
    AnswerKind.PERIOD: re.compile(f"{_DURATION}|{_DATE}", re.IGNORECASE),
    AnswerKind.SUM: re.compile(_MONEY, re.IGNORECASE),
    AnswerKind.MONEY: re.compile(f"{_MONEY}|{_PERCENTAGE}|{_PERCENT_IN_WORDS}", re.IGNORECASE),
    AnswerKind.PERCENTAGE: re.compile(f"{_PERCENTAGE}|{_PERCENT_IN_WORDS}", re.IGNORECASE),
    AnswerKind.NUMBER: re.compile(_NUMBER, re.IGNORECASE),
}


def values_in(text: str, answer_kind: AnswerKind) -> list[Bounds]:
    """Returns where values of the kind stand in the text, in order and without overlap. There are none for
    statements."""
    return list(_FINDERS[answer_kind](text)) if answer_kind in _FINDERS else []


def _by_pattern(pattern: re.Pattern[str]) -> Callable[[str], Iterator[Bounds]]:
    def find(text: str) -> Iterator[Bounds]:
        return (_without_ends(text, *match.span()) for match in pattern.finditer(text))

    return find


def _without_ends(text: str, start: int, end: int) -> Bounds:
    """Leaves out punctuation around a value."""
    while end > start and text[end - 1] in " ,;.\n\t":
        end -= 1
    return start, end


def _parties(text: str) -> Iterator[Bounds]:
    """Yields the names after "between", one at the beginning of each part."""
    opening = _BETWEEN.search(text)
    if opening is None:
        return
    end = min(len(text), opening.end() + _PARTIES_REACH)
    breaks = [match.end() for match in _NEXT_PARTY.finditer(text, opening.end(), end)]
    for start in [opening.end(), *breaks]:
        name = _NAME.match(text, start, end)
        if name:
            yield _without_ends(text, *name.span("name"))


_FINDERS: Mapping[AnswerKind, Callable[[str], Iterator[Bounds]]] = {
    **{answer_kind: _by_pattern(pattern) for answer_kind, pattern in _PATTERNS.items()},
    AnswerKind.LAW: _by_pattern(LAW),
    AnswerKind.TITLE: _by_pattern(_TITLE),
    AnswerKind.PARTIES: _parties,
}
