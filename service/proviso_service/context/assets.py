"""Assets of a message: document summaries are prepended as text, images follow as parts (seeds: asset context flow)."""

from collections.abc import Sequence
from typing import Any

from proviso_service.context.model import AssetUse, DocumentSummary

IMAGE_NOT_SEEN = "the embedded model cannot see images"
IMAGE_NOT_LOADED_YET = "images are loaded when the message is sent"
NOT_SELECTED = "it is not among the selected assets"
DUPLICATE = "it is the same as "
"""How the note of a repeated asset begins."""


def document_line(document: DocumentSummary, summary_chars: int) -> str:
    """`- filename (type): summary` in one line whatever the fields hold; "..." only where the summary was cut at
    `summary_chars` code points."""
    filename, kind, summary = (_line(text) for text in (document.filename, document.type, document.summary))
    return f"- {filename} ({kind}): {_cut(summary, summary_chars)}"


def render_documents(lines: Sequence[str]) -> str:
    """The block that stands before the message, of the lines of its documents."""
    return "\n".join(["[Uploaded Documents Context]", *lines])


def image_part(number: int, image: AssetUse) -> dict[str, Any] | None:
    """What follows the message of its image `number`, from 1: the image, named by the SHA-256 of its bytes; its URL for
    the embedded model, which loads none; or why it is not there, so that the model can count. None in a preview."""
    if image.included:
        return {"type": "image", "media_type": image.media_type, "sha256": image.content_sha256}
    if image.note == IMAGE_NOT_SEEN:
        return {"type": "image_url", "image_url": {"url": image.name}}
    if image.note == IMAGE_NOT_LOADED_YET:
        return None
    is_left_out = image.note == NOT_SELECTED or image.note.startswith(DUPLICATE)
    what = "is left out" if is_left_out else "could not be loaded"
    return {"type": "text", "text": f"[Image {number} {what}: {image.note}]"}


def _line(text: str) -> str:
    return " ".join(text.split())


def _cut(line: str, max_chars: int) -> str:
    return line if len(line) <= max_chars else line[:max_chars] + "..."
