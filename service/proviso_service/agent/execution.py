"""The agent as the program that the turn engine runs. One execution is one turn: it runs the graph of `llm` and `tools`
on what was prepared, and makes the outcome."""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, cast

from langchain_core.messages import AIMessage, AnyMessage, ToolMessage
from langchain_core.runnables import RunnableConfig
from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.runtime import Runtime
from langgraph.types import Command

from proviso_service.agent import suspension
from proviso_service.agent.approvals import ToolApprovals
from proviso_service.agent.caching import NoCache, TurnCache
from proviso_service.agent.chat_models import NamedChatModel
from proviso_service.agent.grounding import Sources
from proviso_service.agent.llm_node import LlmNode, is_empty_reply
from proviso_service.agent.outcome import make_outcome
from proviso_service.agent.preparation import AgentDependencies, Preparation
from proviso_service.agent.state import (
    NONE_CALLED,
    NONE_UNDER_WAY,
    AgentLimits,
    AgentState,
    AnswerText,
    CallsUnderWay,
    TurnMemory,
    TurnScope,
)
from proviso_service.agent.suspension import SuspendedAgent
from proviso_service.agent.tool_calls import output_json_bytes, result_data
from proviso_service.agent.tools_node import ToolsNode
from proviso_service.context.model import OWN_SERVER, AssetKind, RequestContext
from proviso_service.identity import Caller
from proviso_service.retrying import Backoff, RetryPolicy
from proviso_service.tools.base import SourcePassage, ToolScope
from proviso_service.tools.document_on_view import with_document_on_view
from proviso_service.tools.registry import ToolRegistry
from proviso_service.turns import (
    DiscardReason,
    ExitCause,
    ExitReason,
    RunningTurn,
    SuspensionUnreadable,
    TextRelease,
    TurnConfig,
    TurnOptions,
    TurnOutcome,
    TurnRequest,
    TurnStart,
)

Graph = CompiledStateGraph[AgentState, TurnScope, AgentState, AgentState]


