"""The `[CONTEXT]` marker: the matter and document on view, written at the start of a user message.

    [CONTEXT] The user has selected matter "Smith v. Jones" (matter_id: 25e70284-...).
    The user is currently viewing document "Service Agreement.pdf" (document_id: f47ac10b-...).

Ids are read from the end of each line, never from inside the quoted name. What stands anywhere else in a message, in a
document or in the output of a tool is plain text and no marker.
"""

import re
from dataclasses import dataclass

from proviso_service.context.model import MatterContext

# No two repetitions side by side take the same characters: a message cannot make matching slow.
_MATTER_LINE = re.compile(r"\[CONTEXT\](?P<body>[^\n]*)\(matter_id:(?P<id>[^()\n]*+)\)\.?[ \t]*+(?:\n|\Z)")
_DOCUMENT_LINE = re.compile(
    r"The user is currently viewing document\b(?P<body>[^\n]*)"
    r"\(document_id:(?P<id>[^()\n]*+)\)\.?[ \t]*+(?:\n|\Z)"
)
_QUOTED = re.compile(r'"(?P<name>.*)"')
_ESCAPE = re.compile(r"\\(.)")
_UNPRINTABLE = re.compile(r"[\x00-\x1f\x7f\u2028\u2029]+")


@dataclass(frozen=True, slots=True)
class MarkedMessage:
    """A user message without its marker, and the context that the marker holds; None where it has no marker."""

    context: MatterContext | None
    text: str


def parse_marker(message: str) -> MarkedMessage:
    """Splits the marker off a user message. A message that does not begin with a well-formed marker is all text.

    >>> parse_marker('[CONTEXT] The user has selected matter "A" (matter_id: 1).\\nHello').text
    'Hello'
    """
    message = message.replace("\r\n", "\n")
    start = len(message) - len(message.lstrip())
    matter = _MATTER_LINE.match(message, start)
    if matter is None:
        return MarkedMessage(None, message)
    document = _DOCUMENT_LINE.match(message, matter.end())
    end = document.end() if document else matter.end()
    return MarkedMessage(
        MatterContext(
            matter_id=matter["id"].strip(" \t"),
            matter_name=_name(matter["body"]),
            document_id=document["id"].strip(" \t") if document else "",
            document_name=_name(document["body"]) if document else "",
        ),
        message[end:].lstrip("\n"),
    )


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


def _name(body: str) -> str:
    quoted = _QUOTED.search(body)
    return _ESCAPE.sub(r"\1", quoted["name"]) if quoted else ""


def _escape(name: str) -> str:
    return _UNPRINTABLE.sub(" ", name).replace("\\", "\\\\").replace('"', '\\"')
