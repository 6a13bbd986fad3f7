"""A server in the way most agents of this kind are served: the same graph behind FastAPI, with the events of
LangGraph's `astream_events` sent as server-sent events. It has no storage, no log and no checks.

`python -m benchmarks.servers.fastapi_events`"""

import asyncio
import json
import socket
from collections.abc import AsyncIterator
from typing import Any

import uvicorn
from fastapi import FastAPI
from fastapi.responses import StreamingResponse
from langchain_core.messages import HumanMessage, SystemMessage
from pydantic import BaseModel

from benchmarks.load import WORKLOADS
from benchmarks.servers.graph import PROMPT, State, graph_of
from benchmarks.servers.lifetime import serve_until_closed


class Ask(BaseModel):
    workload: str
    message: str


def application() -> FastAPI:
    """The application, whose `POST /chat` streams a turn."""
    graphs = {name: graph_of(workload) for name, workload in WORKLOADS.items()}
    app = FastAPI()

    async def events(asked: Ask) -> AsyncIterator[str]:
        start = State(
            messages=[SystemMessage(PROMPT), HumanMessage(asked.message)], turns=0, tool_calls=0, exit_reason=None
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
