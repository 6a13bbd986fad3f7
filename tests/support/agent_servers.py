"""Agents with MCP servers for tests: their folders, and what CatalogService tells of them."""

import asyncio
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import grpc

from proviso_client.v1 import catalog_pb2 as pb
from proviso_client.v1 import context_pb2
from proviso_client.v1.catalog_pb2_grpc import CatalogServiceStub
from proviso_service.mcp.model import ServerState
from tests.support.catalogs import AGENT, write
from tests.support.mcp_world import ODD
from tests.support.processes import children_of

MUTE = (str(ODD), os.devnull)
"""Arguments of a server that starts and never says a word."""


def odd_server(*arguments: str, **settings: Any) -> dict[str, Any]:
    """The odd server as agent.yaml has it."""
    return {"command": sys.executable, "args": list(arguments or (str(ODD),)), **settings}


def with_servers(folder: Path, servers: dict[str, Any], **more: Any) -> Path:
    """An agent's folder with these servers; JSON is YAML."""
    fields = {"mcp_servers": servers, **more}
    return write(folder, agent_yaml=AGENT + "".join(f"{name}: {json.dumps(value)}\n" for name, value in fields.items()))


def processes(word: str) -> set[int]:
    """Processes started by this one whose command has the word."""
    return {pid for pid in children_of(os.getpid()) if word in _command(pid)}


def _command(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_text()
    except OSError:
        return ""


class CatalogView:
    """The catalog as callers of the service see it."""

    def __init__(self, channel: grpc.aio.Channel) -> None:
        self.stub = CatalogServiceStub(channel)

    async def servers(self) -> dict[str, pb.ToolServer]:
        """In the order in which they are told."""
        told = await self.stub.ListToolServers(pb.ListToolServersRequest())
        return {server.name: server for server in told.servers}

    async def states(self) -> dict[str, ServerState]:
        """Of the MCP servers."""
        return {name: _state(server) for name, server in (await self.servers()).items() if name != "proviso"}

    async def until(self, name: str, wanted: Callable[[pb.ToolServer], bool]) -> pb.ToolServer:
        async with asyncio.timeout(60):
            while True:
                server = (await self.servers())[name]
                if wanted(server):
                    return server
                await asyncio.sleep(0.02)

    async def until_state(self, name: str, state: ServerState, starts: int = 1) -> pb.ToolServer:
        return await self.until(name, lambda server: _state(server) is state and server.starts >= starts)

    async def tools(self) -> dict[tuple[str, str], pb.CatalogItem]:
        """By server and name."""
        found: dict[tuple[str, str], pb.CatalogItem] = {}
        token = ""
        while True:
            asked = pb.ListContextItemsRequest(type=context_pb2.CONTEXT_ITEM_TYPE_TOOL, page_size=100, page_token=token)
            page = await self.stub.ListContextItems(asked)
            found |= {(item.item.server_name, item.item.name): item for item in page.items}
            if not (token := page.next_page_token):
                return found

    async def content(self, server: str, name: str) -> dict[str, Any]:
        ref = context_pb2.ContextItemRef(type=context_pb2.CONTEXT_ITEM_TYPE_TOOL, name=name, server_name=server)
        found = await self.stub.GetContextItem(pb.GetContextItemRequest(item=ref))
        shown: dict[str, Any] = json.loads(found.content)
        return shown

    async def reload(self) -> int:
        return (await self.stub.ReloadCatalog(pb.ReloadCatalogRequest())).item_count


def _state(server: pb.ToolServer) -> ServerState:
    return ServerState[pb.ToolServerState.Name(server.state).removeprefix("TOOL_SERVER_STATE_")]
