"""Assets of a message: document summaries are prepended as text, images follow as parts (seeds: asset context flow)."""

from collections.abc import Sequence

from proviso_service.context.model import DocumentSummary


def render_documents(documents: Sequence[DocumentSummary], summary_chars: int) -> str:
    """The block that stands before the message, a line for each document whatever its fields hold; "..." only where a
    summary was cut at `summary_chars` code points."""
    lines = ["[Uploaded Documents Context]"]
    lines += [f"- {_line(d.filename)} ({_line(d.type)}): {_cut(_line(d.summary), summary_chars)}" for d in documents]
    return "\n".join(lines)


def _line(text: str) -> str:
    return " ".join(text.split())


def _cut(line: str, max_chars: int) -> str:
    return line if len(line) <= max_chars else line[:max_chars] + "..."
