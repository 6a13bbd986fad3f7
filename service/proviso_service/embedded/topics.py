"""The subjects that many questions about agreements have: how people ask about them, what to search for, and by what
an answer is recognised."""

import re
from dataclasses import dataclass
from enum import StrEnum

from proviso_service.reading import NUMBER_WORDS

_MONTH = r"(?:January|February|March|April|May|June|July|August|September|October|November|December)"


class ValueKind(StrEnum):
    """The kind of value that an answer must hold."""

    DURATION = "duration"
    MONEY = "money"
    DATE = "date"
    PERIOD = "period"


_DURATION = (
    rf"\b(?:\d+|{NUMBER_WORDS})\b"
    r"\)?(?:\s*\(\d+\))?[\s-]*(?:(?:business|calendar|working|full|consecutive)\s+)?(?:hour|day|week|month|quarter|year)"
)
_MONEY = (
    r"[$€£¥]\s?\d|\b\d[\d,.]*\s*(?:%|percent|per cent|dollars|euros?|pounds|USD|EUR|GBP)"
    r"|\b(?:USD|EUR|GBP|US\$)\s?\d|\bper\s?cent\b|\b(?:fees|amounts|sums)\s+(?:paid|payable)"
)
_DATE = (
    rf"\b{_MONTH}\s+\d{{1,2}}\b|\b\d{{1,2}}(?:st|nd|rd|th)?\s+(?:day\s+of\s+)?{_MONTH}|\b{_MONTH},?\s+\d{{4}}"
    r"|\b\d{4}-\d\d-\d\d\b|\b\d{1,2}/\d{1,2}/\d{2,4}\b|\b\d{1,2}\.\d{1,2}\.\d{4}\b"
)
VALUE_PATTERNS = {
    ValueKind.DURATION: re.compile(_DURATION, re.IGNORECASE),
    ValueKind.MONEY: re.compile(_MONEY, re.IGNORECASE),
    ValueKind.DATE: re.compile(_DATE, re.IGNORECASE),
    ValueKind.PERIOD: re.compile(f"{_DURATION}|{_DATE}", re.IGNORECASE),
}


@dataclass(frozen=True, slots=True)
class Topic:
    """A subject. `cue` is looked for in questions and `evidence` in passages; `search` is added to search queries. A
    topic that `is_in_opening` is looked for at the beginning of a document too, and there its evidence counts more
    than the words of the question, because names and dates are not near to any question in meaning."""

    name: str
    cue: re.Pattern[str]
    search: str
    evidence: re.Pattern[str]
    kind: ValueKind | None = None
    is_in_opening: bool = False


def _topic(
    name: str, cue: str, search: str, evidence: str, kind: ValueKind | None = None, *, opening: bool = False
) -> Topic:
    cues, marks = re.compile(cue, re.IGNORECASE), re.compile(evidence, re.IGNORECASE)
    return Topic(name, cues, search, marks, kind, opening)


