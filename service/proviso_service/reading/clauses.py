"""Finds the headings of contracts that were typed without markup: "ARTICLE IV", "SECTION 3. Fees", "9.2 Governing Law.
This ...", and lines in capitals.

Recognition is conservative: a heading that is missed costs a little context, but a sentence that is taken for a heading
cuts a clause in two. So a title must be short, start its line or follow a finished sentence, hold only capitalised
words and the little words between them, and end where a title ends. Every pattern is bounded, so that the time is
linear in the text."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

_LITTLE = "of|and|or|the|to|for|in|on|by|with|a|an|at|from|as|upon|under|between|per|not|no|its|other|into|&|-|\u2013"
_CAPITALISED = r"[A-Z][\w'\u2019/&-]{0,30}[,;]?"
_TITLE = rf"{_CAPITALISED}(?:[ ]{{1,12}}(?:{_CAPITALISED}|(?:{_LITTLE})(?!\w))){{0,11}}"
_CAPS_WORD = r"[A-Z'\u2019/&,-]{1,30}(?![\w'\u2019])"
# A wider gap than this is a line break that was lost.
_CAPS_TITLE = rf"(?=[A-Z]{{2}})(?>{_CAPS_WORD}(?:[ ]{{1,3}}{_CAPS_WORD}){{0,11}})"

_LINE_START = r"^[ \t\f]*"
_AFTER_SENTENCE = r"(?<=[.;:\"\u201d)\]])[ \t]+"
_AFTER_CAPITALS = r"(?<=[A-Z])[ \t]+"
_LINE_END = r"[.:]?[ \t]*$"
# A title ends in a mark, or where the first clause under it begins.
_RUN_IN = r"(?:[.:](?=[ \t]+[A-Z0-9(\"\u201c'\u2018\[]|[ \t]*$)|(?=[ \t]+\d{1,2}\.\d{1,2}\.?[ \t]))"

# A plain number needs its full stop or bracket: "2 January" and "10 Business Days" are not headings.
_PLAIN_NUMBER = r"\d{1,2}[.)](?=[ \t])"
_DOTTED_NUMBER = r"\d{1,2}(?:\.\d{1,2}){1,3}\.?(?=[ \t])"
_NUMBERED = re.compile(
    rf"(?:{_LINE_START}(?P<own_line>(?:{_PLAIN_NUMBER}|{_DOTTED_NUMBER})[ \t]+{_TITLE}){_LINE_END})"
    rf"|(?:{_LINE_START}|{_AFTER_SENTENCE})(?P<run_in>(?:{_PLAIN_NUMBER}|{_DOTTED_NUMBER})[ \t]+{_TITLE}){_RUN_IN}"
    rf"|{_AFTER_CAPITALS}(?P<after_part>{_DOTTED_NUMBER}[ \t]+{_TITLE}){_RUN_IN}",
    re.MULTILINE,
)

_ANNEXES = "EXHIBIT|SCHEDULE|ANNEX|ANNEXURE|APPENDIX|ATTACHMENT|ADDENDUM"
_PARTS = f"ARTICLE|PART|{_ANNEXES}"
_LABEL = rf"(?:{_PARTS}|SECTION|CLAUSE)"
_ORDINAL = (
    r"(?:[\"\u201c]?(?:\d{1,2}(?:\.\d{1,2}){0,3}(?:\([a-z]{1,3}\))?|[IVXL]{1,6}|[A-Z](?:-\d{1,2})?)(?!\w)[\"\u201d]?)"
)
_BREAK = r"[ \t.:)\u2013\u2014-]{0,8}(?:\n[ \t]*){0,2}"
_LABELLED = re.compile(
    rf"{_LINE_START}(?P<own_line>(?=[A-Z])(?i:{_LABEL})[ \t]+{_ORDINAL}(?P<title>{_BREAK}{_TITLE})?)"
    rf"(?:{_LINE_END}|(?(title){_RUN_IN}|(?!)))"
    rf"|(?:{_LINE_START}|{_AFTER_SENTENCE})"
    rf"(?P<run_in>{_LABEL}[ \t]+{_ORDINAL}[.:]?[ \t\u2013\u2014-]{{1,4}}{_CAPS_TITLE})(?=[.:]?[ \t]+[A-Z0-9(\"\u201c])",
    re.MULTILINE,
)
_LOOK_BACK = 40
# The text of an annex may go on in the line that it opens. Where that names another annex, it is a list of them.
_ANNEX = re.compile(
    rf"\n[ \t]*\n[ \t\f]*(?P<annex>(?=[A-Z])(?i:{_ANNEXES})[ \t]+{_ORDINAL})"
    rf"(?=[.:]?[ \t\u2013\u2014-]+(?:[A-Z0-9\"\u201c]|\([A-Z]))"
    rf"(?![^\n]{{0,100}}\b(?i:{_ANNEXES})[ \t]+{_ORDINAL}[ \t\u2013\u2014-]+[A-Z0-9\"\u201c(])"
)
_LABELLED_PARTS = re.compile(rf"(?P<label>{_LABEL})[ \t]+(?P<ordinal>{_ORDINAL})", re.IGNORECASE)
_OPENING = re.compile(rf"(?P<title>{_TITLE})(?:[.:]?[ \t]*\Z|{_RUN_IN})")

_Match = re.Match[str]
# A line from its first visible character on.
_LINE = re.compile(r"\S[^\n]*")

# A title that ends like this is a sentence that a line break or an abbreviation has cut.
_UNFINISHED = re.compile(rf"\s(?:{_LITTLE}|[A-Z]|Mr|Mrs|Ms|Dr|St|Inc|Corp|Co|Ltd|No|Nos|vs|Jr|Sr)$")

_MAX_CAPS_LINE_CHARS = 90
_MAX_CAPS_WORDS = 10
_COMPANY = re.compile(
    r"\b(?:INC|LLC|L\.L\.C|CORP|CORPORATION|LTD|LIMITED|L\.P|LP|LLP|PLC|GMBH|S\.A|N\.A|CO|COMPANY)\.?$"
)
_PAGE_NUMBER = re.compile(r"\s\d{1,3}$")
_NOT_HEADINGS = frozenset(
    {"BETWEEN", "BY AND BETWEEN", "BY AND AMONG", "WITNESSETH", "W I T N E S S E T H", "IN WITNESS WHEREOF"}
    | {"CONFIDENTIAL", "EXECUTION COPY", "EXECUTION VERSION", "DRAFT", "REDACTED", "NOW, THEREFORE"}
)


@dataclass(frozen=True, slots=True)
class Title:
    """A title found in a text. `number` is that of its clause or part ("9.2", "IV"), and empty for a line in capitals;
    `part` is set for the larger divisions, such as articles and schedules."""

    start: int
    end: int
    words: str
    number: str = ""
    part: bool = False


def opening_title(content: str) -> tuple[str, str]:
    """Returns the title that a clause opens with, without its number, and the rest of the clause; ("", content) for a
    clause without one."""
    match = _OPENING.match(content)
    if match is None or _UNFINISHED.search(match["title"]):
        return "", content
    return match["title"].rstrip(",;"), content[match.end() :]


def labelled_titles(text: str) -> Iterator[Title]:
    """Yields titles such as "ARTICLE IV", "Exhibit A", "SECTION 3. Fees"."""
    for match in _LABELLED.finditer(text):
        yield from _labelled(_title(text, match, "own_line", "run_in"))


def annexes(text: str) -> Iterator[Title]:
    """Yields the labels of annexes that have no title, before the text that goes on in their line: "SCHEDULE A  1. The
    Supplier delivers"."""
    for match in _ANNEX.finditer(text):
        before = text[max(0, match.start() - _LOOK_BACK) : match.start()].rstrip()
        # A blank line may be a page break inside a sentence that refers to the annex.
        if not before.endswith(",") and not _UNFINISHED.search(before):
            yield from _labelled(_title(text, match, "annex"))


