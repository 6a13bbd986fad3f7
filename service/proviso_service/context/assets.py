"""Assets of a message: document summaries are prepended as text, images follow as parts (seeds: asset context flow)."""

from collections.abc import Sequence

from proviso_service.context.model import DocumentSummary


def render_documents(documents: Sequence[DocumentSummary], summary_chars: int) -> str:
    """The block that stands before the message; "..." only where a summary was cut at `summary_chars` code points."""
    lines = ["[Uploaded Documents Context]"]
    lines += [f"- {d.filename} ({d.type}): {_cut(d.summary, summary_chars)}" for d in documents]
    return "\n".join(lines)


def _cut(summary: str, max_chars: int) -> str:
    line = " ".join(summary.split())
    return line if len(line) <= max_chars else line[:max_chars] + "..."
