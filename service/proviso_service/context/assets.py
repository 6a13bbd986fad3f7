"""The assets of a message: which documents and images the model is given, and how they are written into the message.

Summaries of documents stand as text before the message, and images follow it.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import structlog
from pydantic import Field

from proviso_service.concurrency import with_timeout
from proviso_service.context.model import AssetKind, AssetUse, DocumentSummary, image_name
from proviso_service.context.selection.request_items import estimated_tokens
from proviso_service.context.selection.search import TextSimilarity
from proviso_service.settings import Seconds, Section

IMAGE_NOT_SEEN = "the embedded model cannot see images"
IMAGE_NOT_LOADED_YET = "images are loaded when the message is sent"
NOT_SELECTED = "it is not among the selected assets"
DUPLICATE = "it is the same as "
"""The note on a repeated asset begins with these words."""


def document_line(document: DocumentSummary, summary_chars: int) -> str:
    """The line `- filename (type): summary` about a document. It is one line whatever the fields hold; the summary ends
    in "..." only where it was cut at `summary_chars` code points."""
    filename, kind, summary = (_line(text) for text in (document.filename, document.type, document.summary))
    return f"- {filename} ({kind}): {_cut(summary, summary_chars)}"


def render_documents(lines: Sequence[str]) -> str:
    """The block of text that stands before the message and holds the lines of its documents."""
    return "\n".join(["[Uploaded Documents Context]", *lines])


def image_part(number: int, image: AssetUse) -> dict[str, Any] | None:
    """The part of the payload that stands for the message's image `number`, counted from 1; None in a preview.

    An image that was loaded is named by the SHA-256 of its bytes. For the embedded model, which loads no images, the
    part is the image's URL. For any other image it is a text that says why the image is missing, so that the model
    counts the images correctly."""
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


_log = structlog.get_logger(__name__)


class AssetConfig(Section):
    """How much of a message's document summaries the chat model is given."""

    summary_chars: int = Field(200, ge=1, description="Most characters of one summary.")
    documents_chars: int = Field(4_000, ge=0, description="Most characters of all summaries of a message.")
    documents_tokens: int = Field(1_000, ge=0, description="Most tokens of all summaries of a message, as estimated.")
    documents_time_limit_s: Seconds = Field(
        2.0, description="Time limit of comparing summaries that are over those limits with the message."
    )


async def choose_documents(
    documents: Sequence[DocumentSummary],
    message: str,
    selected: Sequence[str],
    similarity: TextSimilarity,
    settings: AssetConfig,
) -> tuple[AssetUse, ...]:
    """What happens to each document, in order: it is included with its line, or a note says why not.

    `selected` holds file names, and names of images too; all documents are included where it is empty. Where the lines
    together are over the limit, the documents that are closest to the message are kept, and of equally close ones the
    earlier. Where the comparison fails or takes too long, the earlier documents are kept. No exception of the
    comparison is raised."""
    lines = {place: document_line(document, settings.summary_chars) for place, document in enumerate(documents)}
    notes = _unwanted_documents(documents, selected)
    wanted = {place: line for place, line in lines.items() if place not in notes}
    notes |= await _over_budget(wanted, message, similarity, settings)
    return tuple(_use(document, lines[place], notes.get(place, "")) for place, document in enumerate(documents))


def choose_images(urls: Sequence[str], selected: Sequence[str]) -> tuple[str, ...]:
    """For each image the reason not to load it; empty where it is to be loaded. `selected` holds URLs or names of
    images, and names of documents too; all images are loaded where it is empty. Images are numbered from 1, including
    those that are not loaded."""
    first = {url: number for number, url in reversed(list(enumerate(urls, 1)))}
    return tuple(_image_note(url, number, first[url], selected) for number, url in enumerate(urls, 1))


def _image_note(url: str, number: int, first: int, selected: Sequence[str]) -> str:
    if selected and url not in selected and image_name(url) not in selected:
        return NOT_SELECTED
    return "" if number == first else f"{DUPLICATE}image {first}"


def _unwanted_documents(documents: Sequence[DocumentSummary], selected: Sequence[str]) -> dict[int, str]:
    """Notes on documents that are not selected or repeated, by the document's position."""
    notes: dict[int, str] = {}
    seen: set[DocumentSummary] = set()
    for place, document in enumerate(documents):
        if selected and document.filename not in selected:
            notes[place] = NOT_SELECTED
        elif document in seen:
            notes[place] = f"{DUPLICATE}an earlier one"
        seen.add(document)
    return notes


async def _over_budget(
    lines: Mapping[int, str], message: str, similarity: TextSimilarity, settings: AssetConfig
) -> dict[int, str]:
    """Notes on the documents for which there is no room, by the document's position."""
    limit = f"{settings.documents_chars:,} characters or {settings.documents_tokens:,} tokens"
    too_long = [place for place, line in lines.items() if not _fit([line], settings)]
    notes = dict.fromkeys(too_long, f"its line alone has more than {limit}")
    fitting = {place: line for place, line in lines.items() if place not in notes}
    if _fit(fitting.values(), settings):
        return notes
    ranked = await _closest_first(fitting, message, similarity, settings)
    if ranked is None:
        kept = "they could not be compared with the message, and the earlier ones were kept"
    else:
        kept = "those closest to the message were kept"
    left_out = _without_room(fitting, ranked or list(fitting), settings)
    return notes | dict.fromkeys(left_out, f"the summaries together have more than {limit}; {kept}")


async def _closest_first(
    lines: Mapping[int, str], message: str, similarity: TextSimilarity, settings: AssetConfig
) -> list[int] | None:
    """Positions of documents, the one closest to the message first; None where the comparison failed."""
    try:
        scores = await with_timeout(settings.documents_time_limit_s, similarity.scores(message, list(lines.values())))
    except Exception as error:  # whatever it is, the turn goes on with the earlier ones
        _log.warning("document_search_failed", error=type(error).__name__, documents=len(lines))
        return None
    by_place = dict(zip(lines, scores.tolist(), strict=True))
    return sorted(lines, key=lambda place: -by_place[place])


def _without_room(lines: Mapping[int, str], ranked: Sequence[int], settings: AssetConfig) -> list[int]:
    """Positions of the documents that do not fit beside those that rank before them. A short one may fit after a long
    one that did not."""
    kept: list[int] = []
    for place in ranked:
        if _fit([lines[one] for one in (*kept, place)], settings):
            kept.append(place)
    return [place for place in ranked if place not in kept]


def _fit(lines: Iterable[str], settings: AssetConfig) -> bool:
    taken = list(lines)
    characters, tokens = sum(map(len, taken)), sum(map(estimated_tokens, taken))
    return characters <= settings.documents_chars and tokens <= settings.documents_tokens


def _use(document: DocumentSummary, line: str, note: str) -> AssetUse:
    if note:
        return AssetUse(AssetKind.DOCUMENT, document.filename, included=False, note=note)
    return AssetUse(AssetKind.DOCUMENT, document.filename, included=True, text=line)
