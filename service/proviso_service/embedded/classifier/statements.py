"""Reads statements: which kind of statement it is, whose name it holds, and whether it denies what it says."""

import re
from dataclasses import dataclass
from enum import Enum


class Form(Enum):
    """The kinds of statements: most are about the content of a clause, some about how a clause is made."""

    CONTENT = "content"
    CALLED = "called"
    CLAUSE = "clause"
    OBLIGATION = "obligation"
    RIGHT = "right"
    UNILATERAL = "unilateral"


_MAX_FORM_CHARS = 600
"""A statement that is longer is about content, whatever it begins with."""

_NAME = r"[\"\u201c\u2018']?(?P<name>[^\"\u201c\u201d]+?)[\"\u201d\u2019']?"
_NAME_ALONE = r"[\"\u201c\u2018']?(?P<name>(?:(?! to )[^\"\u201c\u201d])+?)[\"\u201d\u2019']?"
_CLAUSE = r"(?:clause|section|provision)"
_START = rf"(?:this|it) (?:is )?(?:an? |the )?(?:{_CLAUSE} )?(?:(?:that|which) )?"
_PARTY = r"(?:an? |one |any |some |either |the |one of the )?part(?:y|ies)"
_DUTY = r"(?:obligations?|dut(?:y|ies))(?: or (?:an? )?dut(?:y|ies))?"
_RIGHT = r"(?:rights?|entitlements?)(?: or (?:an? )?entitlements?)?"
_FORMS = tuple(
    (form, re.compile(rf"\s*{pattern}\s*[.!]?\s*", re.IGNORECASE))
    for form, pattern in (
        (Form.CALLED, rf"(?:this is )?(?:an? |the )?{_CLAUSE} (?:called|named|titled|headed) {_NAME}"),
        (Form.CALLED, rf"this {_CLAUSE} is (?:called|named|titled|headed) {_NAME}"),
        (
            Form.CLAUSE,
            r"this is an? (?:contractual )?(?:clause|provision)(?: of a contract)?(?:: a provision that .*)?",
        ),
        (Form.UNILATERAL, r"(?:this is )?an? unilateral (?:clause|provision)(?:: it binds or benefits only one .*)?"),
        (Form.UNILATERAL, rf"{_START}(?:binds|benefits|binds or benefits) only one (?:side|party|of the parties)"),
        (Form.OBLIGATION, rf"{_START}imposes? (?:an? )?{_DUTY}(?: (?:up)?on {_PARTY})?"),
        (Form.OBLIGATION, rf"{_START}imposes? (?:an? )?{_DUTY} (?:up)?on {_NAME}"),
        (Form.OBLIGATION, rf"{_START}(?:obligat(?:es|ing)|oblig(?:es|ing)|binds?) {_NAME_ALONE}"),
        (Form.OBLIGATION, r"(?:this is )?an? (?:obligation|duty)"),
        (Form.RIGHT, rf"{_START}(?:grants?|gives?) (?:an? )?{_RIGHT}(?: to {_PARTY})?"),
        (Form.RIGHT, rf"{_START}(?:grants?|gives?) (?:an? )?{_RIGHT} to {_NAME}"),
        (Form.RIGHT, rf"{_START}(?:entitles|entitling) {_NAME_ALONE}"),
        (Form.RIGHT, r"(?:this is )?an? (?:right|entitlement)"),
    )
)
_BURDEN = tuple(
    (form, re.compile(rf"\s*{_START}{verb} (?!{_PARTY}\b){_NAME_ALONE} to .+", re.IGNORECASE | re.DOTALL))
    for form, verb in (
        (Form.OBLIGATION, r"(?:obligat(?:es|ing)|oblig(?:es|ing)|requir(?:es|ing)|forbids?|prohibits?)"),
        (Form.RIGHT, r"(?:entitl(?:es|ing)|allow(?:s|ing)|permit(?:s|ting))"),
    )
)
_DENIED = re.compile(
    rf"\s*(?P<subject>this {_CLAUSE}|it|this) (?:is not|isn't|(?P<does>does not|doesn't)) (?P<rest>.+)",
    re.IGNORECASE | re.DOTALL,
)
_AGREEMENT = r"(?:agreement|contract|lease|licen[cs]e|deed|deal|document|addendum|order)"
_NO_ASSERTION = re.compile(
    r"\s*(?:(?:who|whom|whose|which|why|how|whether|is|are|was|does|do|did|can|may|must|shall|will|has|have)\b"
    r"|(?:what|when|where)\b(?!.*,)"
    rf"|(?:this|it|these|those)\b(?! {_AGREEMENT})|(?:[\w-]+ ){{0,3}}(?:clause|section|provision)s?\b(?! \d))",
    re.IGNORECASE,
)
_KIND = re.compile(
    rf"\s*this is an? (?:{_CLAUSE} about (?P<about>[^.:;?]{{3,60}})|(?P<kind>[^.:;?]{{3,60}}?) {_CLAUSE})\s*(?:[.:]|$)",
    re.IGNORECASE,
)
_VERB = re.compile(
    r"\b(?:shall|will|may(?! \d)|must|can|cannot|should|would|is|are|was|were|has|have|does|do|\w+n['\u2019]t)\b"
    r"|\w,? (?:(?:agree|survive|require|govern|renew|expire|remain|continue|include|exclude|bear|own|provide|receive"
    r"|retain|become|supersede|bind|prohibit|forbid|allow)s?|apply|applies|indemnify|indemnifies|permits|pays"
    r"|keeps|gets|takes|gives|makes|needs|ends|begins|starts|terminates|lasts|warrants|guarantees|assigns|waives|forfeits"
    r"|reimburses|delivers|owes)\b"
    r"|^(?:if|after|unless|once|when|where)\b.*,",
    re.IGNORECASE,
)
_LEAD = re.compile(r"\s*[^\W_].{8,}?[.:?!](?=\s+\S)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class UnderstoodStatement:
    """A statement. `asked` is the statement itself, or what it denies. `name` is that of a party or of a heading where
    the form has one. A statement about content may say what a party must or may do; `burden` then tells which, and
    `name` is the party's."""

    asked: str
    form: Form
    name: str = ""
    is_denied: bool = False
    burden: Form | None = None


def understand(text: str) -> UnderstoodStatement:
    """Reads a statement. "This clause does not ..." asks for all clauses but those that do."""
    if len(text) > _MAX_FORM_CHARS:
        return UnderstoodStatement(text, Form.CONTENT)
    denied = _DENIED.fullmatch(text)
    verb = "" if denied and denied["does"] else "is "
    asked = f"{denied['subject']} {verb}{denied['rest']}" if denied else text
    for form, pattern in _FORMS:
        match = pattern.fullmatch(asked)
        if match:
            return UnderstoodStatement(asked, form, (match.groupdict().get("name") or "").strip(), bool(denied))
    for form, pattern in _BURDEN:
        match = pattern.fullmatch(asked)
        if match:
            return UnderstoodStatement(asked, Form.CONTENT, match["name"].strip(), bool(denied), form)
    return UnderstoodStatement(asked, Form.CONTENT, is_denied=bool(denied))


def asserts(text: str) -> bool:
    """Tells whether a statement says something that a contract can contradict ("The buyer may cancel at any time"). A
    question does not, nor does what names or describes a clause. It is told by the first words and by usual verbs."""
    return "?" not in text and not _NO_ASSERTION.match(text) and _VERB.search(text) is not None


def kind_of(text: str) -> str:
    """Returns the kind of clause that a statement names ("This is a termination clause"); empty where it names none."""
    named = _KIND.match(text)
    return (named["kind"] or named["about"]).strip() if named else ""


def wordings(statement: UnderstoodStatement) -> tuple[str, ...]:
    """Returns the texts by which a statement about content is judged: the statement, and its first sentence or the
    part before a colon where there is more, because that names what the rest explains."""
    lead = _LEAD.match(statement.asked)
    return (statement.asked, lead[0].strip()) if lead else (statement.asked,)
