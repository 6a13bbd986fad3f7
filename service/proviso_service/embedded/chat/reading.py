"""Reads a document or a section of it out, as one quote."""

import re

from proviso_service.embedded.chat.evidence import DocumentPart, Evidence, Passage
from proviso_service.embedded.chat.examples import Intent
from proviso_service.embedded.chat.lexical import one_line
from proviso_service.embedded.chat.rendering import name, place, quote
from proviso_service.embedded.chat.sentences import paragraphs, plain
from proviso_service.embedded.chat.task import Task

_MAX_HEADINGS = 8
_MAX_HEADING_CHARS = 60
_MIN_OPENING_CHARS = 60
_MAX_OPENING = 4
_MAX_OPENING_CHARS = 700
_SENTENCE_END = re.compile(r"[.;:](?=\s)")


def read_out(task: Task, evidence: Evidence) -> str:
    """Empty when the evidence does not hold what is to be read."""
    if task.section:
        return _section(task.section, evidence)
    if not evidence.parts:
        return "\n\n".join(_whole_quote(passage) for passage in evidence.passages[:1])
    part = evidence.parts[-1]
    return _summary(part) if task.intent is Intent.SUMMARY else _text(part)


def _text(part: DocumentPart) -> str:
    quoted = _whole_quote(part)
    if not quoted:
        return f"{name(part.filename)} holds no text."
    if not part.truncated:
        return f"{name(part.filename)} reads:\n\n{quoted}"
    rest = f" It has {part.character_count:,} characters in all." if part.character_count else ""
    return f"{name(part.filename)} begins:\n\n{quoted}\n\nThis is only its beginning.{rest}"


def _summary(part: DocumentPart) -> str:
    found = paragraphs(part.text)
    long = [index for index, one in enumerate(found) if len(one) >= _MIN_OPENING_CHARS]
    first = long[0] if long else 0
    until = next((at for at in range(first + 1, len(found)) if _is_heading(found[at])), len(found))
    opening = found[first : min(until, first + _MAX_OPENING)]
    if not opening:
        return f"{name(part.filename)} holds no text."
    quoted = quote(one_line(" ".join(opening), _MAX_OPENING_CHARS), part.ref)
    text = f"I quote rather than summarise. {name(part.filename)} opens with: {quoted}"
    whole = found[:-1] if part.truncated else found
    headings = [one for one in whole if _is_heading(one) and one not in opening][:_MAX_HEADINGS]
    if headings:
        text += "\n\nAmong its headings: " + ", ".join(quote(one, part.ref) for one in headings)
    return text


def _section(number: str, evidence: Evidence) -> str:
    starts = re.compile(
        rf"^[#*\s]*(?:(?:section|article|clause)\s+)?{re.escape(number)}(?![\w]|\.\d)", re.IGNORECASE | re.MULTILINE
    )
    for passage in evidence.passages:
        if starts.match(passage.heading) or starts.search(passage.text):
            return f"{place(passage)} reads:\n\n{_whole_quote(passage)}"
    return ""


def _whole_quote(passage: Passage) -> str:
    """The text as one quote, its lines as they stand, up to the end of its last sentence where it was cut."""
    text = re.sub(r"\n\s*\n\s*", "\n\n", plain(passage.text)).strip()
    if isinstance(passage, DocumentPart) and passage.truncated:
        ends = [match.end() for match in _SENTENCE_END.finditer(text)]
        text = text[: ends[-1]] if ends and ends[-1] > len(text) // 2 else text
    return quote(text, passage.ref) if any(char.isalnum() for char in text) else ""


def _is_heading(paragraph: str) -> bool:
    return (
        len(paragraph) <= _MAX_HEADING_CHARS
        and not paragraph.endswith((".", ";", ",", ":"))
        and bool(re.match(r"#|\d+(?:\.\d+)*[.)]?\s+[A-Z]|(?:ARTICLE|SECTION|Article|Section)\s", paragraph))
    )
