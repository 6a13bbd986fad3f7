"""Prepares a turn: from the person's message to the messages of the first model call, or to the end of a turn that
needs no model."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

from langchain_core.messages import AnyMessage

from proviso_service.agent.caching import Caches, CacheScope, NoCache, TurnCache
from proviso_service.agent.chat_models import ChatModels, NamedChatModel
from proviso_service.agent.markup import safe
from proviso_service.agent.matter_context import (
    KnownContext,
    ResolvedContext,
    VisibleMatters,
    acknowledge,
    last_known_in,
    resolve_given,
    resolve_known,
    unclear,
)
from proviso_service.agent.message_images import ImageLoader, MessageImages, noted_images
from proviso_service.agent.payload import ModelPayload, SentMessages, build_payload, without_repeats
from proviso_service.agent.request_context import RequestContextBuilder, SelectedItems, unused_context
from proviso_service.agent.sentences import ASK_FOR_MATTER
from proviso_service.agent.state import AgentLimits, TurnMemory
from proviso_service.context.assets import IMAGE_NOT_LOADED_YET, choose_images
from proviso_service.context.catalog.catalog import Catalog, CatalogHolder
from proviso_service.context.marker import parse_marker
from proviso_service.context.model import AssetUse, ContextChange, RequestContext, SessionItem, is_blank
from proviso_service.errors import SessionNotFound
from proviso_service.identity import Caller
from proviso_service.telemetry.spans import NO_SPANS, Spans
from proviso_service.turns import (
    ContextProblem,
    ExitCause,
    ExitReason,
    HistoryMessage,
    Texts,
    TurnConfig,
    TurnRequest,
    TurnSessions,
    in_language,
    with_late_items,
)

T = TypeVar("T")

_LONG_CHARS = 100_000
"""Above this total length of the items' contents, writing and hashing them takes more than about 2 ms."""


@dataclass(frozen=True, slots=True)
class AgentDependencies:
    """What the agent works with in every turn. Without `caches` no reply and no result is kept from turn to turn."""

    models: ChatModels
    request_contexts: RequestContextBuilder
    sessions: TurnSessions
    matters: VisibleMatters
    images: ImageLoader
    turns: TurnConfig
    catalog: CatalogHolder
    caches: Caches | None = None
    spans: Spans = NO_SPANS
    sent: SentMessages = field(default_factory=SentMessages)


