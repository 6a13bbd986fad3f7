"""The agent as the program of a turn: prepares the payload, runs the graph, makes the outcome."""

import asyncio
import time
from dataclasses import dataclass, field, replace
from typing import cast

from langchain_core.messages import AnyMessage, SystemMessage
from langchain_core.runnables import RunnableConfig
from langsmith import tracing_context

from proviso_service.agent.answer_text import AnswerText
from proviso_service.agent.caching.ports import CacheScope
from proviso_service.agent.caching.turn_cache import Caches, NoCache, Payload, TurnCache
from proviso_service.agent.chat_models import ChatModels, NamedChatModel
from proviso_service.agent.conversation import (
    history_messages,
    payload_sha256,
    trim_messages,
    user_message,
    without_repeats,
)
from proviso_service.agent.graph import Graph, build_graph
from proviso_service.agent.images import ImageLoader, MessageImages
from proviso_service.agent.llm_node import LlmNode
from proviso_service.agent.matter_context import (
    ASK_FOR_MATTER,
    MatterReader,
    Resolved,
    last_known_in,
    resolve,
)
from proviso_service.agent.offered_tools import DocumentationReader, Offer, OfferedTools
from proviso_service.agent.outcome import make_outcome
from proviso_service.agent.prompts import SYSTEM_PROMPT
from proviso_service.agent.request_context import MODEL_NOT_CALLED, build_request_context
from proviso_service.agent.retries import RetryPolicy
from proviso_service.agent.sources import Sources
from proviso_service.agent.state import AgentState, Limits, TurnMemory, TurnScope
from proviso_service.agent.tool_sizes import output_json_bytes
from proviso_service.agent.tools_node import ToolsNode
from proviso_service.context.catalog.holder import CatalogHolder
from proviso_service.context.marker import parse_marker
from proviso_service.context.model import MatterContext, RequestContext
from proviso_service.context.sessions import SessionStore
from proviso_service.security.identity import Caller
from proviso_service.settings import ContextSettings, TurnSettings
from proviso_service.telemetry.spans import NO_SPANS, Spans
from proviso_service.tools.base import ToolScope
from proviso_service.tools.registry import ToolRegistry
from proviso_service.turns.events import ContextProblem, DiscardReason, TurnStart
from proviso_service.turns.exit_reasons import ExitReason, Retryable
from proviso_service.turns.ports import Emit, HistoryMessage, TurnOutcome, TurnRequest


class Agent:
    """The TurnProgram of the service. Built once; a turn's state lives in its AgentExecution. Without `caches` nothing
    is kept from turn to turn."""

    def __init__(
        self,
        models: ChatModels,
        tools: ToolRegistry,
        sessions: SessionStore,
        matters: MatterReader,
        documentation: DocumentationReader,
        images: ImageLoader,
        turns: TurnSettings,
        context: ContextSettings,
        catalog: CatalogHolder,
        caches: Caches | None = None,
        spans: Spans = NO_SPANS,
    ) -> None:
        self.models = models
        self.tools = OfferedTools(tools, documentation)
        self.sessions = sessions
        self.matters = matters
        self.images = images
        self.turns = turns
        self.context = context
        self.catalog = catalog
        self.caches = caches
        self.spans = spans
        self.graph: Graph = build_graph(
            LlmNode(RetryPolicy(turns.model_retries, turns.retry_base_s, turns.retry_max_s)),
            ToolsNode(RetryPolicy(turns.tool_retries, turns.retry_base_s, turns.retry_max_s)),
        )

    def start(self, caller: Caller, turn_id: str, request: TurnRequest, emit: Emit) -> "AgentExecution":
        return AgentExecution(self, caller, turn_id, request, emit)


@dataclass(slots=True)
class Progress:
    """What an execution knows so far; the outcome is made of it at any moment. There is no `offer` of tools before it
    is known that the model is called."""

    text: str = ""
    history: tuple[HistoryMessage, ...] = ()
    request_context: RequestContext | None = None
    resolved: Resolved = Resolved(None)
    images: MessageImages = MessageImages()
    offer: Offer = field(default_factory=lambda: Offer(ToolRegistry(()), 0))