class AgentExecution:
    """Runs one turn of the agent, from its message or from where it was suspended. The turn keeps the catalog that it
    began with."""

    def __init__(
        self,
        dependencies: AgentDependencies,
        graph: Graph,
        turn: RunningTurn,
        suspended: SuspendedAgent | None = None,
    ) -> None:
        """Prepares a new turn, or one that was `suspended` and goes on from there. Raises ValueError or KeyError where
        contents that the suspended turn names are damaged or missing."""
        self._dependencies = dependencies
        self._graph = graph
        self._turn = turn
        self._suspended = suspended
        self._catalog = dependencies.catalog.current
        self._memory = self._restored(suspended) if suspended else TurnMemory()
        self._text = AnswerText(turn.emit, suspended.texts if suspended else 0)
        self._has_voided = False
        self._found = Sources()
        self._limits = limits_of(turn.request.options, dependencies.turns)
        if suspended is None:
            self._preparation = Preparation(
                dependencies, turn.caller, turn.request, self._limits, self._catalog, self._memory
            )

    async def run(self) -> TurnOutcome:
        try:
            outcome = await (self._go_on(self._suspended) if self._suspended else self._begin())
        except BaseException:
            self._text.discard(DiscardReason.NOT_FINAL)
            raise
        self._text.settle(outcome.final_state.message)
        return outcome

    def interrupted(self, reason: ExitReason, cause: ExitCause | None = None) -> TurnOutcome:
        for call, decision in self._turn.approvals.made:  # also where decisions on other calls are missing
            self._memory.note_decision(call.call_id, call.ref, decision)
        return self._outcome(reason, cause)

    def release(self) -> None:
        """Nothing remains to be done: all that the turn goes on from is stored."""

    def _restored(self, suspended: SuspendedAgent) -> TurnMemory:
        """The memory of a turn that was suspended, with its items, of which only the contents are stored."""
        memory = suspended.memory
        items = memory.request_context.items if memory.request_context else ()
        memory.items = self._dependencies.request_contexts.restore(items, suspended.contents)
        return memory

    async def _begin(self) -> TurnOutcome:
        prepared = await self._preparation.run()
        self._announce()
        if self._turn.was_cut:
            self._void_text()
        if isinstance(prepared, ExitReason):
            return self._outcome(prepared, self._memory.exit_cause)
        state = AgentState(messages=prepared, turns=0, tool_calls=0, exit_reason=None)
        return await self._run_graph(state, self._sources(), self._preparation.cache)

    async def _go_on(self, suspended: SuspendedAgent) -> TurnOutcome:
        """Goes on where a suspended turn stood. It keeps no replies, since what they depend on
        may have changed."""
        sources, messages = self._sources(suspended.passages), suspended.state["messages"]
        self._add_results(sources, (*messages, *suspended.answers))
        if self._turn.was_cut and not _wants_tools(messages):
            self._void_text()
        under_way = CallsUnderWay(suspended.calling, {answer.tool_call_id: answer for answer in suspended.answers})
        return await self._run_graph(suspended.state, sources, NoCache(), suspended.asked, under_way)

    def _void_text(self) -> None:
        """An earlier process may have been in the middle of a model call. Its attempts count as those of one call."""
        self._text.void(self._dependencies.turns.model_retries + 1)
        self._has_voided = True

    def _announce(self) -> None:
        """Emits the turn's first event."""
        self._memory.model = self._model.name
        if self._memory.request_context is None:
            raise RuntimeError("the preparation ended without a request context")
        self._turn.emit(TurnStart(self._memory.request_context, self._turn.request.session_id, self._memory.model))

    @property
    def _model(self) -> NamedChatModel:
        """The chat model that the turn began with, also after a restart."""
        return self._dependencies.models.get(self._memory.model or self._turn.request.options.model)

    async def _run_graph(
        self,
        state: AgentState,
        sources: Sources,
        cache: TurnCache | NoCache,
        asked: Sequence[str] = (),
        under_way: CallsUnderWay = NONE_UNDER_WAY,
    ) -> TurnOutcome:
        """Runs the graph from `state` to the end of the turn. `asked` are the ids of the calls that persons have been
        asked about before."""
        memory, self._found = self._memory, sources
        approvals = ToolApprovals(
            self._catalog, self._dependencies.catalog, self._turn.approvals, memory.approved_tools, asked
        )

        async def suspend(
            state: AgentState, calling: Mapping[str, bool] = NONE_CALLED, answers: Sequence[ToolMessage] = ()
        ) -> str:
            memory.approved_tools = tuple(approvals.approved)
            suspended = SuspendedAgent(
                state=state,
                memory=memory.snapshot(),
                contents=memory.items.contents,
                passages=sources.passages,
                texts=self._text.texts,
                asked=tuple(approvals.asked),
                calling=dict(calling),
                answers=tuple(answers),
            )
            return await asyncio.to_thread(suspension.write, suspended)

        async def checkpoint(
            state: AgentState, calling: Mapping[str, bool] = NONE_CALLED, answers: Sequence[ToolMessage] = ()
        ) -> None:
            await self._turn.checkpoint(await suspend(state, calling, answers))

        context = memory.matter_context

        async def check_matter() -> None:
            if context is not None:  # the turn may have waited for a person for long
                await self._dependencies.matters.authorise(self._turn.caller, context.matter_id)

        scope = TurnScope(
            emit=self._turn.emit,
            model=self._model,
            cache=cache,
            tools=self._tools(),
            tool_scope=ToolScope(
                self._turn.caller,
                context.matter_id if context else None,
                (context.document_id or None) if context else None,
                context.document_name if context else "",
            ),
            limits=self._limits,
            sources=sources,
            text=self._text,
            memory=memory,
            clock=self._turn.clock,
            approvals=approvals,
            suspend=suspend,
            checkpoint=checkpoint,
            under_way=under_way,
            check_matter=check_matter,
            asked_by=_asked_by(self._turn),
            spans=self._dependencies.spans,
            is_raw=self._turn.request.options.text_release is TextRelease.RAW,
        )
        if self._has_voided:  # should this process end, too, the next one has to void other texts than it did
            await checkpoint(state)
        # Each cycle is at most two steps, and at most two more calls follow at the tool limit.
        config = RunnableConfig(recursion_limit=2 * self._limits.max_turns + 8)
        # Otherwise LangGraph sends the whole turn to LangSmith where environment variables of LangSmith are set. Which
        # module this is can change until the first turn: see cli/lean_imports.py.
        from langsmith.run_helpers import tracing_context

        with tracing_context(enabled=False):
            given = cast("AgentState", {**state, _WAKES_LLM: None})
            ended = cast("AgentState", await self._graph.ainvoke(given, config, context=scope))
        if ended["exit_reason"] is None:
            raise RuntimeError("the graph ended without an exit reason")
        return self._outcome(ended["exit_reason"], memory.exit_cause)

    def _tools(self) -> ToolRegistry:
        """The tools that the model may call. With a document on view their results tell what became of it."""
        context, tools = self._memory.matter_context, self._memory.items.tools
        if context is None or not context.document_id:
            return tools
        return with_document_on_view(tools, self._dependencies.matters.reader)

    def _sources(self, passages: Iterable[SourcePassage] = ()) -> Sources:
        """The sources that the answer may quote: those that came with the message, and the passages that tools have
        found before."""
        memory = self._memory
        assets = memory.request_context.assets if memory.request_context else ()
        images = (asset for asset in assets if asset.kind is AssetKind.IMAGE)
        shown = {number: image.name for number, image in enumerate(images, 1) if image.included}
        summaries = {asset.name: asset.text for asset in assets if asset.text}
        context = memory.matter_context
        names = (context.matter_name, context.document_name) if context else ()
        matter_id = context.matter_id if context else ""
        sources = Sources(summaries, shown, memory.items.references, names, matter_id)
        for passage in passages:
            sources.number(passage)
        return sources

    def _add_results(self, sources: Sources, messages: Iterable[AnyMessage]) -> None:
        """Adds the results of the tools that were called before the turn was suspended."""
        records = {record.call_id: record for record in self._memory.tool_call_records if not record.error}
        for message in messages:
            if isinstance(message, ToolMessage) and (record := records.get(message.tool_call_id)):
                text = str(message.content)
                sources.add_result(
                    call_id=record.call_id,
                    tool=record.tool,
                    server_name=record.server_name,
                    text=text,
                    data=result_data(text),
                    is_own=record.server_name == OWN_SERVER,
                    asked=record.input_json,
                )

    def _outcome(self, reason: ExitReason, cause: ExitCause | None) -> TurnOutcome:
        return make_outcome(
            reason,
            cause,
            self._memory,
            turn_id=self._turn.turn_id,
            new_session=self._catalog.new_session,
            duration_s=self._turn.clock.used_s,
            documents_read=len({passage.document_id for passage in self._found.passages}),
        )


