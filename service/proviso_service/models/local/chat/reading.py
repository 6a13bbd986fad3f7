"""Reads a document or a section of it out: paragraph by paragraph, each a quote."""

import re

from proviso_service.models.local.chat.evidence import DocumentPart, Evidence, Passage
from proviso_service.models.local.chat.examples import Intent
from proviso_service.models.local.chat.rendering import name, place, quote
from proviso_service.models.local.chat.sentences import excerpt, paragraphs
from proviso_service.models.local.chat.task import Task

_MAX_HEADINGS = 8
_MAX_HEADING_CHARS = 60
_MIN_OPENING_CHARS = 60
_MAX_OPENING = 2


def read_out(task: Task, evidence: Evidence) -> str:
    """Empty when the evidence does not hold what is to be read."""
    if task.section:
        return _section(task.section, evidence)
    if not evidence.parts:
        return "\n\n".join(_paragraph_quotes(passage) for passage in evidence.passages[:1])
    part = evidence.parts[-1]
    return _summary(part) if task.intent is Intent.SUMMARY else _text(part)


def _text(part: DocumentPart) -> str:
    quoted = _paragraph_quotes(part)
    if not quoted:
        return f"{name(part.filename)} holds no text."
    if not part.truncated:
        return f"{name(part.filename)} reads:\n\n{quoted}"
    rest = f" It has {part.character_count:,} characters in all." if part.character_count else ""
    return f"{name(part.filename)} begins:\n\n{quoted}\n\nThis is only its beginning.{rest}"


def _summary(part: DocumentPart) -> str:
    found = paragraphs(part.text)
    opening = [one for one in found if len(one) >= _MIN_OPENING_CHARS][:_MAX_OPENING] or found[:1]
    if not opening:
        return f"{name(part.filename)} holds no text."
    quotes = " ".join(quote(excerpt(one), part.ref) for one in opening)
    text = f"I quote rather than summarise. {name(part.filename)} opens with: {quotes}"
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
            return f"{place(passage)} reads:\n\n{_paragraph_quotes(passage)}"
    return ""


def _paragraph_quotes(passage: Passage) -> str:
    return "\n\n".join(quote(one, passage.ref) for one in paragraphs(passage.text))


def _is_heading(paragraph: str) -> bool:
    return (
        len(paragraph) <= _MAX_HEADING_CHARS
        and not paragraph.endswith((".", ";", ",", ":"))
        and bool(re.match(r"#|\d+(?:\.\d+)*[.)]?\s+[A-Z]|(?:ARTICLE|SECTION|Article|Section)\s", paragraph))
    )
