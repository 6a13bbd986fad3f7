"""Builds a turn's request context before the model is called: which items and documents enter, which of them the model
is given and with what content, and how much room they take."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any, Protocol

from proviso_service.agent.payload import SYSTEM_PROMPT
from proviso_service.context.assets import AssetConfig, choose_documents
from proviso_service.context.catalog.catalog import Catalog
from proviso_service.context.model import (
    OWN_SERVER,
    AssetKind,
    AssetUse,
    ContextFill,
    ItemRef,
    ItemType,
    MatterContext,
    OmittedItem,
    RequestContext,
    RequestItem,
    SessionItem,
    content_sha256,
    image_name,
)
from proviso_service.context.selection.config import SelectionConfig
from proviso_service.context.selection.request_items import HeldItems, RequestItems, build_request_items
from proviso_service.context.selection.search import ItemSearch, TextSimilarity
from proviso_service.tool_results import RETRIEVER_TOOL
from proviso_service.tools.base import Tool
from proviso_service.tools.external import ToolFinder, UnlistedTool
from proviso_service.tools.registry import ToolRegistry
from proviso_service.turns import TurnRequest

MODEL_NOT_CALLED = "the model was not called"

SYSTEM_PROMPT_SHA256 = content_sha256(SYSTEM_PROMPT)


class DocumentationReader(Protocol):
    """Reads what turns need to know of a tenant's documentation."""

    async def ready_version(self, tenant: str) -> int:
        """The version of the documentation: 0 where there is none that can be searched; it grows with every change."""
        ...


@dataclass(frozen=True, slots=True)
class SelectedItems:
    """The items of one request: those of its session and those that were chosen for its message.

    `contents` holds, by SHA-256, the text of each item that the model is given, and the service's own instructions;
    `tools` are those among the items that the model may call. `characters` and `tokens` say how much room the items
    take, `near_limit` whether that is nearly all that they have. `documentation_version` is that of the tenant's
    documentation, 0 where there is none."""

    items: tuple[RequestItem, ...] = ()
    contents: Mapping[str, str] = field(default_factory=dict)
    tools: ToolRegistry = field(default_factory=lambda: ToolRegistry(()))
    omitted: tuple[OmittedItem, ...] = ()
    characters: int = 0
    tokens: int = 0
    near_limit: bool = False
    documentation_version: int = 0

    @property
    def references(self) -> Mapping[str, str]:
        """The contents of the references that the model is given, by name."""
        return {
            item.ref.name: self.contents[item.content_sha256]
            for item in self.items
            if item.ref.type is ItemType.REFERENCE and item.is_given
        }

    @property
    def has_tools_of_others(self) -> bool:
        """Whether the model is given a tool of another server. Such a tool needs no matter."""
        return any(item.ref.server_name not in ("", OWN_SERVER) and item.is_given for item in self.items)


class RequestContextBuilder:
    """Builds the request contexts of all turns."""

    def __init__(
        self,
        tools: ToolFinder,
        documentation: DocumentationReader,
        search: ItemSearch,
        similarity: TextSimilarity,
        selection: SelectionConfig,
        context: AssetConfig,
    ) -> None:
        self._tools = tools
        self._documentation = documentation
        self._search = search
        self._similarity = similarity
        self._selection = selection
        self._context = context
        self._last: tuple[Catalog, Sequence[SessionItem], HeldItems] | None = None

    async def documentation_version(self, tenant: str) -> int:
        """The version of the tenant's documentation, 0 where there is none that can be searched."""
        return await self._documentation.ready_version(tenant)

    async def select(
        self, catalog: Catalog, session: Sequence[SessionItem], message: str, documentation_version: int
    ) -> SelectedItems:
        """Selects the items of a request: those of the session, and agent items that match the message."""
        held = self._held_items(catalog, session)
        chosen = await build_request_items(held, message, self._search, self._selection)
        return with_contents(chosen, catalog, self._tools, documentation_version=documentation_version)

    def _held_items(self, catalog: Catalog, session: Sequence[SessionItem]) -> HeldItems:
        """What a request has of its session. That of the last request is kept: most sessions have the items that new
        ones get."""
        if self._last is None or self._last[0] is not catalog or self._last[1] != session:
            self._last = catalog, session, HeldItems.of(session, catalog.items)
        return self._last[2]

    def restore(self, items: Sequence[RequestItem], contents: Mapping[str, str]) -> SelectedItems:
        """Restores the items of a turn that was suspended, with the contents that the model was given then. A tool that
        its server has not listed again yet, as happens after a restart, is looked up when it is called. Raises KeyError
        where the content of a tool is missing, and ValueError where it is no JSON."""
        given = [item for item in items if _is_given_tool(item)]
        schemas = [_schema(contents[item.content_sha256]) for item in given]
        found = [
            self._tools.find(item.ref) or UnlistedTool(item.ref, schema["function"], self._tools)
            for item, schema in zip(given, schemas, strict=True)
        ]
        return SelectedItems(tuple(items), contents, ToolRegistry(found, schemas))

    async def documents(self, request: TurnRequest, message: str) -> tuple[AssetUse, ...]:
        """For each document of the request, in order: whether the model is given its summary, and if not, why."""
        selected = request.selected_assets
        return await choose_documents(request.document_context, message, selected, self._similarity, self._context)

    def context(
        self,
        selected: SelectedItems,
        matter_context: MatterContext | None,
        assets: Sequence[AssetUse],
        characters_limit: int,
    ) -> RequestContext:
        """The request context, without the figures of the payload, which is made of it later."""
        return RequestContext(
            items=selected.items,
            omitted=selected.omitted,
            matter_context=matter_context,
            assets=tuple(assets),
            fill=ContextFill(
                characters_used=0,
                characters_limit=characters_limit,
                item_characters=selected.characters,
                item_characters_limit=self._selection.max_chars,
                item_tokens=selected.tokens,
                item_tokens_limit=self._selection.max_tokens,
                near_limit=selected.near_limit,
            ),
            timestamp=datetime.now(UTC),
            system_prompt_sha256=SYSTEM_PROMPT_SHA256,
        )

    def fills_most_of(self, characters: int, limit: int) -> bool:
        """Whether a conversation takes so much of its room that the person is warned."""
        return characters >= self._selection.warn_share * limit


