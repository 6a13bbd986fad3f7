"""One turn of the agent: runs the graph of `llm` and `tools` on what was prepared, and makes the outcome."""

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import cast

from langchain_core.messages import AIMessage
from langchain_core.runnables import RunnableConfig
from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langsmith import tracing_context

from proviso_service.agent import suspension
from proviso_service.agent.approvals import ToolApprovals
from proviso_service.agent.caching import NoCache, TurnCache
from proviso_service.agent.chat_models import NamedChatModel
from proviso_service.agent.grounding import Sources
from proviso_service.agent.llm_node import LlmNode, is_empty_reply
from proviso_service.agent.outcome import make_outcome
from proviso_service.agent.preparation import Ended, Means, Preparation, Progress
from proviso_service.agent.request_context import Drafter
from proviso_service.agent.state import AgentState, AnswerText, Limits, TurnMemory, TurnScope
from proviso_service.agent.suspension import Standing, SuspendedAgent
from proviso_service.agent.tool_calls import output_json_bytes
from proviso_service.agent.tools_node import ToolsNode
from proviso_service.context.model import AssetKind, RequestContext
from proviso_service.identity import Caller
from proviso_service.settings import TurnSettings
from proviso_service.telemetry.spans import Spans
from proviso_service.tools.base import Passage, ToolScope
from proviso_service.turns import (
    DiscardReason,
    Emit,
    ExitReason,
    Retryable,
    TurnApprovals,
    TurnClock,
    TurnOptions,
    TurnOutcome,
    TurnRequest,
    TurnStart,
)

Graph = CompiledStateGraph[AgentState, TurnScope, AgentState, AgentState]


@dataclass(frozen=True, slots=True)
class Engine:
    """What runs the turns of the agent, beside what they are prepared with."""

    means: Means
    graph: Graph
    spans: Spans


@dataclass(frozen=True, slots=True)
class Start:
    """What the graph begins with: the first call of the model, or where a turn that was suspended stood."""

    state: AgentState
    cache: TurnCache | NoCache
    passages: tuple[Passage, ...] = ()
    asked: tuple[str, ...] = ()


class AgentExecution:
    """One run of the agent, with the catalog of its beginning."""

    def __init__(
        self,
        engine: Engine,
        caller: Caller,
        turn_id: str,
        request: TurnRequest,
        emit: Emit,
        approvals: TurnApprovals,
        suspended: SuspendedAgent | None = None,
    ) -> None:
        """A turn that was `suspended` goes on where it stood."""
        means = engine.means
        self._engine = engine
        self._caller = caller
        self._turn_id = turn_id
        self._request = request
        self._emit = emit
        self._approvals = approvals
        self._suspended = suspended
        self._catalog = means.catalog.current
        self._memory = suspended.memory if suspended else TurnMemory()
        self._text = AnswerText(emit, suspended.standing.texts if suspended else 0)
        self._progress = _progress_of(suspended.standing, means.drafter) if suspended else Progress()
        self._clock = TurnClock(means.turns.time_limit_s, suspended.standing.used_s if suspended else None)
        self._limits = limits_of(request.options, means.turns)

    async def run(self) -> TurnOutcome:
        try:
            outcome = await (self._go_on(self._suspended) if self._suspended else self._begin())
        except BaseException:
            self._text.discard(DiscardReason.NOT_FINAL)
            raise
        self._text.settle(outcome.final_state.message)
        return outcome

    @property
    def _model(self) -> NamedChatModel:
        """The one that the turn began with, also after a restart."""
        return self._engine.means.models.get(self._memory.model or self._request.options.model)

    async def _begin(self) -> TurnOutcome:
        preparation = Preparation(
            self._engine.means, self._caller, self._request, self._limits, self._catalog, self._progress
        )
        prepared = await preparation.run()
        self._announce(prepared.context)
        if isinstance(prepared, Ended):
            self._memory.answer = prepared.sentence
            self._memory.context_problem = prepared.problem
            return self._outcome(prepared.reason)
        start = AgentState(messages=prepared.messages, turns=0, tool_calls=0, exit_reason=None)
        return await self._run_graph(Start(start, prepared.cache))

    async def _go_on(self, suspended: SuspendedAgent) -> TurnOutcome:
        """Its clock goes on now. It keeps no replies: what they depend on may have changed since."""
        standing = suspended.standing
        self._clock.start()
        return await self._run_graph(Start(suspended.state, NoCache(), standing.passages, standing.asked))

    def interrupted(self, reason: ExitReason, retryable: Retryable) -> TurnOutcome:
        for call, decision in self._approvals.made:  # also where others that it waited for are missing
            self._memory.note_decision(call.call_id, call.ref, decision)
        outcome = self._outcome(reason)
        return replace(outcome, final_state=replace(outcome.final_state, retryable=retryable))

    def left(self) -> None:
        """All that it goes on from is stored."""

    async def _run_graph(self, start: Start) -> TurnOutcome:
        context, model = self._progress.resolved.context, self._model
        sources = self._sources(start.passages)
        approvals = ToolApprovals(
            self._catalog,
            self._engine.means.catalog,
            self._approvals,
            self._clock,
            self._progress.approved_tools,
            start.asked,
        )

        async def suspend(state: AgentState) -> str:
            suspended = SuspendedAgent(state, self._memory, self._standing(sources, approvals))
            return await asyncio.to_thread(suspension.write, suspended)

        scope = TurnScope(
            emit=self._emit,
            model=model.model,
            model_name=model.name,
            gate=model.gate,
            cache=start.cache,
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
            spans=self._engine.spans,
        )
        # Each cycle is at most two steps, and at most two more calls follow at the tool limit.
        config = RunnableConfig(recursion_limit=2 * self._limits.max_turns + 8)
        # LangGraph would send all of it to LangSmith where variables of the environment say so.
        with tracing_context(enabled=False):
            state = cast("AgentState", await self._engine.graph.ainvoke(start.state, config, context=scope))
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

    def _announce(self, context: RequestContext) -> None:
        """Emits the turn's first event."""
        self._memory.model = self._model.name
        self._progress.request_context = context
        self._emit(TurnStart(context, self._request.session_id, self._memory.model))

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


