"""The agent of the other servers: a graph of the service's two nodes, with the benchmark's chat model."""

import operator
from typing import Annotated, Any, TypedDict

from langchain_core.messages import AIMessage, AnyMessage
from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph

from benchmarks.chat_model import BenchmarkChatModel
from benchmarks.load import Workload

PROMPT = "You are an assistant that answers questions about the documents of a legal matter."


class State(TypedDict):
    messages: Annotated[list[AnyMessage], operator.add]
    turns: int
    tool_calls: int
    exit_reason: str | None


def graph_of(workload: Workload) -> CompiledStateGraph[State, None, State, State]:
    """A graph in which `llm` and `tools` alternate, as in the service's graph."""
    model = BenchmarkChatModel.of(workload)

    async def llm(state: State) -> dict[str, Any]:
        return {"messages": [await model.ainvoke(state["messages"])], "turns": state["turns"] + 1}

    async def tools(state: State) -> dict[str, Any]:
        return {"tool_calls": state["tool_calls"] + 1}

    async def after_llm(state: State) -> str:
        last = state["messages"][-1]
        return "tools" if isinstance(last, AIMessage) and last.tool_calls else END

    builder = StateGraph(State)
    builder.add_node("llm", llm)
    builder.add_node("tools", tools)
    builder.add_edge(START, "llm")
    builder.add_conditional_edges("llm", after_llm, ["tools", END])
    builder.add_edge("tools", "llm")
    return builder.compile()