def unused_context(matter_context: MatterContext | None, request: TurnRequest, characters_limit: int) -> RequestContext:
    """The request context of a turn that ends without the model. Its documents and images are noted as not given."""
    documents = [AssetUse(AssetKind.DOCUMENT, d.filename, False, MODEL_NOT_CALLED) for d in request.document_context]
    images = [AssetUse(AssetKind.IMAGE, image_name(url), False, MODEL_NOT_CALLED) for url in request.image_urls]
    return RequestContext(
        (), (), matter_context, (*documents, *images), ContextFill(0, characters_limit), datetime.now(UTC)
    )


_NO_TOOL = "its server does not offer it"
_STARTING = "its server has not listed its tools yet"
_NO_DOCUMENTATION = "there is no documentation to look into"
_DOCUMENTATION_TOOL = ItemRef(ItemType.TOOL, RETRIEVER_TOOL, OWN_SERVER)


def with_contents(
    chosen: RequestItems, catalog: Catalog, tools: ToolFinder, *, documentation_version: int
) -> SelectedItems:
    """The chosen items with their contents from the catalog. An item that the model cannot be given is noted with the
    reason, for example a tool that no server offers, or the tool that searches the documentation where there is
    none."""
    noted: list[RequestItem] = []
    contents = {SYSTEM_PROMPT_SHA256: SYSTEM_PROMPT}
    callable_tools: list[Tool] = []
    for item in chosen.items:
        known, tool = catalog.find(item.ref), tools.find(item.ref)
        missing = item.missing and catalog.is_missing(item.ref)
        reason = item.note or _why_not_given(item.ref, tool, has_documentation=documentation_version > 0)
        note = _STARTING if item.missing and not missing else reason
        is_same = (missing, note) == (item.missing, item.note)
        noted.append(item if is_same else replace(item, missing=missing, note=note))
        if known is not None and not note:
            contents[known.content_sha256] = known.content
            callable_tools += [tool] if tool is not None else []
    schemas = [_schema(contents[item.content_sha256]) for item in noted if _is_given_tool(item)]
    return SelectedItems(
        tuple(noted),
        contents,
        ToolRegistry(callable_tools, schemas),
        chosen.omitted,
        chosen.characters,
        chosen.tokens,
        chosen.near_limit,
        documentation_version,
    )


def _why_not_given(ref: ItemRef, tool: Tool | None, *, has_documentation: bool) -> str:
    """The reason why the model cannot be given a tool; empty where it can, and for an item that is no tool."""
    if ref.type is not ItemType.TOOL:
        return ""
    if tool is None:
        return _NO_TOOL
    return _NO_DOCUMENTATION if ref == _DOCUMENTATION_TOOL and not has_documentation else ""


def _is_given_tool(item: RequestItem) -> bool:
    return item.ref.type is ItemType.TOOL and item.is_given


@lru_cache(maxsize=1_000)
def _schema(content: str) -> dict[str, Any]:
    """What models are shown of a tool, from its content in the catalog. All turns share it."""
    return {"type": "function", "function": json.loads(content)}