def limits_of(options: TurnOptions, turns: TurnSettings) -> Limits:
    """Those of the settings, lowered where the request says so."""
    return Limits(
        max_turns=_or(options.max_turns, turns.max_turns),
        max_tool_calls=_or(options.max_tool_calls, turns.max_tool_calls),
        max_context_chars=_or(options.max_context_chars, turns.max_context_chars),
        tool_result_chars=turns.tool_result_chars,
        output_json_bytes=output_json_bytes(turns),
    )


def _or(value: int | None, default: int) -> int:
    return default if value is None else value


def build_graph(llm: LlmNode, tools: ToolsNode) -> Graph:
    """Compiled once and shared by all turns; what a turn needs comes with its runtime context.

    The edges' functions are coroutines although they await nothing: LangGraph runs plain functions in a thread."""
    builder = StateGraph(AgentState, context_schema=TurnScope)
    builder.add_node("llm", llm)
    builder.add_node("tools", tools)
    builder.add_conditional_edges(START, _first, ["llm", "tools"])
    builder.add_conditional_edges("llm", _after_llm, ["llm", "tools", END])
    builder.add_conditional_edges("tools", _after_tools, ["llm", END])
    return builder.compile()


async def _first(state: AgentState) -> str:
    """A turn that waited for a person goes on where it was."""
    return "tools" if _wants_tools(state) else "llm"


async def _after_llm(state: AgentState) -> str:
    last = state["messages"][-1]
    reason = state["exit_reason"]
    if reason is ExitReason.MAX_TOOL_CALLS_REACHED:
        # The answer step is over once the model has written something that was not refused.
        return END if isinstance(last, AIMessage) and not is_empty_reply(last) else "llm"
    if reason is not None:
        return END
    return "tools" if _wants_tools(state) else "llm"


def _wants_tools(state: AgentState) -> bool:
    last = state["messages"][-1]
    return isinstance(last, AIMessage) and bool(last.tool_calls or last.invalid_tool_calls)


async def _after_tools(state: AgentState) -> str:
    return "llm" if state["exit_reason"] in (None, ExitReason.MAX_TOOL_CALLS_REACHED) else END
