"""Values of context tracking (proviso.v1 context.proto; seeds: context tracking design)."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

OWN_SERVER = "proviso"
"""Server name of the service's own tools."""


class ItemType(StrEnum):
    RULE = "rule"
    REFERENCE = "reference"
    TOOL = "tool"


class IncludeMode(StrEnum):
    ALWAYS = "always"
    MANUAL = "manual"
    AGENT = "agent"


class OmissionReason(StrEnum):
    BELOW_THRESHOLD = "below_threshold"
    BUDGET = "budget"
    SEARCH_FAILED = "search_failed"
    MISSING = "missing"
    DISABLED = "disabled"


@dataclass(frozen=True, slots=True)
class ItemRef:
    """Names a context item; `server_name` is set for tools only."""

    type: ItemType
    name: str
    server_name: str = ""


@dataclass(frozen=True, slots=True)
class RequestItem:
    """An item that entered a request, and why; `similarity_score` in [0, 1] for agent items."""

    ref: ItemRef
    include_mode: IncludeMode
    similarity_score: float | None = None
    content_sha256: str = ""
    missing: bool = False


@dataclass(frozen=True, slots=True)
class OmittedItem:
    ref: ItemRef
    reason: OmissionReason
    score: float | None = None


@dataclass(frozen=True, slots=True)
class SessionItem:
    ref: ItemRef
    include_mode: IncludeMode
    missing: bool = False


@dataclass(frozen=True, slots=True)
class MatterContext:
    """The matter, and maybe the document, on view; ids as the caller sent them, so maybe malformed."""

    matter_id: str
    matter_name: str = ""
    document_id: str = ""
    document_name: str = ""


@dataclass(frozen=True, slots=True)
class DocumentSummary:
    """Summary of a file that the back end keeps (ChatRequest.document_context)."""

    filename: str
    type: str
    summary: str


class AssetKind(StrEnum):
    DOCUMENT = "document"
    IMAGE = "image"


@dataclass(frozen=True, slots=True)
class AssetUse:
    kind: AssetKind
    name: str
    included: bool
    note: str = ""


@dataclass(frozen=True, slots=True)
class ContextFill:
    """How much of the context limit was used, in characters and, where known, tokens."""

    characters_used: int
    characters_limit: int
    tokens_used: int | None = None
    tokens_limit: int | None = None


@dataclass(frozen=True, slots=True)
class RequestContext:
    """What entered one answer and why; stored with the assistant's message."""

    items: tuple[RequestItem, ...]
    omitted: tuple[OmittedItem, ...]
    matter_context: MatterContext | None
    assets: tuple[AssetUse, ...]
    fill: ContextFill
    timestamp: datetime
    payload_sha256: str = ""