class AgentExecution:
    """One run of the agent, with the catalog of its beginning."""

    def __init__(self, agent: Agent, caller: Caller, turn_id: str, request: TurnRequest, emit: Emit) -> None:
        self._agent = agent
        self._caller = caller
        self._turn_id = turn_id
        self._request = request
        self._emit = emit
        self._catalog = agent.catalog.current
        self._memory = TurnMemory()
        self._text = AnswerText(emit)
        self._progress = Progress()
        self._started = time.monotonic()
        self._deadline = self._started + agent.turns.time_limit_s
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
            outcome = await self._decide()
        except BaseException:
            self._text.discard(DiscardReason.NOT_FINAL)
            raise
        self._text.settle(outcome.final_state.message)
        return outcome

    async def _decide(self) -> TurnOutcome:
        model = self._agent.models.get(self._request.options.model)
        last_known = await self._last_known_context()
        marked = parse_marker(self._request.message)
        given = self._request.matter_context or marked.context
        progress = self._progress
        progress.text = marked.text
        marker_only = marked.context is not None and not marked.text.strip()
        if not marked.text.strip() and not marker_only:
            self._announce(model, [])
            return self._outcome(ExitReason.EMPTY_INPUT)

        progress.history = await self._history()
        progress.resolved = await resolve(self._caller.tenant, given, last_known, self._agent.matters)
        if progress.resolved.problem is not None:
            return self._say(model, progress.resolved.sentence, progress.resolved.problem)
        if marker_only:
            return self._say(model, _acknowledge(progress.resolved.context))
        progress.offer = await self._agent.tools.of(self._caller.tenant)
        is_grounded = progress.resolved.context or self._has_assets() or progress.offer.documentation_version
        if not is_grounded:
            return self._say(model, ASK_FOR_MATTER, ContextProblem.MATTER_REQUIRED)
        return await self._answer(model)

    def interrupted(self, reason: ExitReason, retryable: Retryable) -> TurnOutcome:
        outcome = self._outcome(reason)
        return replace(outcome, final_state=replace(outcome.final_state, retryable=retryable))

    async def _last_known_context(self) -> MatterContext | None:
        """What the conversation last knew; its session is made when unknown."""
        request, agent = self._request, self._agent
        if not request.session_id:
            return last_known_in(request.history)
        session = await agent.sessions.get_or_create(self._caller, request.session_id, self._catalog.session_items())
        return session.matter_context

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

    async def _answer(self, model: NamedChatModel) -> TurnOutcome:
        if (characters := self._characters(self._payload())) > self._room:
            return self._too_long(model, characters)
        cache_scope = await self._cache_scope()
        self._progress.images = await self._agent.images.load(self._request.image_urls, model, self._caller.tenant)
        messages = self._payload()
        # What is said of images that could not be loaded counts, too.
        if (characters := self._characters(messages)) > self._room:
            return self._too_long(model, characters)
        payload = await self._identify(messages)
        self._announce(model, messages, characters, payload.sha256)
        state = await self._run_graph(model, messages, self._turn_cache(cache_scope, model, payload))
        reason = state["exit_reason"]
        if reason is None:
            raise RuntimeError("the graph ended without an exit reason")
        return self._outcome(reason)

    @property
    def _room(self) -> int:
        """Characters that the payload may have, so that a tool's result still fits."""
        return self._limits.max_context_chars - self._agent.turns.min_tool_result_chars

    def _characters(self, messages: list[AnyMessage]) -> int:
        return trim_messages(messages, self._limits.max_context_chars).characters

    def _too_long(self, model: NamedChatModel, characters: int) -> TurnOutcome:
        self._announce(model, [], characters)
        return self._outcome(ExitReason.MAX_CONTEXT_REACHED)

    async def _cache_scope(self) -> CacheScope | None:
        """Whose texts the turn keeps, as of now; None where it neither finds nor keeps anything."""
        caches, context = self._agent.caches, self._progress.resolved.context
        if caches is None or self._request.options.disable_cache:
            return None
        versions = (self._progress.resolved.index_version, self._progress.offer.documentation_version)
        scope = CacheScope(self._caller.tenant, context.matter_id if context else "", versions)
        await caches.forget_other_versions(scope)
        return scope

    def _turn_cache(self, scope: CacheScope | None, model: NamedChatModel, payload: Payload) -> TurnCache | NoCache:
        if scope is None or self._agent.caches is None:
            return NoCache()
        return TurnCache(self._agent.caches, scope, f"{model.identity} {self._limits}", payload)

    async def _identify(self, messages: list[AnyMessage]) -> Payload:
        """In a thread where there are images to read."""
        tools = self._progress.offer.tools.schemas_sha256
        if self._progress.images.shown:
            return Payload(await asyncio.to_thread(payload_sha256, messages, tools), len(messages))
        return Payload(payload_sha256(messages, tools), len(messages))

    async def _run_graph(
        self, model: NamedChatModel, messages: list[AnyMessage], cache: TurnCache | NoCache
    ) -> AgentState:
        context = self._progress.resolved.context
        scope = TurnScope(
            emit=self._emit,
            model=model.model,
            model_name=model.name,
            gate=model.gate,
            cache=cache,
            tools=self._progress.offer.tools,
            tool_scope=ToolScope(
                self._caller,
                context.matter_id if context else None,
                (context.document_id or None) if context else None,
            ),
            limits=self._limits,
            sources=Sources((d.summary for d in self._request.document_context), self._progress.images.shown),
            text=self._text,
            memory=self._memory,
            deadline=self._deadline,
            spans=self._agent.spans,
        )
        start = AgentState(messages=messages, turns=0, tool_calls=0, exit_reason=None)
        # Each cycle is at most two steps, and at most two more calls follow at the tool limit.
        config = RunnableConfig(recursion_limit=2 * self._limits.max_turns + 8)
        # LangGraph would send all of it to LangSmith where variables of the environment say so.
        with tracing_context(enabled=False):
            return cast("AgentState", await self._agent.graph.ainvoke(start, config, context=scope))

    def _payload(self) -> list[AnyMessage]:
        request = self._request
        message = user_message(
            self._progress.text,
            self._progress.resolved.context,
            request.document_context,
            self._agent.context.summary_chars,
        )
        return [
            SystemMessage(SYSTEM_PROMPT),
            *history_messages(self._progress.history),
            self._progress.images.after(message),
        ]

    def _announce(
        self, model: NamedChatModel, messages: list[AnyMessage], characters: int = 0, sha256: str = ""
    ) -> None:
        """Builds the request context and emits the turn's first event. Without `messages` the model is not called."""
        tools = self._progress.offer.tools
        self._progress.request_context = build_request_context(
            tools.context_items() if messages else (),
            self._progress.resolved.context,
            self._request,
            "" if messages else MODEL_NOT_CALLED,
            self._progress.images.notes if messages else [MODEL_NOT_CALLED] * len(self._request.image_urls),
            characters,
            self._limits.max_context_chars,
            sha256,
        )
        self._emit(TurnStart(self._progress.request_context, self._request.session_id, model.name))

    def _say(self, model: NamedChatModel, sentence: str, problem: ContextProblem | None = None) -> TurnOutcome:
        """Answers without the model."""
        self._announce(model, [])
        self._memory.answer = sentence
        self._memory.context_problem = problem
        return self._outcome(ExitReason.COMPLETED)

    def _outcome(self, reason: ExitReason) -> TurnOutcome:
        progress = self._progress
        return make_outcome(
            reason,
            self._memory,
            text=progress.text,
            history=progress.history,
            request_context=progress.request_context,
            turn_id=self._turn_id,
            resolved=progress.resolved,
            session_items=self._catalog.session_items(),
            duration_s=time.monotonic() - self._started,
        )

    def _has_assets(self) -> bool:
        return bool(self._request.image_urls or self._request.document_context)


def _acknowledge(context: MatterContext | None) -> str:
    if context is None:
        return ASK_FOR_MATTER
    if context.document_name:
        return f'Noted: we are looking at "{context.document_name}" in the matter "{context.matter_name}".'
    return f'Noted: we are looking at the matter "{context.matter_name}".'


def _or(value: int | None, default: int) -> int:
    return default if value is None else value