def _asked_by(turn: RunningTurn) -> str:
    return f"{turn.caller.tenant} {turn.caller.user or turn.request.session_id or turn.turn_id}"


def limits_of(options: TurnOptions, turns: TurnConfig) -> AgentLimits:
    """The limits of the settings, lowered where the request asks for lower ones."""
    return AgentLimits(
        max_turns=_or(options.max_turns, turns.max_turns),
        max_tool_calls=_or(options.max_tool_calls, turns.max_tool_calls),
        max_context_chars=_or(options.max_context_chars, turns.max_context_chars),
        tool_result_chars=turns.tool_result_chars,
        output_json_bytes=output_json_bytes(turns),
    )


def _or(value: int | None, default: int) -> int:
    return default if value is None else value


_WAKES_LLM = "branch:to:llm"
"""The channel of the graph that the node `llm` waits for."""


def build_graph(llm: LlmNode, tools: ToolsNode) -> Graph:
    """Builds the graph: the nodes `llm` and `tools` in turn until one of them gives an exit reason. It is compiled once
    and shared by all turns; what a turn needs comes with its runtime context.

    Each node says itself where to go from it. LangGraph would run conditional edges as steps of their own, which takes
    half as long again as the nodes."""

    async def call_model(state: AgentState, runtime: Runtime[TurnScope]) -> Command[str]:
        if _wants_tools(state["messages"]):
            return Command(goto="tools")  # the turn waited for a person, who has decided on these calls
        update = await llm(state, runtime)
        after = _updated(state, update)
        goto = _after_llm(after["messages"], after["exit_reason"])
        if goto == "llm":  # the node `tools` has its own checkpoints
            await runtime.context.checkpoint(after)
        return Command(update=update, goto=goto)

    async def call_tools(state: AgentState, runtime: Runtime[TurnScope]) -> Command[str]:
        update = await tools(state, runtime)
        after = _updated(state, update)
        if after["exit_reason"] not in (None, ExitReason.MAX_TOOL_CALLS_REACHED):
            return Command(update=update, goto=END)
        await runtime.context.checkpoint(after)
        return Command(update=update, goto="llm")

    builder = StateGraph(AgentState, context_schema=TurnScope)
    builder.add_node("llm", call_model, destinations=("llm", "tools", END))
    builder.add_node("tools", call_tools, destinations=("llm", END))
    builder.add_edge(START, "llm")
    graph = builder.compile()
    # The state goes into its channels and wakes the node at once: a step for the input costs as much as one of a node.
    graph.input_channels = [*AgentState.__annotations__, _WAKES_LLM]
    return graph


