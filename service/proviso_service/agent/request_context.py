"""Building a turn's request context: what enters the answer, and why."""

from collections.abc import Sequence
from datetime import UTC, datetime

from proviso_service.context.model import (
    AssetKind,
    AssetUse,
    ContextFill,
    MatterContext,
    RequestContext,
    RequestItem,
)
from proviso_service.turns.ports import TurnRequest

MODEL_NOT_CALLED = "the model was not called"


def build_request_context(
    items: tuple[RequestItem, ...],
    matter_context: MatterContext | None,
    request: TurnRequest,
    document_note: str,
    image_notes: Sequence[str],
    characters_used: int,
    characters_limit: int,
    payload_sha256: str,
) -> RequestContext:
    """The record of one request. The notes say why the documents, and each of the images, were not given to the model;
    with an empty one they were. No item is omitted: none is chosen by its likeness to the message yet."""
    documents = [_use(AssetKind.DOCUMENT, d.filename, document_note) for d in request.document_context]
    images = [_use(AssetKind.IMAGE, url, note) for url, note in zip(request.image_urls, image_notes, strict=True)]
    return RequestContext(
        items=items,
        omitted=(),
        matter_context=matter_context,
        assets=(*documents, *images),
        fill=ContextFill(characters_used, characters_limit),
        timestamp=datetime.now(UTC),
        payload_sha256=payload_sha256,
    )


def _use(kind: AssetKind, name: str, note: str) -> AssetUse:
    return AssetUse(kind, name, included=not note, note=note)
