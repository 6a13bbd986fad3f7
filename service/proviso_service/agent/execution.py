"""One turn of the agent: prepares the payload, runs the graph, makes the outcome."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import cast

from langchain_core.messages import AnyMessage
from langchain_core.runnables import RunnableConfig
from langsmith import tracing_context

from proviso_service.agent import suspension
from proviso_service.agent.answer_text import AnswerText
from proviso_service.agent.approvals import ToolApprovals, needs_approval
from proviso_service.agent.caching.ports import CacheScope
from proviso_service.agent.caching.turn_cache import Caches, NoCache, Payload, TurnCache
from proviso_service.agent.chat_models import ChatModels, NamedChatModel
from proviso_service.agent.conversation import trim_messages, without_repeats
from proviso_service.agent.drafting import Draft, Drafter, unused_context
from proviso_service.agent.graph import Graph
from proviso_service.agent.images import ImageLoader, MessageImages, noted_images
from proviso_service.agent.matter_context import (
    ASK_FOR_MATTER,
    MatterReader,
    Resolved,
    last_known_in,
    resolve,
)
from proviso_service.agent.outcome import make_outcome
from proviso_service.agent.payload import ModelPayload, build_payload
from proviso_service.agent.sources import Sources
from proviso_service.agent.state import AgentState, Limits, TurnMemory, TurnScope
from proviso_service.agent.suspension import Standing, SuspendedAgent
from proviso_service.agent.tool_sizes import output_json_bytes
from proviso_service.context.asset_choice import choose_images
from proviso_service.context.assets import IMAGE_NOT_LOADED_YET
from proviso_service.context.catalog.holder import CatalogHolder
from proviso_service.context.marker import parse_marker
from proviso_service.context.model import AssetKind, AssetUse, ItemRef, MatterContext, RequestContext, SessionItem
from proviso_service.context.session_items import with_late_items
from proviso_service.context.sessions import SessionStore
from proviso_service.errors import SessionNotFound
from proviso_service.security.identity import Caller
from proviso_service.settings import TurnSettings
from proviso_service.telemetry.spans import Spans
from proviso_service.tools.base import Passage, ToolScope
from proviso_service.turns.clock import TurnClock
from proviso_service.turns.events import ContextProblem, DiscardReason, TurnStart
from proviso_service.turns.exit_reasons import ExitReason, Retryable
from proviso_service.turns.ports import Approvals, AskedCall, Emit, HistoryMessage, TurnOutcome, TurnRequest
from proviso_service.turns.records import Decision


@dataclass(frozen=True, slots=True)
class Means:
    """What all turns of the agent share."""

    models: ChatModels
    drafter: Drafter
    sessions: SessionStore
    matters: MatterReader
    images: ImageLoader
    turns: TurnSettings
    catalog: CatalogHolder
    caches: Caches | None
    spans: Spans
    graph: Graph


class _Nobody:
    """The Approvals of a rehearsal, which makes no calls."""

    async def decide(
        self, calls: Sequence[AskedCall], suspend: Callable[[], Awaitable[str]]
    ) -> Mapping[str, Decision | None]:
        raise AssertionError("a rehearsal calls no tools")


NOBODY = _Nobody()


@dataclass(slots=True)
class Progress:
    """What an execution knows so far; the outcome is made of it at any moment. The draft is empty before it is known
    that the model is called."""

    text: str = ""
    history: tuple[HistoryMessage, ...] = ()
    request_context: RequestContext | None = None
    resolved: Resolved = Resolved(None)
    draft: Draft = field(default_factory=Draft)
    approved_tools: tuple[ItemRef, ...] = ()


@dataclass(frozen=True, slots=True)
class Prepared:
    """What the graph begins with: the payload, or where a turn that was suspended stood."""

    model: NamedChatModel
    state: AgentState
    cache: TurnCache | NoCache
    passages: tuple[Passage, ...] = ()
    asked: tuple[str, ...] = ()


class AgentExecution:
    """One run of the agent, with the catalog of its beginning. A rehearsal ends where the model would be called."""

    def __init__(
        self,
        agent: Means,
        caller: Caller,
        turn_id: str,
        request: TurnRequest,
        emit: Emit,
        approvals: Approvals,
        suspended: SuspendedAgent | None = None,
        *,
        rehearsal: bool = False,
    ) -> None:
        """A turn that was `suspended` goes on where it stood."""
        self._agent = agent
        self._caller = caller
        self._turn_id = turn_id
        self._request = request
        self._emit = emit
        self._approvals = approvals
        self._suspended = suspended
        self._rehearsal = rehearsal
        self._catalog = agent.catalog.current
        self._memory = suspended.memory if suspended else TurnMemory()
        self._text = AnswerText(emit, suspended.standing.texts if suspended else 0)
        self._progress = _progress_of(suspended.standing, agent.drafter) if suspended else Progress()
        self._clock = TurnClock(agent.turns.time_limit_s, suspended.standing.used_s if suspended else None)
        options = request.options
        self._limits = Limits(
            max_turns=_or(options.max_turns, agent.turns.max_turns),
            max_tool_calls=_or(options.max_tool_calls, agent.turns.max_tool_calls),
            max_context_chars=_or(options.max_context_chars, agent.turns.max_context_chars),
            tool_result_chars=agent.turns.tool_result_chars,
            output_json_bytes=output_json_bytes(agent.turns),
        )

    async def run(self) -> TurnOutcome:
        try:
            prepared = self._taken_up(self._suspended) if self._suspended else await self._prepare()
            outcome = prepared if isinstance(prepared, TurnOutcome) else await self._run_graph(prepared)
        except BaseException:
            self._text.discard(DiscardReason.NOT_FINAL)
            raise
        self._text.settle(outcome.final_state.message)
        return outcome

    async def rehearse(self) -> RequestContext:
        """The request context that `run` would begin with."""
        await self._prepare()
        context = self._progress.request_context
        if context is None:
            raise RuntimeError("the turn was prepared without a request context")
        return context

    async def _prepare(self) -> Prepared | TurnOutcome:
        """Everything up to the model, or the outcome of a turn that does not need it."""
        model = self._agent.models.get(self._request.options.model)
        session_items, last_known = await self._session()
        marked = parse_marker(self._request.message)
        given = self._request.matter_context or marked.context
        progress = self._progress
        progress.text = marked.text
        marker_only = marked.context is not None and not marked.text.strip()
        if not marked.text.strip() and not marker_only:
            self._announce_without_model(model)
            return self._outcome(ExitReason.EMPTY_INPUT)

        progress.history = await self._history()
        progress.resolved = await resolve(self._caller.tenant, given, last_known, self._agent.matters)
        if progress.resolved.problem is not None:
            return self._say(model, progress.resolved.sentence, progress.resolved.problem)
        if marker_only:
            return self._say(model, _acknowledge(progress.resolved.context))
        tenant, drafter = self._caller.tenant, self._agent.drafter
        progress.draft = await drafter.draft(tenant, self._catalog, session_items, progress.text)
        if not self._has_sources():
            return self._say(model, ASK_FOR_MATTER, ContextProblem.MATTER_REQUIRED)
        return await self._prepare_call(model)

    async def _prepare_call(self, model: NamedChatModel) -> Prepared | TurnOutcome:
        documents = await self._agent.drafter.documents(self._request, self._progress.text)
        context = self._context(documents)
        if (characters := self._characters(self._payload(context).messages({}))) > self._room:
            return self._too_long(model, characters)
        cache_scope = await self._cache_scope()
        images = await self._images(model)
        context = self._context([*documents, *images.uses])
        payload = self._payload(context)
        messages = payload.messages(images.data)
        # What is said of images that could not be loaded counts, too.
        if (characters := self._characters(messages)) > self._room:
            return self._too_long(model, characters)
        sha256 = payload.sha256
        self._announce(model, self._filled(context, characters, "" if self._rehearsal and images.uses else sha256))
        state = AgentState(messages=messages, turns=0, tool_calls=0, exit_reason=None)
        return Prepared(model, state, self._turn_cache(cache_scope, model, Payload(sha256, len(messages))))

    def _taken_up(self, suspended: SuspendedAgent) -> Prepared:
        """Its clock goes on now; it keeps no replies, since others may ask the same by now."""
        standing = suspended.standing
        self._clock.start()
        model = self._agent.models.get(self._request.options.model)
        return Prepared(model, suspended.state, NoCache(), standing.passages, standing.asked)

    def interrupted(self, reason: ExitReason, retryable: Retryable) -> TurnOutcome:
        outcome = self._outcome(reason)
        return replace(outcome, final_state=replace(outcome.final_state, retryable=retryable))

    async def _session(self) -> tuple[Sequence[SessionItem], MatterContext | None]:
        """The items and the last known context of the conversation; its session is made when unknown."""
        request, sessions, new = self._request, self._agent.sessions, self._catalog.new_session()
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
            stored = await self._agent.sessions.history(self._caller, request.session_id, limit)
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
        return await self._agent.images.load(urls, model, self._caller.tenant, left_out)

    @property
    def _room(self) -> int:
        """Characters that the payload may have, so that a tool's result still fits."""
        return self._limits.max_context_chars - self._agent.turns.min_tool_result_chars

    def _characters(self, messages: list[AnyMessage]) -> int:
        return trim_messages(messages, self._limits.max_context_chars).characters

    def _too_long(self, model: NamedChatModel, characters: int) -> TurnOutcome:
        self._announce_without_model(model, characters)
        return self._outcome(ExitReason.MAX_CONTEXT_REACHED)

    async def _cache_scope(self) -> CacheScope | None:
        """Whose texts the turn keeps, as of now; None where it neither finds nor keeps anything."""
        caches, context = self._agent.caches, self._progress.resolved.context
        if caches is None or self._rehearsal or self._request.options.disable_cache:
            return None
        versions = (self._progress.resolved.index_version, self._progress.draft.documentation_version)
        scope = CacheScope(self._caller.tenant, context.matter_id if context else "", versions)
        await caches.forget_other_versions(scope)
        return scope

    def _turn_cache(self, scope: CacheScope | None, model: NamedChatModel, payload: Payload) -> TurnCache | NoCache:
        if scope is None or self._agent.caches is None:
            return NoCache()
        return TurnCache(self._agent.caches, scope, f"{model.identity} {self._limits}", payload)

    async def _run_graph(self, prepared: Prepared) -> TurnOutcome:
        context, model = self._progress.resolved.context, prepared.model
        sources = self._sources(prepared.passages)
        approvals = ToolApprovals(
            needs_approval(self._catalog),
            self._approvals,
            self._clock,
            self._progress.approved_tools,
            prepared.asked,
        )

        async def suspend(state: AgentState) -> str:
            suspended = SuspendedAgent(state, self._memory, self._standing(sources, approvals))
            return await asyncio.to_thread(suspension.write, suspended)

        scope = TurnScope(
            emit=self._emit,
            model=model.model,
            model_name=model.name,
            gate=model.gate,
            cache=prepared.cache,
            tools=self._progress.draft.offer.tools,
            tool_scope=ToolScope(
                self._caller,
                context.matter_id if context else None,
                (context.document_id or None) if context else None,
            ),
            limits=self._limits,
            sources=sources,
            text=self._text,
            memory=self._memory,
            clock=self._clock,
            approvals=approvals,
            suspend=suspend,
            spans=self._agent.spans,
        )
        # Each cycle is at most two steps, and at most two more calls follow at the tool limit.
        config = RunnableConfig(recursion_limit=2 * self._limits.max_turns + 8)
        # LangGraph would send all of it to LangSmith where variables of the environment say so.
        with tracing_context(enabled=False):
            state = cast("AgentState", await self._agent.graph.ainvoke(prepared.state, config, context=scope))
        if state["exit_reason"] is None:
            raise RuntimeError("the graph ended without an exit reason")
        return self._outcome(state["exit_reason"])

    def _sources(self, passages: Iterable[Passage]) -> Sources:
        """What the message came with, and what tools have found before."""
        context = self._progress.request_context
        assets = context.assets if context else ()
        images = (asset for asset in assets if asset.kind is AssetKind.IMAGE)
        shown = [number for number, image in enumerate(images, 1) if image.included]
        lines = [asset.text for asset in assets if asset.text]
        sources = Sources(lines, shown, self._progress.draft.offer.references)
        for passage in passages:
            sources.number(passage)
        return sources

    def _standing(self, sources: Sources, approvals: ToolApprovals) -> Standing:
        progress = self._progress
        return Standing(
            text=progress.text,
            history=progress.history,
            request_context=progress.request_context,
            resolved=progress.resolved,
            contents=progress.draft.contents,
            passages=sources.passages,
            texts=self._text.texts,
            approved=tuple(approvals.approved),
            asked=tuple(approvals.asked),
            used_s=self._clock.used_s,
        )

    def _context(self, assets: Sequence[AssetUse]) -> RequestContext:
        progress, limit = self._progress, self._limits.max_context_chars
        return self._agent.drafter.context(progress.draft, progress.resolved.context, assets, limit)

    def _payload(self, context: RequestContext) -> ModelPayload:
        progress = self._progress
        return build_payload(context, progress.history, progress.text, progress.draft.contents)

    def _filled(self, context: RequestContext, characters: int, sha256: str) -> RequestContext:
        """With the figures of its payload."""
        near_limit = self._agent.drafter.fills_most_of(characters, self._room)
        fill = replace(context.fill, characters_used=characters, near_limit=context.fill.near_limit or near_limit)
        return replace(context, fill=fill, payload_sha256=sha256)

    def _announce(self, model: NamedChatModel, context: RequestContext) -> None:
        """Emits the turn's first event."""
        self._memory.model = model.name
        self._progress.request_context = context
        self._emit(TurnStart(context, self._request.session_id, model.name))

    def _announce_without_model(self, model: NamedChatModel, characters: int = 0) -> None:
        self._progress.draft = Draft()
        context = unused_context(self._progress.resolved.context, self._request, self._limits.max_context_chars)
        self._announce(model, replace(context, fill=replace(context.fill, characters_used=characters)))

    def _say(self, model: NamedChatModel, sentence: str, problem: ContextProblem | None = None) -> TurnOutcome:
        """Answers without the model."""
        self._announce_without_model(model)
        self._memory.answer = sentence
        self._memory.context_problem = problem
        return self._outcome(ExitReason.COMPLETED)

    def _outcome(self, reason: ExitReason) -> TurnOutcome:
        progress = self._progress
        outcome = make_outcome(
            reason,
            self._memory,
            text=progress.text,
            history=progress.history,
            request_context=progress.request_context,
            turn_id=self._turn_id,
            resolved=progress.resolved,
            new_session=self._catalog.new_session(),
            duration_s=self._clock.used_s,
            reference_contents=progress.draft.contents,
        )
        is_called = progress.request_context is not None and progress.request_context.payload_sha256
        return replace(outcome, contents=progress.draft.contents) if is_called else outcome

    def _has_sources(self) -> bool:
        """Whether there is anything that an answer could rest on: a matter, the message's own assets, documentation, or
        tools of other servers."""
        request, draft = self._request, self._progress.draft
        has_assets = request.image_urls or request.document_context
        others = draft.documentation_version or draft.offer.has_tools_of_others
        return bool(self._progress.resolved.context or has_assets or others)


def _progress_of(standing: Standing, drafter: Drafter) -> Progress:
    items = standing.request_context.items if standing.request_context else ()
    return Progress(
        text=standing.text,
        history=standing.history,
        request_context=standing.request_context,
        resolved=standing.resolved,
        draft=drafter.again(items, standing.contents),
        approved_tools=standing.approved,
    )


def _acknowledge(context: MatterContext | None) -> str:
    if context is None:
        return ASK_FOR_MATTER
    if context.document_name:
        return f'Noted: we are looking at "{context.document_name}" in the matter "{context.matter_name}".'
    return f'Noted: we are looking at the matter "{context.matter_name}".'


def _or(value: int | None, default: int) -> int:
    return default if value is None else value
