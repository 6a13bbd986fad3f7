"""`proviso agent check`: shows what an agent's folder holds, or what is wrong with it, without a server."""

import asyncio
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from proviso_service.agent_catalog import load_agent_folder
from proviso_service.cli.configuration import load_settings
from proviso_service.cli.output import UsageProblem, print_json, printable
from proviso_service.context.catalog.catalog import AgentDefinition
from proviso_service.context.catalog.items import Approval, CatalogItem, McpServer, ToolPolicy
from proviso_service.context.catalog.loader import default_agent_folder
from proviso_service.context.model import OWN_SERVER, ItemType
from proviso_service.errors import CatalogInvalid, FileFault
from proviso_service.matters import reading_limits
from proviso_service.mcp.model import HttpTransport
from proviso_service.reading import ProcessReader
from proviso_service.settings import DocumentSettings
from proviso_service.tools.registry import OWN_TOOL_NAMES

_TITLES = {ItemType.RULE: "Rules", ItemType.REFERENCE: "References"}


def check_agent(path: Path | None, *, as_json: bool) -> int:
    """Shows the items of a folder, or its faults. Returns the exit code. Raises UsageProblem."""
    settings = load_settings()
    folder = path or settings.agent_dir or default_agent_folder()
    if not folder.is_dir():
        raise UsageProblem(f"{folder} is not a folder")
    try:
        agent = asyncio.run(_load(folder, settings.documents))
    except CatalogInvalid as error:
        _show_faults(error.faults, as_json=as_json)
        return 1
    if as_json:
        for record in _records(agent):
            print_json(record)
    else:
        sys.stdout.write("".join(f"{printable(line)}\n" for line in _lines(agent)))
    return 0


async def _load(folder: Path, settings: DocumentSettings) -> AgentDefinition:
    reader = ProcessReader(reading_limits(settings), settings.ingest_workers)
    try:
        return await load_agent_folder(folder, reader)
    finally:
        await reader.close()


def _show_faults(faults: tuple[FileFault, ...], *, as_json: bool) -> None:
    for fault in faults:
        if as_json:
            print_json({"file": fault.file, "line": fault.line, "field": fault.field, "description": fault.description})
        else:
            sys.stderr.write(f"{printable(str(fault))}\n")


def _records(agent: AgentDefinition) -> Iterator[dict[str, Any]]:
    for item in agent.items:
        yield {
            "type": str(item.ref.type),
            "name": item.ref.name,
            "include": str(item.include_mode),
            "priority": item.priority,
            "enabled": item.enabled,
            "characters": len(item.content),
            "content_sha256": item.content_sha256,
        }
    for name in OWN_TOOL_NAMES:
        yield {
            "type": "tool",
            "server": OWN_SERVER,
            "name": name,
            **_settings(agent.own_tools, name),
        }
    for server in agent.mcp_servers:
        yield {
            "type": "mcp_server",
            "name": server.name,
            "transport": _transport(server),
            **_settings(server.policy),
            "tools": {name: _settings(server.policy, name) for name in server.policy.tools},
            "enabled": server.config.enabled,
        }


def _lines(agent: AgentDefinition) -> Iterator[str]:
    yield f"{agent.name}: {agent.description}"
    for kind, title in _TITLES.items():
        items = [item for item in agent.items if item.ref.type is kind]
        yield from _group(f"{title} ({len(items)})", [_item_line(item) for item in items])
    own = [f"{name} [{_in_words(agent.own_tools, name)}]" for name in OWN_TOOL_NAMES]
    yield from _group(f"Tools of the service ({len(own)})", own)
    servers = [line for server in agent.mcp_servers for line in _server_lines(server)]
    yield from _group(f"MCP servers ({len(agent.mcp_servers)})", servers)


def _group(title: str, lines: list[str]) -> Iterator[str]:
    if lines:
        yield from ("", title, *(f"  {line}" for line in lines))


def _item_line(item: CatalogItem) -> str:
    off = "" if item.enabled else ", disabled"
    return f"{item.ref.name} [{item.include_mode}, priority {item.priority}{off}] {len(item.content):,} characters"


def _server_lines(server: McpServer) -> Iterator[str]:
    """Yields a line for a server and for each tool that the folder names. Only the server knows its other tools."""
    off = "" if server.config.enabled else ", disabled"
    yield f"{server.name} [{_transport(server)}, {_in_words(server.policy)}{off}]"
    for name in server.policy.tools:
        yield f"  {name} [{_in_words(server.policy, name)}]"


def _settings(policy: ToolPolicy, tool: str = "") -> dict[str, str]:
    """Returns the settings of a tool, or without a name those of all tools that the folder does not name."""
    return {"include": str(policy.include_mode(tool).mode), "approval": str(policy.approval_of(tool))}


def _in_words(policy: ToolPolicy, tool: str = "") -> str:
    approval = ", approval required" if policy.approval_of(tool) is Approval.REQUIRED else ""
    return f"{policy.include_mode(tool).mode}{approval}"


def _transport(server: McpServer) -> str:
    return "http" if isinstance(server.config.transport, HttpTransport) else "stdio"
