"""The `[CONTEXT]` marker: the matter and document on view, written at the start of a user message.

    [CONTEXT] The user has selected matter "Smith v. Jones" (matter_id: 25e70284-...).
    The user is currently viewing document "Service Agreement.pdf" (document_id: f47ac10b-...).

Front ends write it in slightly different forms, so whatever can be read with certainty is read: other capitals, leading
blanks, an indented second line, both sentences or the person's own words on one line, a line break in a name. Anything
else that begins with `[CONTEXT]`, with such a tag in another form (`**[CONTEXT]**`, `[Kontext]`), or with a line that
holds an id of a matter or document is not read at all, and `MarkerFault` says why.

A name may hold any text, also what looks like an id. An id is therefore read only where the marker has one reading: the
name before it ends at its first quotation mark that is not escaped, or it is the only id of its line at which the name
can end; and no other id follows. What stands anywhere else, in a document or in the output of a tool, is plain text.
"""

import re
from dataclasses import dataclass
from enum import StrEnum

from proviso_service.context.model import MatterContext

MAX_NAME_CHARS = 512

# No two repetitions side by side take the same characters: a message cannot make matching slow.
_OPENING = re.compile(r"[\s\ufeff\u200b-\u200f\u2060]*+\[context\]:?+\s*+", re.IGNORECASE)
# A tag in another form, or a first line with an id, tells that a marker was meant. It is asked about, not read.
_MEANT = re.compile(
    r"[\W\d_]*+[ck]onte[xk]t[eo]?\W{0,3}[\]\uff3d\u3011]"
    r"|\s*+[^\n\r]*?(?:matter|document)[_-]?id\W{1,5}[0-9a-f]{8}-[0-9a-f]{4}-",
    re.IGNORECASE,
)
_LINE = re.compile(r"[^\n\r]*+")
_BLANKS = re.compile(r"\s*+")
_AFTER_SENTENCE = re.compile(r"[ \t]*+[\n\r]*+")
_ESCAPE = re.compile(r"\\(.)")
_UNPRINTABLE = re.compile(r"[\x00-\x1f\x7f\u2028\u2029]+")


class MarkerFault(StrEnum):
    """Why the marker of a message cannot be read with certainty."""

    NO_MATTER = "no_matter"
    SEVERAL_MATTERS = "several_matters"
    DOCUMENT = "document"


@dataclass(frozen=True, slots=True)
class MarkedMessage:
    """A user message without its marker, and the context that the marker holds; None where it has no marker. A message
    whose marker has a `fault` is all text."""

    context: MatterContext | None
    text: str
    fault: MarkerFault | None = None


@dataclass(frozen=True, slots=True)
class _Sentence:
    """A sentence of the marker. It ends before the offset `end` of the message. `escaped_name` are the offsets of its
    name with the marks around it, where that is on one line and properly escaped; else it is empty."""

    id: str
    name: str
    end: int
    escaped_name: range


class _Form:
    """How a sentence of the marker is written: a phrase, a name in quotation marks, an id in brackets."""

    def __init__(self, phrase: str, key: str) -> None:
        id_ = rf"\({key}[ \t]*+:[ \t]*+(?P<id>[^()\s,:][^()\n\r,:]*+)\)\.?"
        self._phrase = re.compile(phrase.replace(" ", r"\s++") + r"\b\s*+", re.IGNORECASE)
        self._escaped = re.compile(rf'"(?P<name>(?:[^"\\]|\\[\s\S])*+)"[ \t]*+{id_}(?=\s|\Z)', re.IGNORECASE)
        self._id = re.compile(id_, re.IGNORECASE)

    def begins(self, message: str, start: int) -> bool:
        return self._phrase.match(message, start) is not None

    def read(self, message: str, start: int) -> _Sentence | None:
        """The sentence at `start`; None where it has more than one reading, or none."""
        phrase = self._phrase.match(message, start)
        escaped = self._escaped.match(message, phrase.end()) if phrase else None
        if escaped is not None:
            name = range(*escaped.span("name"))
            is_on_one_line = _end_of_line(message, name.start) >= name.stop
            with_marks = range(name.start - 1, name.stop + 1) if is_on_one_line else range(0)
            return _Sentence(escaped["id"].strip(), _name(escaped["name"]), escaped.end(), with_marks)
        ids = self.ids(message, start, _end_of_line(message, start))
        # After an id that is followed by a quotation mark the name goes on.
        ends = [found for found in ids if not message.startswith('"', found.end())]
        if len(ends) != 1:
            return None
        [end] = ends
        quoted = message[start : end.start()].rpartition('"')[0].partition('"')[2]
        return _Sentence(end["id"].strip(), _name(quoted), end.end(), range(0))

    def ids(self, message: str, start: int, end: int) -> list[re.Match[str]]:
        """All ids of this kind between the offsets."""
        return list(self._id.finditer(message, start, end))


