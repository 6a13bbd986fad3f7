"""From a message to what the model is called with, or to the end of a turn that needs no model."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from langchain_core.messages import AnyMessage

from proviso_service.agent.caching import Caches, CacheScope, NoCache, Payload, TurnCache
from proviso_service.agent.chat_models import ChatModels, NamedChatModel
from proviso_service.agent.matter_context import ASK_FOR_MATTER, MatterReader, Resolved, last_known_in, resolve
from proviso_service.agent.message_images import ImageLoader, MessageImages, noted_images
from proviso_service.agent.payload import build_payload, trim_messages, without_repeats
from proviso_service.agent.request_context import Draft, Drafter, unused_context
from proviso_service.agent.state import Limits
from proviso_service.context.assets import IMAGE_NOT_LOADED_YET, choose_images
from proviso_service.context.catalog.catalog import Catalog
from proviso_service.context.catalog.holder import CatalogHolder
from proviso_service.context.marker import parse_marker
from proviso_service.context.model import ApprovedTool, AssetUse, MatterContext, RequestContext, SessionItem
from proviso_service.errors import SessionNotFound
from proviso_service.identity import Caller
from proviso_service.settings import TurnSettings
from proviso_service.turns import ContextProblem, ExitReason, HistoryMessage, SessionStore, TurnRequest, with_late_items

_LONG_CHARS = 100_000
"""Of items' contents, which take some 15 ms a million."""


@dataclass(frozen=True, slots=True)
class Means:
    """What all turns of the agent are prepared with."""

    models: ChatModels
    drafter: Drafter
    sessions: SessionStore
    matters: MatterReader
    images: ImageLoader
    turns: TurnSettings
    catalog: CatalogHolder
    caches: Caches | None


@dataclass(slots=True)
class Progress:
    """What a turn knows so far; its outcome is made of it at any moment. The draft is empty where the model is not
    called, or it is not known yet."""

    text: str = ""
    history: tuple[HistoryMessage, ...] = ()
    request_context: RequestContext | None = None
    resolved: Resolved = Resolved(None)
    draft: Draft = field(default_factory=Draft)
    approved_tools: tuple[ApprovedTool, ...] = ()


@dataclass(frozen=True, slots=True)
class Ready:
    """The first call of the model. `cache` is what the turn may find, and keeps."""

    context: RequestContext
    messages: list[AnyMessage]
    cache: TurnCache | NoCache


@dataclass(frozen=True, slots=True)
class Ended:
    """The turn ends without the model; with a sentence where it is answered."""

    context: RequestContext
    reason: ExitReason
    sentence: str = ""
    problem: ContextProblem | None = None


@dataclass(frozen=True, slots=True)
class _Sent:
    """What the model is sent, the characters of its conversation, and the SHA-256 of the payload."""

    messages: list[AnyMessage]
    characters: int
    sha256: str


