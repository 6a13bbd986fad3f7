"""A server in the way most agents of this kind are served: the same graph behind FastAPI, with the events of
LangGraph's `astream_events` sent as server-sent events. It has no storage, no log and no checks.

`python -m benchmarks.servers.fastapi_events`"""

import asyncio
import json
import operator
import socket
from collections.abc import AsyncIterator
from typing import Annotated, Any, TypedDict

import uvicorn
from fastapi import FastAPI
from fastapi.responses import StreamingResponse
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, SystemMessage
from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from pydantic import BaseModel

from benchmarks.chat_model import BenchmarkChatModel
from benchmarks.servers.lifetime import serve_until_closed
from benchmarks.workload import WORKLOADS

_PROMPT = "You are an assistant that answers questions about the documents of a legal matter."


class State(TypedDict):
    messages: Annotated[list[AnyMessage], operator.add]
    turns: int
    tool_calls: int
    exit_reason: str | None


class Ask(BaseModel):
    workload: str
    message: str


def graph_of(model: BenchmarkChatModel) -> CompiledStateGraph[State, None, State, State]:
    """A graph in which `llm` and `tools` alternate, as in the service's graph."""

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


def application() -> FastAPI:
    """The application, whose `POST /chat` streams a turn."""
    graphs = {name: graph_of(BenchmarkChatModel.of(workload)) for name, workload in WORKLOADS.items()}
    app = FastAPI()

    async def events(asked: Ask) -> AsyncIterator[str]:
        start = State(
            messages=[SystemMessage(_PROMPT), HumanMessage(asked.message)], turns=0, tool_calls=0, exit_reason=None
        )
        yield _event({"event": "start"})
        async for event in graphs[asked.workload].astream_events(start, version="v2"):
            if event["event"] == "on_chat_model_stream":
                yield _event({"event": "token", "text": event["data"]["chunk"].content})
            elif event["event"] == "on_chain_end" and not event["parent_ids"]:
                yield _event({"event": "final", "message": event["data"]["output"]["messages"][-1].content})

    @app.post("/chat")
    async def chat(asked: Ask) -> StreamingResponse:
        return StreamingResponse(events(asked), media_type="text/event-stream")

    return app


def _event(data: dict[str, Any]) -> str:
    return f"data: {json.dumps(data)}\n\n"


async def _run() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        server = uvicorn.Server(uvicorn.Config(application(), log_level="warning", access_log=False, lifespan="off"))
        serving = asyncio.create_task(server.serve(sockets=[listening]))
        await serve_until_closed(listening.getsockname()[1])
        server.should_exit = True
        await serving


if __name__ == "__main__":
    asyncio.run(_run())
