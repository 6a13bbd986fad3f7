"""Building a turn's request context before the model is called: which items and documents enter, which of them the
model is given and with what content, and how much room they take."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any, Protocol

from proviso_service.agent.payload import SYSTEM_PROMPT
from proviso_service.context.assets import choose_documents
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
)
from proviso_service.context.selection.request_items import build_request_items
from proviso_service.context.selection.search import ItemSearch, TextSimilarity
from proviso_service.settings import ContextSettings, SelectionSettings
from proviso_service.tools.base import Tool
from proviso_service.tools.registry import ToolRegistry
from proviso_service.tools.retriever import RETRIEVER
from proviso_service.tools.served import AwaitedTool, ToolFinder
from proviso_service.turns import TurnRequest

MODEL_NOT_CALLED = "the model was not called"

SYSTEM_PROMPT_SHA256 = content_sha256(SYSTEM_PROMPT)


class DocumentationReader(Protocol):
    """What turns need to know of a tenant's documentation."""

    async def ready_version(self, tenant: str) -> int:
        """0 where there is nothing to find; grows with every change of what there is."""
        ...


@dataclass(frozen=True, slots=True)
class Offer:
    """`items` are all of the request's; those that are given have their content in `contents`, by its SHA-256. `tools`
    are those among them that the model may call."""

    items: tuple[RequestItem, ...] = ()
    contents: Mapping[str, str] = field(default_factory=dict)
    tools: ToolRegistry = field(default_factory=lambda: ToolRegistry(()))

    @property
    def references(self) -> Mapping[str, str]:
        """Contents of the references that are given, by name."""
        return {
            item.ref.name: self.contents[item.content_sha256]
            for item in self.items
            if item.ref.type is ItemType.REFERENCE and item.is_given
        }

    @property
    def has_tools_of_others(self) -> bool:
        """Whether there is a tool of another server, which needs no matter."""
        return any(item.ref.server_name not in ("", OWN_SERVER) and item.is_given for item in self.items)


@dataclass(frozen=True, slots=True)
class Draft:
    """The items of a request, and what the model is given of them. `documentation_version` is that of the tenant's
    documentation, 0 without any."""

    offer: Offer = Offer()
    omitted: tuple[OmittedItem, ...] = ()
    item_characters: int = 0
    item_tokens: int = 0
    near_limit: bool = False
    documentation_version: int = 0

    @property
    def contents(self) -> Mapping[str, str]:
        """What the payload is made of, by SHA-256."""
        return {SYSTEM_PROMPT_SHA256: SYSTEM_PROMPT, **self.offer.contents}


class Drafter:
    """Drafts requests. One for all turns."""

    def __init__(
        self,
        tools: ToolFinder,
        documentation: DocumentationReader,
        search: ItemSearch,
        similarity: TextSimilarity,
        selection: SelectionSettings,
        context: ContextSettings,
    ) -> None:
        self._tools = tools
        self._documentation = documentation
        self._search = search
        self._similarity = similarity
        self._selection = selection
        self._context = context

    async def draft(self, tenant: str, catalog: Catalog, session: Sequence[SessionItem], message: str) -> Draft:
        """The session's items and those that are chosen for the message."""
        version = await self._documentation.ready_version(tenant)
        chosen = await build_request_items(session, catalog.items, message, self._search, self._selection)
        return Draft(
            offer(chosen.items, catalog, self._tools, documentation=version > 0),
            chosen.omitted,
            chosen.characters,
            chosen.tokens,
            chosen.near_limit,
            version,
        )

    def again(self, items: Sequence[RequestItem], contents: Mapping[str, str]) -> Draft:
        """What the model was given of the items of a turn that was suspended."""
        return Draft(offer_again(items, contents, self._tools))

    async def documents(self, request: TurnRequest, message: str) -> tuple[AssetUse, ...]:
        """What becomes of the request's documents, in order."""
        selected = request.selected_assets
        return await choose_documents(request.document_context, message, selected, self._similarity, self._context)

    def context(
        self,
        draft: Draft,
        matter_context: MatterContext | None,
        assets: Sequence[AssetUse],
        characters_limit: int,
    ) -> RequestContext:
        """Without the figures of the payload, which is made of it."""
        return RequestContext(
            items=draft.offer.items,
            omitted=draft.omitted,
            matter_context=matter_context,
            assets=tuple(assets),
            fill=ContextFill(
                characters_used=0,
                characters_limit=characters_limit,
                item_characters=draft.item_characters,
                item_characters_limit=self._selection.max_chars,
                item_tokens=draft.item_tokens,
                item_tokens_limit=self._selection.max_tokens,
                near_limit=draft.near_limit,
            ),
            timestamp=datetime.now(UTC),
            system_prompt_sha256=SYSTEM_PROMPT_SHA256,
        )

    def fills_most_of(self, characters: int, limit: int) -> bool:
        """Whether a conversation takes so much of its room that the request warns."""
        return characters >= self._selection.warn_share * limit