class Preparation:
    """Of one turn; `progress` is filled on the way. A rehearsal stores nothing and loads no images."""

    def __init__(
        self,
        means: Means,
        caller: Caller,
        request: TurnRequest,
        limits: Limits,
        catalog: Catalog,
        progress: Progress,
        *,
        rehearsal: bool = False,
    ) -> None:
        self._means = means
        self._caller = caller
        self._request = request
        self._limits = limits
        self._catalog = catalog
        self._progress = progress
        self._rehearsal = rehearsal

    async def run(self) -> Ready | Ended:
        session_items, last_known = await self._session()
        marked = parse_marker(self._request.message)
        given = self._request.matter_context or marked.context
        progress = self._progress
        progress.text = marked.text
        marker_only = marked.context is not None and not marked.text.strip()
        if not marked.text.strip() and not marker_only:
            return self._ended(ExitReason.EMPTY_INPUT)

        progress.history = await self._history()
        progress.resolved = await resolve(self._caller.tenant, given, last_known, self._means.matters)
        if progress.resolved.problem is not None:
            return self._said(progress.resolved.sentence, progress.resolved.problem)
        if marker_only:
            return self._said(_acknowledge(progress.resolved.context))
        tenant, drafter = self._caller.tenant, self._means.drafter
        progress.draft = await drafter.draft(tenant, self._catalog, session_items, progress.text)
        if not self._has_sources():
            return self._said(ASK_FOR_MATTER, ContextProblem.MATTER_REQUIRED)
        return await self._call()

    async def _call(self) -> Ready | Ended:
        documents = await self._means.drafter.documents(self._request, self._progress.text)
        if self._request.image_urls:  # none is loaded for a message that does not fit anyway
            sent = await self._sent(self._context(documents), {})
            if sent.characters > self._room:
                return self._ended(ExitReason.MAX_CONTEXT_REACHED, sent.characters)
        cache_scope = await self._cache_scope()
        model = self._means.models.get(self._request.options.model)
        images = await self._images(model)
        context = self._context([*documents, *images.uses])
        sent = await self._sent(context, images.data)
        # What is said of images that could not be loaded counts, too.
        if sent.characters > self._room:
            return self._ended(ExitReason.MAX_CONTEXT_REACHED, sent.characters)
        cache = self._turn_cache(cache_scope, model, Payload(sent.sha256, len(sent.messages)))
        # The bytes of images are part of the payload, and a rehearsal does not have them.
        is_known = not (self._rehearsal and images.uses)
        return Ready(self._filled(context, sent.characters, sent.sha256 if is_known else ""), sent.messages, cache)

    async def _session(self) -> tuple[Sequence[SessionItem], MatterContext | None]:
        """The items and the last known context of the conversation; its session is made when unknown."""
        request, sessions, new = self._request, self._means.sessions, self._catalog.new_session()
        if not request.session_id:
            return new.items, last_known_in(request.history)
        if not self._rehearsal:
            session = await sessions.get_or_create(self._caller, request.session_id, new)
            self._progress.approved_tools = session.approved_tools
            return session.items, session.matter_context
        try:
            session = await sessions.get(self._caller, request.session_id)
        except SessionNotFound:
            return new.items, None
        return with_late_items(session, new).items, session.matter_context

    async def _history(self) -> tuple[HistoryMessage, ...]:
        """The conversation's earlier messages. A message that is sent again after a failure counts once, so that a
        long one can be retried."""
        request = self._request
        if not request.session_id:
            return request.history
        limit = room = self._limits.max_context_chars
        while True:
            stored = await self._means.sessions.history(self._caller, request.session_id, limit)
            history = without_repeats([HistoryMessage(m.role, m.content) for m in stored], self._progress.text)
            repeated = sum(len(m.content) for m in stored[len(history) :])
            if limit >= room + repeated:
                return history
            limit = room + repeated

    async def _images(self, model: NamedChatModel) -> MessageImages:
        urls = self._request.image_urls
        left_out = choose_images(urls, self._request.selected_assets)
        if self._rehearsal:
            return noted_images(urls, [note or IMAGE_NOT_LOADED_YET for note in left_out])
        return await self._means.images.load(urls, model, self._caller.tenant, left_out)

    @property
    def _room(self) -> int:
        """Characters that the payload may have, so that a tool's result still fits."""
        return self._limits.max_context_chars - self._means.turns.min_tool_result_chars

    async def _sent(self, context: RequestContext, image_data: Mapping[str, str]) -> _Sent:
        """Away from the event loop where the items' contents are long."""
        progress, limit = self._progress, self._limits.max_context_chars
        contents = progress.draft.contents

        def build() -> _Sent:
            payload = build_payload(context, progress.history, progress.text, contents)
            messages = payload.messages(image_data)
            return _Sent(messages, trim_messages(messages, limit).characters, payload.sha256)

        return build() if sum(map(len, contents.values())) < _LONG_CHARS else await asyncio.to_thread(build)

    async def _cache_scope(self) -> CacheScope | None:
        """Whose texts the turn keeps, as of now; None where it neither finds nor keeps anything."""
        caches, context = self._means.caches, self._progress.resolved.context
        if caches is None or self._rehearsal or self._request.options.disable_cache:
            return None
        versions = (self._progress.resolved.index_version, self._progress.draft.documentation_version)
        scope = CacheScope(self._caller.tenant, context.matter_id if context else "", versions)
        await caches.forget_other_versions(scope)
        return scope

    def _turn_cache(self, scope: CacheScope | None, model: NamedChatModel, payload: Payload) -> TurnCache | NoCache:
        if scope is None or self._means.caches is None:
            return NoCache()
        return TurnCache(self._means.caches, scope, f"{model.identity} {self._limits}", payload)

    def _context(self, assets: Sequence[AssetUse]) -> RequestContext:
        progress, limit = self._progress, self._limits.max_context_chars
        return self._means.drafter.context(progress.draft, progress.resolved.context, assets, limit)

    def _filled(self, context: RequestContext, characters: int, sha256: str) -> RequestContext:
        """With the figures of its payload."""
        near_limit = self._means.drafter.fills_most_of(characters, self._room)
        fill = replace(context.fill, characters_used=characters, near_limit=context.fill.near_limit or near_limit)
        return replace(context, fill=fill, payload_sha256=sha256)

    def _has_sources(self) -> bool:
        """Whether there is anything that an answer could rest on: a matter, the message's own assets, documentation, or
        tools of other servers."""
        request, draft = self._request, self._progress.draft
        has_assets = request.image_urls or request.document_context
        others = draft.documentation_version or draft.offer.has_tools_of_others
        return bool(self._progress.resolved.context or has_assets or others)

    def _ended(self, reason: ExitReason, characters: int = 0) -> Ended:
        return Ended(self._unused(characters), reason)

    def _said(self, sentence: str, problem: ContextProblem | None = None) -> Ended:
        """Answered without the model."""
        return Ended(self._unused(), ExitReason.COMPLETED, sentence, problem)

    def _unused(self, characters: int = 0) -> RequestContext:
        """The request context of a turn without the model."""
        self._progress.draft = Draft()
        context = unused_context(self._progress.resolved.context, self._request, self._limits.max_context_chars)
        return replace(context, fill=replace(context.fill, characters_used=characters))


def _acknowledge(context: MatterContext | None) -> str:
    if context is None:
        return ASK_FOR_MATTER
    if context.document_name:
        return f'Noted: we are looking at "{context.document_name}" in the matter "{context.matter_name}".'
    return f'Noted: we are looking at the matter "{context.matter_name}".'
