"""Values of context tracking (proviso.v1 context.proto; seeds: context tracking design)."""

import hashlib
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Protocol

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
    DISABLED = "disabled"


@dataclass(frozen=True, slots=True)
class ItemRef:
    """Names a context item; `server_name` is set for tools only."""

    type: ItemType
    name: str
    server_name: str = ""


@dataclass(frozen=True, slots=True)
class ApprovedTool:
    """A tool that a person approved for a session: the one that had this `sha256` then (see Catalog.tool_sha256). An
    approval without it, as they were kept before, is of no tool."""

    name: str
    server_name: str
    sha256: str = ""

    @classmethod
    def of(cls, tool: ItemRef, sha256: str) -> "ApprovedTool":
        return cls(tool.name, tool.server_name, sha256)

    @property
    def ref(self) -> ItemRef:
        return ItemRef(ItemType.TOOL, self.name, self.server_name)


@dataclass(frozen=True, slots=True)
class RequestItem:
    """An item that entered a request, and why; `similarity_score` in [0, 1] for agent items. `missing`: it has left the
    catalog. `note` says why the model was not given it, and is empty where it was. `cited`: the answer quotes or names
    it, or it was called."""

    ref: ItemRef
    include_mode: IncludeMode
    similarity_score: float | None = None
    content_sha256: str = ""
    missing: bool = False
    note: str = ""
    cited: bool = False

    @property
    def is_given(self) -> bool:
        """Whether the model was given it."""
        return not self.note


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
    """`note` says why the model was not given it. `text` is the line about a document that it was given, and
    `content_sha256` and `media_type` are those of an image that it was given."""

    kind: AssetKind
    name: str
    included: bool
    note: str = ""
    text: str = ""
    content_sha256: str = ""
    media_type: str = ""


@dataclass(frozen=True, slots=True)
class ContextFill:
    """How much of its room a request used: the conversation, in characters and, where known, tokens; and its items,
    whose tokens are estimated. `near_limit`: either takes nearly all of it."""

    characters_used: int
    characters_limit: int
    tokens_used: int | None = None
    tokens_limit: int | None = None
    item_characters: int = 0
    item_characters_limit: int = 0
    item_tokens: int = 0
    item_tokens_limit: int = 0
    near_limit: bool = False


@dataclass(frozen=True, slots=True)
class RequestContext:
    """What entered one answer and why; stored with the assistant's message. The hashes are empty where the model was
    not called; `system_prompt_sha256` is that of the service's own instructions."""

    items: tuple[RequestItem, ...]
    omitted: tuple[OmittedItem, ...]
    matter_context: MatterContext | None
    assets: tuple[AssetUse, ...]
    fill: ContextFill
    timestamp: datetime
    payload_sha256: str = ""
    system_prompt_sha256: str = ""


ItemsChange = Callable[[tuple[SessionItem, ...]], tuple[SessionItem, ...]]
"""Makes a session's new items of those that it has."""


@dataclass(frozen=True, slots=True)
class NewSession:
    """What a session is made with: the always items, and the servers whose always items are still to come."""

    items: tuple[SessionItem, ...] = ()
    pending_servers: tuple[str, ...] = ()


def with_item(
    items: tuple[SessionItem, ...], ref: ItemRef, include_mode: IncludeMode = IncludeMode.MANUAL
) -> tuple[SessionItem, ...]:
    """With the item at the end; the same when it is there already, whatever its mode. Any item can be added, whatever
    its mode in the catalog."""
    if any(item.ref == ref for item in items):
        return items
    return (*items, SessionItem(ref, include_mode))


def without_item(items: tuple[SessionItem, ...], ref: ItemRef) -> tuple[SessionItem, ...]:
    """Without the item, whatever its mode; the same when it is not there."""
    return tuple(item for item in items if item.ref != ref)


class ContentStore(Protocol):
    """Contents of the catalog's items and the service's own instructions, as they were used. What a turn used is stored
    with its end (turns/ports.TurnOutcome)."""

    async def contents(self, tenant: str, hashes: Collection[str]) -> Mapping[str, str]:
        """Those that are stored, by their SHA-256 in hexadecimal."""
        ...


def content_sha256(content: str) -> str:
    """In hexadecimal."""
    return hashlib.sha256(content.encode(errors="surrogatepass")).hexdigest()


def utf8_bytes(text: str) -> int:
    """How many the text takes."""
    return len(text) if text.isascii() else len(text.encode(errors="surrogatepass"))