def unused_context(matter_context: MatterContext | None, request: TurnRequest, characters_limit: int) -> RequestContext:
    """That of a turn which ends without the model: nothing enters."""
    documents = [AssetUse(AssetKind.DOCUMENT, d.filename, False, MODEL_NOT_CALLED) for d in request.document_context]
    images = [AssetUse(AssetKind.IMAGE, url, False, MODEL_NOT_CALLED) for url in request.image_urls]
    return RequestContext(
        (), (), matter_context, (*documents, *images), ContextFill(0, characters_limit), datetime.now(UTC)
    )


_NO_TOOL = "its server does not offer it"
_STARTING = "its server has not listed its tools yet"
_NO_DOCUMENTATION = "there is no documentation to look into"
_DOCUMENTATION_TOOL = ItemRef(ItemType.TOOL, RETRIEVER, OWN_SERVER)


def offer(items: Sequence[RequestItem], catalog: Catalog, tools: ToolFinder, *, documentation: bool) -> Offer:
    """`documentation`: there is some, so that the tool that looks into it is of use."""
    noted: list[RequestItem] = []
    contents: dict[str, str] = {}
    callable_tools: list[Tool] = []
    for item in items:
        known, tool = catalog.find(item.ref), tools.find(item.ref)
        missing = item.missing and catalog.is_missing(item.ref)
        note = _STARTING if item.missing and not missing else item.note or _note(item.ref, tool, documentation)
        noted.append(replace(item, missing=missing, note=note))
        if known is not None and not note:
            contents[known.content_sha256] = known.content
            callable_tools += [tool] if tool is not None else []
    schemas = [_schema(contents[item.content_sha256]) for item in noted if _is_given_tool(item)]
    return Offer(tuple(noted), contents, ToolRegistry(callable_tools, schemas))


def offer_again(items: Sequence[RequestItem], contents: Mapping[str, str], tools: ToolFinder) -> Offer:
    """What was given before a restart. A tool whose server has not listed it yet is looked for when it is called."""
    given = [item for item in items if _is_given_tool(item)]
    schemas = [_schema(contents[item.content_sha256]) for item in given]
    found = [
        tools.find(item.ref) or AwaitedTool(item.ref, schema["function"], tools)
        for item, schema in zip(given, schemas, strict=True)
    ]
    return Offer(tuple(items), contents, ToolRegistry(found, schemas))


def _note(ref: ItemRef, tool: Tool | None, documentation: bool) -> str:
    """Why a tool cannot be given; empty where it can be, and for what is no tool."""
    if ref.type is not ItemType.TOOL:
        return ""
    if tool is None:
        return _NO_TOOL
    return _NO_DOCUMENTATION if ref == _DOCUMENTATION_TOOL and not documentation else ""


def _is_given_tool(item: RequestItem) -> bool:
    return item.ref.type is ItemType.TOOL and item.is_given


def _schema(content: str) -> dict[str, Any]:
    return {"type": "function", "function": json.loads(content)}
