"""The graph: `llm` and `tools` in turn until one of them gives an exit reason."""

from langchain_core.messages import AIMessage
from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph

from proviso_service.agent.llm_node import LlmNode, is_empty_reply
from proviso_service.agent.state import AgentState, TurnScope
from proviso_service.agent.tools_node import ToolsNode
from proviso_service.turns import ExitReason

Graph = CompiledStateGraph[AgentState, TurnScope, AgentState, AgentState]


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
