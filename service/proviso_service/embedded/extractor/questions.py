"""What a question asks for: a statement, or a short value such as a period, a date or a name."""

import re
from dataclasses import dataclass
from enum import StrEnum

from proviso_service.embedded.topics import Topic, topic_of


class Sought(StrEnum):
    """What an answer is: a sentence, or the value alone where one is enough. Money may be a share, a sum may not."""

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
class Question:
    """`topic` where the question is about a common subject of agreements. `wording` is the question with the name that
    its subject has in headings: "Who are the parties?" has no word of its own to look for."""

    wording: str
    sought: Sought
    topic: Topic | None


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


_SUBJECTS = {
    Sought.TITLE: "document name",
    Sought.PARTIES: "parties to the agreement",
    Sought.LAW: "governing law",
}


def _cue(sought: Sought, *wordings: str) -> tuple[Sought, re.Pattern[str]]:
    return sought, re.compile("|".join(wordings), re.IGNORECASE)


# The first whose cue is found counts, so the special stands before the general.
_CUES = (
    _cue(
        Sought.TITLE,
        rf"\b(?:name|title) of (?:the|this) {_CONTRACT}\b",
        r"\bdocument (?:name|title)\b",
        rf"\b{_CONTRACT} (?:called|titled|named|entitled)\b",
        rf"\bwhat (?:kind|type|sort) of {_CONTRACT}\b",
    ),
    _cue(
        Sought.PARTIES,
        r"^\W*(?:the |what are |list )?(?:the )?(?:two or more )?(?:names? of )?(?:the )?(?:contracting |signing )?"
        r"parties\b(?! (?:must|may|shall|can|agree|have|do))",
        r"\bbetween whom\b",
        rf"\bparties to (?:the|this) {_CONTRACT}\W*$",
        r"\bwho (?:is|are|was|were|signed|entered|made|executed|concluded)\b",
        r"\bwhich (?:companies|entities|persons|parties) (?:signed|entered|are|made|executed|concluded)\b",
    ),
    _cue(
        Sought.LAW,
        r"\b(?:which|what|whose)\b.{0,60}\blaws?\b",
        r"\bgoverning law\b",
        r"\bchoice of law\b",
        r"\bapplicable law\b",
        r"\b(?:governed|governs) by\b",
        r"\bproper law\b",
    ),
    _cue(
        Sought.PERCENTAGE,
        r"\b(?:what|which|how (?:high|large|big))\b.{0,50}\b(?:percent\w*|per cent|interest|rates?)\b",
    ),
    _cue(
        Sought.DURATION,
        rf"\bhow (?:long|many {_UNIT}|much (?:prior |advance |written )*(?:notice|time))\b",
        r"\bnotice period\b",
        r"\bwhat (?:is|are|was) the (?:[\w-]+ ){0,3}?(?:period|duration|length|renewal term)\b",
        r"\brenewal term\b",
        rf"\b(?:within|after) (?:how many|what|which) (?:{_UNIT}|period|time)\b",
    ),
    _cue(
        Sought.PERIOD,
        r"\bwhat (?:is|was) the (?:[\w-]+ ){0,2}?term\b",
        r"\b(?:when (?:does|will|is|do)|(?:what|which) date|date on which)\b.{0,50}"
        r"\b(?:expire|end|run out|terminate)\w*",
        r"\bexpir(?:y|ation) date\b",
    ),
    _cue(
        Sought.DATE,
        r"\bwhen (?:is|was|were|are|does|did|do|will|shall|must)\b",
        r"^\W*(?:from |since )?when (?:the|this|it)\b",
        r"\b(?:what|which) (?:date|day)\b",
        r"\bdate (?:of|when|on which|from which)\b",
        r"\b(?:effective|commencement|start|agreement|signing|closing) date\b",
    ),
    _cue(
        Sought.SUM,
        r"\b(?:how much|what|how high|how large)\b(?!.{0,60}\b(?:percent\w*|per cent|share)\b).{0,40}"
        r"\b(?:rent|salary|wages?|deposit|purchase price|retainer|lump sum)\b",
    ),
    _cue(
        Sought.MONEY,
        r"\bhow much\b",
        r"\bwhat (?:amount|sum|price)\b",
        r"\bwhat(?:['\u2019]s| is| are| was) the (?:[\w-]+ ){0,3}?(?:rent|salary|fees?|price|deposit|costs?|amount|sum|"
        r"royalt\w+|penalt\w+|payments?|consideration)\b",
    ),
    _cue(Sought.NUMBER, r"\bhow many\b", r"\bwhat number\b"),
)


def understand(text: str) -> Question:
    """A question that can be answered with yes or no asks for the statement that answers it."""
    polite = _POLITE.match(text)
    asked = text[polite.end() :] if polite else text
    if _YES_OR_NO.match(asked):
        sought = Sought.STATEMENT
    else:
        sought = next((sought for sought, cue in _CUES if cue.search(asked)), Sought.STATEMENT)
    topic = topic_of(text)
    # Questions of every kind speak of "the parties"; only some are about who they are.
    if topic and topic.name == "parties" and sought is not Sought.PARTIES:
        topic = None
    name = _SUBJECTS.get(sought) or (topic.name if topic else "")
    return Question(f"{text} {name}".strip(), sought, topic)
