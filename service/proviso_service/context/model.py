"""The values of context tracking: items of sessions and requests, matter context, assets and what entered an answer."""

import hashlib
import unicodedata
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Protocol

OWN_SERVER = "proviso"
"""The server name of the service's own tools."""


class ItemType(StrEnum):
    """What kind of item of the catalog it is."""

    RULE = "rule"
    REFERENCE = "reference"
    TOOL = "tool"


class IncludeMode(StrEnum):
    """When an item enters a request: always, when a person adds it to the session, or when the agent finds it by the
    message."""

    ALWAYS = "always"
    MANUAL = "manual"
    AGENT = "agent"


class OmissionReason(StrEnum):
    """Why an agent item did not enter a request."""

    BELOW_THRESHOLD = "below_threshold"
    BUDGET = "budget"
    SEARCH_FAILED = "search_failed"
    DISABLED = "disabled"


@dataclass(frozen=True, slots=True)
class ItemRef:
    """The name of an item. `server_name` is set for tools only."""

    type: ItemType
    name: str
    server_name: str = ""


@dataclass(frozen=True, slots=True)
class ApprovedTool:
    """A tool that a person approved for a session. `sha256` says what the tool was then (see Catalog.tool_sha256). An
    old record without it approves no tool."""

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
    """An item that entered a request, and why.

    `similarity_score` is in [0, 1] and set for agent items. `missing` says that the item has left the catalog. `note`
    says why the model was not given the item, and is empty where it was. `cited` says that the answer quotes or names
    the item, or that the model called it."""

    ref: ItemRef
    include_mode: IncludeMode
    similarity_score: float | None = None
    content_sha256: str = ""
    missing: bool = False
    note: str = ""
    cited: bool = False

    @property
    def is_given(self) -> bool:
        """Whether the model was given the item."""
        return not self.note


@dataclass(frozen=True, slots=True)
class OmittedItem:
    """An agent item that did not enter a request, and why."""

    ref: ItemRef
    reason: OmissionReason
    score: float | None = None


@dataclass(frozen=True, slots=True)
class SessionItem:
    """An item of a session. `missing` says that it has left the catalog, `locked` that it cannot be removed; neither is
    stored."""

    ref: ItemRef
    include_mode: IncludeMode
    missing: bool = False
    locked: bool = False


@dataclass(frozen=True, slots=True)
class MatterContext:
    """The matter that the user has on view, and the document if one is open. The ids are as the caller sent them, so
    they can be malformed."""

    matter_id: str
    matter_name: str = ""
    document_id: str = ""
    document_name: str = ""


@dataclass(frozen=True, slots=True)
class ContextChange:
    """What a session knows of the matter and document on view from now on: `matter_context`, or nothing."""

    matter_context: MatterContext | None


@dataclass(frozen=True, slots=True)
class DocumentSummary:
    """The summary of a file that the caller keeps (ChatRequest.document_context)."""

    filename: str
    type: str
    summary: str


class AssetKind(StrEnum):
    DOCUMENT = "document"
    IMAGE = "image"


_MAX_IMAGE_NAME_CHARS = 2_048


def image_name(url: str) -> str:
    """The name of an image wherever it is shown or kept: its URL without query, fragment, user name and password. The
    query of a presigned URL gives access to whoever reads it."""
    scheme, separator, rest = url.partition("#")[0].partition("?")[0].partition("://")
    host, slash, path = rest.partition("/")
    return f"{scheme}{separator}{host.rpartition('@')[2]}{slash}{path}"[:_MAX_IMAGE_NAME_CHARS]


@dataclass(frozen=True, slots=True)
class AssetUse:
    """What happened to an asset. `note` says why the model was not given it, or that an image was made smaller. `text`
    is the line about a document that the model was given; `content_sha256` and `media_type` are those of an image that
    it was given."""

    kind: AssetKind
    name: str
    included: bool
    note: str = ""
    text: str = ""
    content_sha256: str = ""
    media_type: str = ""


@dataclass(frozen=True, slots=True)
class ContextFill:
    """How much room a request used: that of the conversation in characters and, where known, in tokens; and that of its
    items, whose tokens are an estimate. `near_limit` says that one of the two is nearly used up."""

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
    """What entered one answer, and why. It is stored with the assistant's message. The hashes are empty where the model
    was not called; `system_prompt_sha256` is that of the service's own instructions."""

    items: tuple[RequestItem, ...]
    omitted: tuple[OmittedItem, ...]
    matter_context: MatterContext | None
    assets: tuple[AssetUse, ...]
    fill: ContextFill
    timestamp: datetime
    payload_sha256: str = ""
    system_prompt_sha256: str = ""


ItemsChange = Callable[[tuple[SessionItem, ...]], tuple[SessionItem, ...]]
"""A function from the items that a session has to those that it shall have."""


@dataclass(frozen=True, slots=True)
class NewSession:
    """What a session is made from: the always items, and the servers whose always items are not known yet. Those of the
    items that are `locked` are in sessions that exist, too."""

    items: tuple[SessionItem, ...] = ()
    pending_servers: tuple[str, ...] = ()
    locked: frozenset[ItemRef] = frozenset()


def with_item(
    items: tuple[SessionItem, ...], ref: ItemRef, include_mode: IncludeMode = IncludeMode.MANUAL
) -> tuple[SessionItem, ...]:
    """The items with the item `ref` at the end; the same items when it is there already, whatever its mode. Any item
    can be added, whatever its mode in the catalog."""
    if any(item.ref == ref for item in items):
        return items
    return (*items, SessionItem(ref, include_mode))


def without_item(items: tuple[SessionItem, ...], ref: ItemRef) -> tuple[SessionItem, ...]:
    """The items without the item `ref`, whatever its mode; the same items when it is not there."""
    return tuple(item for item in items if item.ref != ref)


class ContentStore(Protocol):
    """The texts that request contexts name by their hash: items of the catalog and the service's own instructions as
    they were used. They are kept so that old payloads can be rebuilt, and stored with the end of the turn (see
    TurnOutcome)."""

    async def contents(self, tenant: str, hashes: Collection[str]) -> Mapping[str, str]:
        """The texts among `hashes` that are stored, by their SHA-256 in hexadecimal."""
        ...


def content_sha256(content: str) -> str:
    """The SHA-256 of a text in hexadecimal."""
    return hashlib.sha256(content.encode(errors="surrogatepass")).hexdigest()


_UNSEEN_CATEGORIES = frozenset({"Cc", "Cf", "Mn", "Zl", "Zp", "Zs"})
_FILLERS = frozenset("\u115f\u1160\u2800\u3164\uffa0")


def is_blank(text: str) -> bool:
    """Whether nothing of the text can be seen: it holds at most white space, and characters without a width."""
    return all(unicodedata.category(one) in _UNSEEN_CATEGORIES or one in _FILLERS for one in text)


def utf8_bytes(text: str) -> int:
    """How many bytes the text takes in UTF-8."""
    return len(text) if text.isascii() else len(text.encode(errors="surrogatepass"))
