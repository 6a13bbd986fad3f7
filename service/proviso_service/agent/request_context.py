"""Building a turn's request context: what enters the answer, and why."""

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

IMAGE_NOT_SEEN = "the embedded model cannot see images"
IMAGE_NOT_LOADED = "images are not loaded for this model yet"


def build_request_context(
    items: tuple[RequestItem, ...],
    matter_context: MatterContext | None,
    request: TurnRequest,
    image_note: str,
    characters_used: int,
    characters_limit: int,
    payload_sha256: str,
) -> RequestContext:
    """The record of one request. No item is omitted as long as the catalog holds tools of include mode always only."""
    documents = [AssetUse(AssetKind.DOCUMENT, d.filename, included=True) for d in request.document_context]
    images = [AssetUse(AssetKind.IMAGE, url, included=False, note=image_note) for url in request.image_urls]
    return RequestContext(
        items=items,
        omitted=(),
        matter_context=matter_context,
        assets=(*documents, *images),
        fill=ContextFill(characters_used, characters_limit),
        timestamp=datetime.now(UTC),
        payload_sha256=payload_sha256,
    )