# The first topic whose cue is found counts, so the special ones stand before the general ones.
TOPICS = (
    _topic(
        "governing law",
        r"\bgovern\w*\b.{0,20}\blaws?\b|\blaws?\b.{0,20}\bgovern|choice of law|applicable law|proper law"
        r"|\b(?:which|what) (?:state|country|jurisdiction)?(?:['\u2019]s)? ?laws?\b|\blaws? (?:applies|apply)",
        "governing law governed by the laws of",
        r"governed\b.{0,60}\blaws?\b|\bgoverning law\b.{0,20}(?:will|shall|is|means|:)"
        r"|\blaws? of (?:the )?[A-Z]|construed .{0,40}\blaws?\b",
    ),
    _topic(
        "notice period",
        r"notice period|period of notice|(?:days|months|weeks|much|long|length).{0,20}\bnotice|\bnotice\b.{0,40}"
        r"(?:terminat|cancel|end\b|required|needed|give)|terminat.{0,30}\bnotice\b",
        "notice period terminate days prior written notice",
        rf"(?:{_DURATION})\w*['\u2019]?,?\s+(?:(?!of\b|after\b)[\w-]+\s+){{0,4}}notice\b"
        rf"|\bnotice\b.{{0,60}}\b(?:least|than|of)\s+(?:{_DURATION})",
        ValueKind.DURATION,
    ),
    _topic(
        "effective date",
        r"effective date|commencement date|start date|(?:when|what date|from when).{0,40}"
        r"(?:effective|start|begin|commence|signed|dated|entered|take effect|in force)|date of the",
        "effective date, agreement made and entered into as of",
        r"effective|\bas of\b|dated|commenc|entered into|\bmade (?:on|this)|\bbegin|\bstart",
        ValueKind.DATE,
        opening=True,
    ),
    _topic(
        "parties",
        r"\b(?:contracting |signing )?parties\b(?! (?:must|may|shall|can|agree))"
        r"|\bwho (?:is|are|was|were) (?:the |our )?(?:other |counter)?(?:part|client|customer|supplier|provider|vendor"
        r"|landlord|tenant|lessor|lessee|employ|licens|buyer|seller|contractor)"
        r"|between whom|who (?:signed|entered)|counterpart(?:y|ies)\b|party to",
        "agreement made and entered into by and between the parties",
        r"\bby and (?:between|among)\b|\b(?:made|entered into|dated)\b.{0,120}\bbetween\b.{3,}\band\b"
        r"|\b(?:agreement|lease|contract) between\b.{3,}\band\b"
        r"|\(\s*(?:the )?[\"“][A-Z][\w ]+[\"”]\s*\)",
        opening=True,
    ),
    _topic(
        "liability cap",
        r"\bcaps?\b|limit\w*.{0,20}\bliabilit|liabilit\w*.{0,20}\b(?:limit|capped)|maximum liabilit",
        "limitation of liability aggregate liability shall not exceed",
        r"\bliabilit\w*.{0,200}(?:exceed|limited to|\blimit\b|cap)"
        r"|(?:exceed|limit(?!ed liab)|in no event).{0,200}\bliab|\b(?:not|neither|nor).{0,40}\bliable\b",
    ),
    _topic(
        "liability",
        r"liabilit|\bliable\b|consequential|indirect damages",
        "limitation of liability aggregate liability shall not exceed",
        r"\bliabilit|\bliable\b|\bexceed|damages",
    ),
    _topic("non-solicitation", r"solicit|poach", "non-solicitation solicit employees", r"solicit"),
    _topic("non-compete", r"compet(?!en)", "non-competition compete", r"\bcompet(?!en)|non-?compet(?!en)"),
    _topic("renewal", r"renew", "renewal renew automatically successive", r"\brenew"),
    _topic(
        "late payment",
        r"late (?:pay|fee|charge)|overdue|interest rate|rate of interest|(?:pays?|paid|paying) late"
        r"|(?:not|n't|fails? to) pay",
        "late payment interest overdue amounts",
        r"\binterest\b|\blate\b|overdue",
    ),
    _topic(
        "confidentiality period",
        r"(?:how long|duration|period|years?|last|surviv).{0,60}(?:confiden|non-?disclosure|secre)|"
        r"confiden.{0,60}(?:how long|duration|period|last|surviv)",
        "confidentiality obligations survive years after",
        r"confiden|non-?disclosure|disclos|secre|surviv",
        ValueKind.DURATION,
    ),
    _topic(
        "term",
        r"\b(?:initial |lease )?term\b(?! sheet)|\bduration\b"
        r"|how long.{0,50}(?:last|run|term|force|effect|valid|agreement|contract|lease)"
        r"|when.{0,40}\b(?:expire|ends?\b|run out)|expir",
        "term of this agreement begins, means, continues for years until it expires",
        r"\bterm\b.{0,80}\b(?:means|shall be|is|of|begins?|commenc\w+|continu\w+|expires?|ends?)\b"
        r"|(?:initial|full) term|expir|continu\w* (?:in|for|until|from)|remain\w* in"
        r"|in (?:full force and )?effect|\bend(?:s|ing)\b",
        ValueKind.PERIOD,
    ),
    _topic(
        "termination",
        r"terminat|cancel|get out|walk away|end (?:the|this)",
        "termination terminate",
        r"terminat|cancel",
    ),
    _topic(
        "exclusivity",
        r"exclusiv",
        "exclusive exclusivity sole and exclusive right",
        r"exclusiv\w*(?! (?:jurisdiction|venue|of (?:all|any|the)))|\bsole\b",
    ),
    _topic("change of control", r"change (?:of|in) control", "change of control", r"change (?:of|in) control"),
    _topic(
        "most favoured terms",
        r"most[- ]favou?red|\bMFN\b",
        "most favored customer nation pricing no less favorable",
        r"most[- ]favou?red|(?:less|more) favou?rabl",
    ),
    _topic(
        "liquidated damages",
        r"liquidated damages|penalt",
        "liquidated damages penalty",
        r"liquidated|penalt",
    ),
    _topic("deposit", r"deposit", "deposit", r"deposit", ValueKind.MONEY),
    _topic("rent", r"\brent\b|\brental\b", "rent payable monthly", r"\brent"),
    _topic("royalties", r"royalt", "royalty royalties", r"royalt"),
    _topic("salary", r"salary|\bwages?\b|remunerat", "salary compensation", r"salary|compensat|wage|remunerat"),
    _topic(
        "payment",
        r"\bfees?\b|\bpric(?:e|es|ing)\b|\bcosts?\b|\bpay\w*|\bcharges?\b|how much|invoic|compensation",
        "fees payment pay amount invoice",
        r"\bfees?\b|\bpa(?:y|id)|\bprice|invoic|charge|compensation|[$€£]\s?\d",
    ),
    _topic("indemnity", r"indemn|hold harmless", "indemnification indemnify defend hold harmless", r"indemn|harmless"),
    _topic("confidentiality", r"confiden|secre", "confidential information", r"confiden|disclos"),
    _topic("assignment", r"\bassign|transfer", "assignment assign transfer", r"\bassign|transfer"),
    _topic("insurance", r"insur", "insurance coverage", r"insur"),
    _topic("warranties", r"warrant", "representations and warranties warrants", r"warrant"),
    _topic(
        "intellectual property",
        r"intellectual property|\bIP\b|who owns|ownership|copyright|work product|deliverables",
        "intellectual property ownership work product",
        r"intellectual|\bown|\btitle\b|licen[sc]e|work product|work made|copyright",
    ),
    _topic(
        "force majeure",
        r"force majeure|act of god|beyond .{0,20}control",
        "force majeure",
        r"force majeure|beyond .{0,30}control",
    ),
    _topic(
        "dispute resolution",
        r"arbitrat|mediat|dispute|\bvenue\b|\bcourts?\b|jurisdiction|litigat|\bsue\b",
        "disputes arbitration jurisdiction courts",
        r"arbitrat|mediat|dispute|\bcourts?\b|jurisdiction|\bvenue\b",
    ),
    _topic("audit", r"\baudit|inspect", "audit inspect records", r"\baudit|inspect"),
    _topic(
        "data protection",
        r"data protection|personal data|gdpr|privacy",
        "personal data protection",
        r"personal data|privacy|protection",
    ),
    _topic(
        "service levels",
        r"uptime|availability|service levels?|service credits?",
        "service level uptime availability",
        r"uptime|availab|service level|credit",
    ),
    _topic("amendment", r"\bamend|modif", "amendment modified in writing", r"amend|modif"),
    _topic("subcontracting", r"subcontract|sub-contract", "subcontractors", r"subcontract|sub-contract"),
)

