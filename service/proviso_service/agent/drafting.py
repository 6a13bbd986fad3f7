"""A turn's request context before the model is called: its items, its documents, and how much room they take."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Protocol

from proviso_service.agent.offering import Offer, offer, offer_again
from proviso_service.agent.prompts import SYSTEM_PROMPT
from proviso_service.context.asset_choice import choose_documents
from proviso_service.context.catalog.catalog import Catalog
from proviso_service.context.contents import content_sha256
from proviso_service.context.model import (
    AssetKind,
    AssetUse,
    ContextFill,
    MatterContext,
    OmittedItem,
    RequestContext,
    RequestItem,
    SessionItem,
)
from proviso_service.context.selection.request_items import build_request_items
from proviso_service.context.selection.search import ItemSearch
from proviso_service.context.selection.similarity import TextSimilarity
from proviso_service.settings import ContextSettings, SelectionSettings
from proviso_service.tools.awaited import ToolFinder
from proviso_service.turns import TurnRequest

MODEL_NOT_CALLED = "the model was not called"

SYSTEM_PROMPT_SHA256 = content_sha256(SYSTEM_PROMPT)


class DocumentationReader(Protocol):
    """What turns need to know of a tenant's documentation."""

    async def ready_version(self, tenant: str) -> int:
        """0 where there is nothing to find; grows with every change of what there is."""
        ...


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
