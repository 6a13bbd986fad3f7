"""Where sentences of legal prose end."""

import re
from collections.abc import Iterator

# An end: a full stop with its closing quotes, then space and what can begin a sentence; or the end of a line after a
# semicolon or colon, as between the items of an enumeration.
_END = re.compile(r"[.!?][\"'\u201d\u2019)\]*_]{0,4}\s+(?=[A-Z0-9\"\u201c'\u2018(\[*_#<-])|[;:][ \t]*\n\s*")
_LAST_WORD = re.compile(r"[\w.&'\u2019-]{1,20}$")
_CLAUSE_NUMBER = re.compile(r"\d{1,3}(?:\.\d{1,3}){0,3}|[ivxIVX]{1,5}|[a-zA-Z]")
_ABBREVIATION = re.compile(
    "(?i:inc|corp|co|ltd|llc|nos?|secs?|arts?|cl|para|mrs?|ms|dr|prof|st|vs?|[js]r|messrs|approx|est|dept|al|ex|fig|vol|ed"
    "|pp?|ch|cf|viz|esq|bros|hon|rev|jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec)"
    r"|[A-Z](?:\.[A-Z])*"
)
_LOOK_BACK = 24


def sentence_ends(text: str, start: int, end: int) -> Iterator[int]:
    """Positions in [start, end) after which a new sentence begins, white space between them included before; then
    `end`."""
    for match in _END.finditer(text, start, end):
        if match.end() < end and not _is_abbreviation(text, start, match.start()):
            yield match.end()
    yield end


def _is_abbreviation(text: str, start: int, stop: int) -> bool:
    """Whether the full stop at `stop` belongs to the word before it: "Inc.", "U.S.", an initial, or a clause's
    number."""
    if text[stop] != ".":
        return False
    word = _LAST_WORD.search(text, max(start, stop - _LOOK_BACK), stop)
    if word is None:
        return False
    if _ABBREVIATION.fullmatch(word[0]):
        return True
    return bool(_CLAUSE_NUMBER.fullmatch(word[0])) and _opens_a_line(text, start, word.start())


def _opens_a_line(text: str, start: int, position: int) -> bool:
    before = text[max(start, position - _LOOK_BACK) : position].rstrip(" \t")
    return not before or before[-1] in "\n.;:"