_KIND_CUES = (
    (
        ValueKind.DURATION,
        re.compile(r"\bhow (?:long|many (?:days|weeks|months|years|hours))\b|\bnotice period\b", re.IGNORECASE),
    ),
    (
        ValueKind.DATE,
        re.compile(r"\bwhat date\b|\bon which date\b|\bwhich day\b|\bdate of\b|\beffective date\b", re.IGNORECASE),
    ),
    (
        ValueKind.MONEY,
        re.compile(
            r"\bhow much\b(?! (?:notice|time))|\bwhat amount\b|\bwhat percentage\b|\bdeposit\b"
            r"|\bwhat(?:['\u2019]s| is| are) (?:the |his |her |their )?(?:\w+ ){0,2}"
            r"(?:rent|salary|fees?|price|royalt\w+)\b",
            re.IGNORECASE,
        ),
    ),
)


def topic_of(question: str) -> Topic | None:
    """Returns the first topic whose cue the question holds."""
    return next((topic for topic in TOPICS if topic.cue.search(question)), None)


def kind_of(question: str, topic: Topic | None) -> ValueKind | None:
    """Returns the kind of value that the answer must hold: the one that the question asks for, or else that of its
    topic."""
    asked = next((kind for kind, cue in _KIND_CUES if cue.search(question)), None)
    return asked or (topic.kind if topic else None)