_MATTER = _Form("the user has selected matter", "matter_id")
_DOCUMENT = _Form("the user is currently viewing document", "document_id")


def parse_marker(message: str) -> MarkedMessage:
    """Splits the marker off a user message. A message that does not begin with `[CONTEXT]` is all text.

    >>> parse_marker('[CONTEXT] The user has selected matter "A" (matter_id: 1).\\nHello').text
    'Hello'
    >>> parse_marker("[CONTEXT] Hello").fault
    <MarkerFault.NO_MATTER: 'no_matter'>
    """
    message = message.replace("\r\n", "\n")
    opening = _OPENING.match(message)
    if opening is None:
        was_meant = _MEANT.match(message)
        return MarkedMessage(None, message, MarkerFault.NO_MATTER if was_meant else None)
    matter = _MATTER.read(message, opening.end())
    if matter is None:
        several = len(_MATTER.ids(message, opening.end(), len(message))) > 1
        return MarkedMessage(None, message, MarkerFault.SEVERAL_MATTERS if several else MarkerFault.NO_MATTER)
    document, end = None, matter.end
    following = _skip(_BLANKS, message, end)
    if _DOCUMENT.begins(message, following):
        document = _DOCUMENT.read(message, following)
        if document is None:
            return MarkedMessage(None, message, MarkerFault.DOCUMENT)
        end = document.end
    fault = _fault_after(message, matter, document)
    if fault is not None:
        return MarkedMessage(None, message, fault)
    context = MatterContext(matter.id, matter.name, document.id if document else "", document.name if document else "")
    return MarkedMessage(context, message[_skip(_AFTER_SENTENCE, message, end) :])


def _fault_after(message: str, matter: _Sentence, document: _Sentence | None) -> MarkerFault | None:
    """Why what follows the marker makes its reading uncertain. A second id may be that of a second marker, or it is the
    true one, and the one that was read belongs to the name."""
    in_name = document.escaped_name if document else range(0)
    if any(found.start() not in in_name for found in _MATTER.ids(message, matter.end, len(message))):
        return MarkerFault.SEVERAL_MATTERS
    end = document.end if document else matter.end
    text = _skip(_BLANKS, message, end)
    if _OPENING.match(message, text):
        return MarkerFault.SEVERAL_MATTERS
    searched_to = len(message) if document else _end_of_line(message, text)
    return MarkerFault.DOCUMENT if _DOCUMENT.ids(message, end, searched_to) else None


def render_marker(context: MatterContext) -> str:
    """The marker in its canonical form. `parse_marker` reads the same context back from it."""
    lines = [
        f'[CONTEXT] The user has selected matter "{_escape(context.matter_name)}" (matter_id: {context.matter_id}).'
    ]
    if context.document_id:
        lines.append(
            f'The user is currently viewing document "{_escape(context.document_name)}" '
            f"(document_id: {context.document_id})."
        )
    return "\n".join(lines)


def _name(written: str) -> str:
    return _ESCAPE.sub(r"\1", _UNPRINTABLE.sub(" ", written))[:MAX_NAME_CHARS]


def _escape(name: str) -> str:
    return _UNPRINTABLE.sub(" ", name).replace("\\", "\\\\").replace('"', '\\"')


def _skip(pattern: re.Pattern[str], message: str, start: int) -> int:
    found = pattern.match(message, start)
    return found.end() if found else start


def _end_of_line(message: str, start: int) -> int:
    return _skip(_LINE, message, start)
