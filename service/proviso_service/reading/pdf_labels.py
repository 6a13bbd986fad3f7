"""Numbers, letters and bullets that clauses and list items begin with."""

import re

_NUMBER = r"\(?(?:\d{1,3}|[ivxlc]{1,6}|[IVXLC]{1,6}|[a-zA-Z]{1,2})[.)]"
_DOTTED = r"\d{1,2}(?:\.\d{1,3}){1,4}[.)]?"
_BULLET = "[\u2022\u25cf\u25aa\u25e6\u25cb\u25a0\u00b7\uf0b7*\u2013\u2014-]"
_NAMED = (
    r"(?i:article|section|clause|exhibit|schedule|annex|appendix|attachment)\s+"
    r"(?:\d{1,3}(?:\.\d{1,3})*|[IVXLC]{1,6}|[A-Z])[.:)]?"
)
_LABEL = re.compile(rf"(?:{_NUMBER}|{_DOTTED}|{_BULLET}|{_NAMED})")
_OPENING = re.compile(rf"(?:{_NUMBER}|{_DOTTED}|{_BULLET})(?=\s|$)|{_NAMED}(?=[\s.:]|$)")
# The space was lost, or was never more than a gap.
_GLUED = re.compile(r"(?:\d{1,2}\.|\d{1,2}(?:\.\d{1,3}){1,3}\.?)(?=[A-Z\u201c\"])|[A-Z]\.(?=[A-Z\u201c\"][a-z])")


def is_label(text: str) -> bool:
    """Whether there is nothing but a label."""
    return _LABEL.fullmatch(text.strip()) is not None


def label_of(text: str) -> str:
    """The label that a line opens with, "" without one."""
    match = _OPENING.match(text)
    return match[0] if match else ""


def set_off(text: str) -> str:
    """The line with a space between its label and what follows."""
    match = _GLUED.match(text)
    return f"{match[0]} {text[match.end() :]}" if match else text