class Preparation:
    """Prepares one turn, and notes in `memory` what it learns: the message itself at once, the rest in `run`. A preview
    stores nothing and loads no image.

    `cache` holds the caches as this turn may use them; it is set once `run` has returned."""

    def __init__(
        self,
        dependencies: AgentDependencies,
        caller: Caller,
        request: TurnRequest,
        limits: AgentLimits,
        catalog: Catalog,
        memory: TurnMemory,
        *,
        is_preview: bool = False,
    ) -> None:
        self.cache: TurnCache | NoCache = NoCache()
        self._dependencies = dependencies
        self._caller = caller
        self._request = request
        self._limits = limits
        self._catalog = catalog
        self._memory = memory
        self._is_preview = is_preview
        marked = parse_marker(request.message)
        self._given = request.matter_context or marked.context
        self._fault = None if request.matter_context else marked.fault
        is_text_blank = is_blank(marked.text)
        self._is_marker_only = is_text_blank and marked.context is not None
        self._is_empty = is_text_blank and marked.context is None
        memory.text = marked.text
        # Until its context has been checked, the turn leaves none; least of all does it leave the one before it.
        memory.is_new_matter_context = not self._is_empty and bool(self._given or self._fault)

    async def run(self) -> list[AnyMessage] | ExitReason:
        """Returns the messages of the first model call, or the reason why the turn ends without one. Where a sentence
        of the service answers such a turn, the memory holds it. In both cases the memory has a request context."""
        if self._is_empty:
            return await self._empty(await self._brought())
        # Asked for at once, so that it is looked up together with the matter.
        asked = self._dependencies.request_contexts.documentation_version(self._caller.tenant)
        version = asyncio.ensure_future(asked)
        try:
            return await self._prepared(version)
        finally:
            if not version.cancel():
                version.exception()  # asyncio would warn of a failure that nobody has looked at

    async def _prepared(self, documentation_version: Awaitable[int]) -> list[AnyMessage] | ExitReason:
        brought = await self._brought()
        memory = self._memory
        session_items, last_known = await self._session(brought)
        matters = self._dependencies.matters
        resolved = brought or self._note(await resolve_known(self._caller, last_known, matters))
        memory.history = await self._history()
        if resolved.problem is not None:
            return self._answered(resolved.sentence, resolved.problem)
        if self._is_marker_only:
            return self._answered(acknowledge(resolved.context))
        version, select = await documentation_version, self._dependencies.request_contexts.select
        memory.items = await select(self._catalog, session_items, memory.text, version)
        if not self._has_sources():
            return self._answered(ASK_FOR_MATTER, ContextProblem.MATTER_REQUIRED)
        return await self._first_call(resolved.index_version)

    async def _brought(self) -> ResolvedContext | None:
        """The context that the message itself brings, checked and noted; None where it brings none."""
        if self._fault is not None:
            return self._note(unclear(self._fault))
        if self._given is None:
            return None
        return self._note(await resolve_given(self._caller, self._given, self._dependencies.matters))

    def _note(self, resolved: ResolvedContext) -> ResolvedContext:
        """Notes which matter and document the turn is about."""
        self._memory.matter_context = resolved.context
        self._memory.is_new_matter_context = resolved.is_new
        return resolved

    async def _empty(self, brought: ResolvedContext | None) -> ExitReason:
        """Ends a turn that has no message. Nothing is kept of it but the context that it has `brought`, and that only
        in a session that exists."""
        self._memory.is_new_matter_context = brought is not None and await self._session_exists()
        return self._ended(ExitReason.EMPTY_INPUT)

    async def _session_exists(self) -> bool:
        if not self._request.session_id:
            return False
        try:
            await self._dependencies.sessions.get(self._caller, self._request.session_id)
        except SessionNotFound:
            return False
        return True

    async def _session(self, brought: ResolvedContext | None) -> tuple[Sequence[SessionItem], KnownContext]:
        """The items and the last known matter context of the conversation. A session that does not exist yet is made.
        From here on it knows what the message has `brought`, whatever becomes of the turn."""
        request, sessions, new = self._request, self._dependencies.sessions, self._catalog.new_session
        if not request.session_id:
            return new.items, KnownContext() if brought else last_known_in(request.history)
        if not self._is_preview:
            change = ContextChange(brought.context) if brought else None
            session = await sessions.get_or_create(self._caller, request.session_id, new, change)
            self._memory.approved_tools = session.approved_tools
            return session.items, KnownContext(session.matter_context)
        try:
            session = await sessions.get(self._caller, request.session_id)
        except SessionNotFound:
            return new.items, KnownContext()
        return with_late_items(session, new).items, KnownContext(session.matter_context)

    async def _history(self) -> tuple[HistoryMessage, ...]:
        """The earlier messages of the conversation. A message that is sent again after a failure is counted once, so
        that a long one can be sent again."""
        request = self._request
        if not request.session_id:
            return request.history
        limit = room = self._limits.max_context_chars
        while True:
            stored = await self._dependencies.sessions.history(self._caller, request.session_id, limit)
            history = without_repeats(stored, self._memory.text)
            repeated = sum(len(m.content) for m in stored[len(history) :])
            if limit >= room + repeated:
                return history
            limit = room + repeated

    async def _first_call(self, index_version: int) -> list[AnyMessage] | ExitReason:
        memory = self._memory
        documents = await self._dependencies.request_contexts.documents(self._request, memory.text)
        if self._request.image_urls:  # images are not loaded for a message that does not fit without them
            payload = await self._payload(self._context(documents))
            if payload.characters > self._room:
                return self._too_long(payload)
        # The versions are those of before the texts are read, so that nothing older is kept under a newer version.
        cache_scope = await self._cache_scope(index_version)
        model = self._dependencies.models.get(self._request.options.model)
        images = await self._images(model)
        context = self._context([*documents, *images.uses])
        payload = await self._payload(context)
        # Notes about images that could not be loaded are part of the conversation, too.
        characters = payload.characters
        if characters > self._room:
            return self._too_long(payload)
        sha256 = await self._computed(lambda: payload.sha256)
        messages = payload.messages(images.data)
        if cache_scope is not None and self._dependencies.caches is not None:
            identity = f"{model.identity} {self._limits}"
            self.cache = TurnCache(self._dependencies.caches, cache_scope, identity, sha256, len(messages))
        # The bytes of images are part of the payload, and a preview does not have them.
        is_known = not (self._is_preview and images.uses)
        memory.request_context = self._filled(context, characters, sha256 if is_known else "")
        return messages

    async def _images(self, model: NamedChatModel) -> MessageImages:
        urls = self._request.image_urls
        if not urls:
            return MessageImages()
        left_out = choose_images(urls, self._request.selected_assets)
        if self._is_preview:
            return noted_images(urls, [note or IMAGE_NOT_LOADED_YET for note in left_out])
        return await self._dependencies.images.load(urls, model, self._caller.tenant, left_out)

    @property
    def _room(self) -> int:
        """The number of characters that the conversation may have, so that a tool's result still fits."""
        return self._limits.max_context_chars - self._dependencies.turns.min_tool_result_chars

    async def _payload(self, context: RequestContext) -> ModelPayload:
        memory, sent = self._memory, self._dependencies.sent
        history = sent.of(self._caller.tenant, memory.history)
        return await self._computed(lambda: build_payload(context, history, memory.text, memory.items.contents))

    async def _computed(self, work: Callable[[], T]) -> T:
        """Returns the result of `work`, whose time grows with the length of the items' contents. Where they are long,
        it runs in a thread, so that the event loop is not blocked."""
        is_long = sum(map(len, self._memory.items.contents.values())) >= _LONG_CHARS
        return await asyncio.to_thread(work) if is_long else work()

    async def _cache_scope(self, index_version: int) -> CacheScope | None:
        """The scope of the turn's cache entries: tenant, matter and current versions. None for a turn that may not use
        the caches."""
        memory, caches = self._memory, self._dependencies.caches
        if caches is None or self._is_preview or self._request.options.disable_cache:
            return None
        matter_id = memory.matter_context.matter_id if memory.matter_context else ""
        scope = CacheScope(self._caller.tenant, matter_id, (index_version, memory.items.documentation_version))
        await caches.forget_other_versions(scope)
        return scope

    def _context(self, assets: Sequence[AssetUse]) -> RequestContext:
        memory, limit = self._memory, self._limits.max_context_chars
        return self._dependencies.request_contexts.context(memory.items, memory.matter_context, assets, limit)

    def _filled(self, context: RequestContext, characters: int, sha256: str) -> RequestContext:
        """The request context, completed with the figures of the payload that is made of it."""
        near_limit = self._dependencies.request_contexts.fills_most_of(characters, self._room)
        fill = replace(context.fill, characters_used=characters, near_limit=context.fill.near_limit or near_limit)
        return replace(context, fill=fill, payload_sha256=sha256)

    def _has_sources(self) -> bool:
        """Whether there is anything that an answer could rest on: a matter, images or documents of the message,
        documentation, or tools of other servers."""
        request, memory = self._request, self._memory
        has_assets = request.image_urls or request.document_context
        has_others = memory.items.documentation_version or memory.items.has_tools_of_others
        return bool(memory.matter_context or has_assets or has_others)

    def _answered(self, sentence: Texts, problem: ContextProblem | None = None) -> ExitReason:
        """Ends the turn without the model, with a sentence of the service as its answer."""
        self._memory.answer = safe(in_language(sentence, self._memory.language))
        self._memory.context_problem = problem
        return self._ended(ExitReason.COMPLETED)

    def _too_long(self, payload: ModelPayload) -> ExitReason:
        """Ends a turn whose message does not fit: alone, or beside the conversation before it."""
        memory = self._memory
        alone = payload.characters - sum(message.characters for message in payload.history)
        memory.exit_cause = ExitCause.MESSAGE_TOO_LONG if alone > self._room else ExitCause.CONVERSATION_FULL
        memory.message_limit = max(0, self._room - (alone - len(memory.text)))
        return self._ended(ExitReason.MAX_CONTEXT_REACHED, payload.characters)

    def _ended(self, reason: ExitReason, characters: int = 0) -> ExitReason:
        """Ends the turn without the model. Its request context says that the model was given nothing."""
        memory, limit = self._memory, self._limits.max_context_chars
        memory.items = SelectedItems()
        context = unused_context(memory.matter_context, self._request, limit)
        memory.request_context = replace(context, fill=replace(context.fill, characters_used=characters))
        return reason