def _updated(state: AgentState, update: dict[str, Any]) -> AgentState:
    """The state once LangGraph has applied an update of a node to it."""
    messages = [*state["messages"], *update.get("messages", ())]
    return cast("AgentState", {**state, **update, "messages": messages})


def _after_llm(messages: Sequence[AnyMessage], reason: ExitReason | None) -> str:
    last = messages[-1]
    if reason is ExitReason.MAX_TOOL_CALLS_REACHED:
        # The answer step ends once the model has written something that is not empty, or twice nothing in the turn.
        is_over = sum(map(is_empty_reply, messages)) > 1
        return END if is_over or (isinstance(last, AIMessage) and not is_empty_reply(last)) else "llm"
    if reason is not None:
        return END
    return "tools" if _wants_tools(messages) else "llm"


def _wants_tools(messages: Sequence[AnyMessage]) -> bool:
    last = messages[-1]
    return isinstance(last, AIMessage) and bool(last.tool_calls or last.invalid_tool_calls)


class Agent:
    """The service's implementation of TurnProgram. One instance serves all turns; what belongs to one turn is in its
    AgentExecution."""

    def __init__(self, dependencies: AgentDependencies) -> None:
        turns = dependencies.turns
        self.dependencies = dependencies
        backoff = Backoff(turns.retry_base_s, turns.retry_max_s)
        self.graph = build_graph(
            LlmNode(RetryPolicy(turns.model_retries, backoff)), ToolsNode(RetryPolicy(turns.tool_retries, backoff))
        )

    def start(self, turn: RunningTurn) -> AgentExecution:
        return AgentExecution(self.dependencies, self.graph, turn)

    async def resume(self, turn: RunningTurn, state: str) -> AgentExecution:
        suspended = await asyncio.to_thread(suspension.read, state)
        if suspended.memory.model not in self.dependencies.models.names:
            raise SuspensionUnreadable("its chat model is not set up any more")
        try:
            return AgentExecution(self.dependencies, self.graph, turn, suspended)
        except (ValueError, KeyError) as error:  # contents that its request context names
            raise SuspensionUnreadable(f"damaged: {type(error).__name__}") from None

    async def forget(self, tenant: str) -> None:
        """Drops what is kept of the conversations of a tenant that has deleted something. Raises Unavailable where a
        cache that processes share cannot be reached."""
        self.dependencies.sent.forget()
        if self.dependencies.caches is not None:
            await self.dependencies.caches.forget_tenant(tenant)

    async def preview(self, caller: Caller, request: TurnRequest) -> RequestContext:
        """Returns the request context that a message would get. Nothing is stored, no image is loaded, no model is
        called."""
        dependencies, memory = self.dependencies, TurnMemory()
        limits, catalog = limits_of(request.options, dependencies.turns), dependencies.catalog.current
        preparation = Preparation(dependencies, caller, request, limits, catalog, memory, is_preview=True)
        await preparation.run()
        if memory.request_context is None:
            raise RuntimeError("the preparation ended without a request context")
        return memory.request_context