def _labelled(title: Title) -> Iterator[Title]:
    label = _LABELLED_PARTS.match(title.words)
    if label and not _UNFINISHED.search(title.words, label.end()):
        ordinal = label["ordinal"].strip('"\u201c\u201d')
        words = f"{label['label']} {ordinal}{title.words[label.end() :]}"
        yield replace(title, words=words, number=ordinal, part=label["label"].upper() in _PARTS.split("|"))


def numbered_titles(text: str) -> Iterator[Title]:
    """Yields titles such as "9. Governing Law", on a line of their own or at the start of the clause."""
    for match in _NUMBERED.finditer(text):
        title = _title(text, match, "own_line", "run_in", "after_part")
        if not _UNFINISHED.search(title.words):
            number = title.words.split()[0].rstrip(".)")
            yield Title(title.start, title.end, title.words, number)


def capital_titles(text: str) -> Iterator[Title]:
    """Yields lines in capitals that stand after a blank line, but not the lines of a paragraph in capitals."""
    for before, line, after in _neighbours(_LINE.finditer(text)):
        words = line[0].rstrip().rstrip(".:").rstrip()
        goes_on = after and _is_next_line(text, line, after) and _in_capitals(after[0].rstrip())
        if _is_capital_title(words) and not goes_on and not _is_next_line(text, before, line):
            yield Title(line.start(), line.start() + len(words), " ".join(words.split()))


def _neighbours(lines: Iterator[_Match]) -> Iterator[tuple[_Match | None, _Match, _Match | None]]:
    """Yields each line with the line before and the line after it."""
    before, line = None, next(lines, None)
    while line:
        after = next(lines, None)
        yield before, line, after
        before, line = line, after


def _is_next_line(text: str, line: _Match | None, following: _Match) -> bool:
    return line is not None and text.count("\n", line.end(), following.start()) == 1


def _title(text: str, match: re.Match[str], *groups: str) -> Title:
    start, end = next(match.span(group) for group in groups if match[group])
    return Title(start, end, " ".join(text[start:end].split()).rstrip(",;:.- "))


def _is_capital_title(words: str) -> bool:
    return (
        4 <= len(words) <= _MAX_CAPS_LINE_CHARS
        and words[0].isalpha()
        and _in_capitals(words)
        and len(words.split()) <= _MAX_CAPS_WORDS
        and not words.endswith((",", ";", "-"))
        and not any(char in words for char in "_=*@|<>[]")
        and words not in _NOT_HEADINGS
        and not _COMPANY.search(words)
        and not _PAGE_NUMBER.search(words)
    )


def _in_capitals(line: str) -> bool:
    return line.isupper() and sum(char.isalpha() for char in line) * 2 > len(line)
