"""Makes the catalog from the agent's folder, the service's own tools and the tools of MCP servers, and makes it anew
when one of them changes."""

import os
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

import structlog

from proviso_service.context.catalog.catalog import AgentDefinition, Catalog, CatalogHolder, tool_items
from proviso_service.context.catalog.items import McpServer, ServerStatus
from proviso_service.context.catalog.loader import default_agent_folder, load_agent
from proviso_service.context.model import OWN_SERVER
from proviso_service.matters import FileReader
from proviso_service.mcp.listing import ToolListing
from proviso_service.mcp.model import Connect, ServerHealth, ServerState
from proviso_service.mcp.servers import McpServers, RestartPolicy
from proviso_service.notices import ALONE, Notices
from proviso_service.reading import DocumentReader
from proviso_service.tools.base import Tool
from proviso_service.tools.registry import OWN_TOOL_NAMES, Toolbox

_log = structlog.get_logger(__name__)


class AgentCatalog:
    """Runs the MCP servers of the agent. `holder` has the catalog, and `toolbox` has the tools in it; both are replaced
    together when the folder is read again, and when a server lists other tools."""

    def __init__(
        self,
        folder: Path | None,
        own_tools: Iterable[Tool],
        reader: DocumentReader,
        connect: Connect,
        restarts: RestartPolicy | None = None,
        notices: Notices = ALONE,
    ) -> None:
        """Loads nothing; `holder.reload` does. Without a folder it uses that of the default agent."""
        self._folder = folder or default_agent_folder()
        self._reader = reader
        self._servers = McpServers(connect, restarts=restarts, on_change=self._on_change)
        self._listings: Mapping[str, ToolListing | None] = {}
        self._since = datetime.now(UTC)
        self.toolbox = Toolbox(own_tools, self._servers)
        self.holder = CatalogHolder(self._load, notices=notices)

    async def stop(self) -> None:
        """Ends the sessions with all servers."""
        await self._servers.stop()

    def tool_servers(self) -> tuple[ServerStatus, ...]:
        """The states of all servers of tools: first the service itself, then the MCP servers by name."""
        agent = self.holder.current.agent
        own = ServerHealth(
            OWN_SERVER, ServerState.READY, self._since, starts=1, tools=len(self.toolbox.definitions(OWN_SERVER))
        )
        includes = {server.name: server.policy.include for server in agent.mcp_servers}
        others = [ServerStatus(health, includes[health.name]) for health in self._servers.health()]
        return (ServerStatus(own, agent.own_tools.include), *sorted(others, key=lambda status: status.health.name))

    async def _load(self) -> Catalog:
        """Reads the folder and makes the catalog. Nothing can fail once the folder has been read, and no other task
        runs before the catalog is replaced."""
        agent = await load_agent_folder(self._folder, self._reader)
        self._servers.apply([server.config for server in agent.mcp_servers])
        self._listings = {}  # all are looked at anew, beside what is said of their tools now
        return self._catalog(agent)

    def _on_change(self, _health: ServerHealth) -> None:
        if self._servers.listings() != self._listings:
            self.holder.exchange(self._catalog(self.holder.current.agent))

    def _catalog(self, agent: AgentDefinition) -> Catalog:
        """The catalog with the tools that are listed now."""
        before, self._listings = self._listings, self._servers.listings()
        for server in agent.mcp_servers:
            if self._listings.get(server.name) is not before.get(server.name):
                _warn_of_unknown_tools(server, self._listings.get(server.name))
        self.toolbox.take(self._listings)
        policies = [(OWN_SERVER, agent.own_tools), *((server.name, server.policy) for server in agent.mcp_servers)]
        tools = [item for name, policy in policies for item in tool_items(name, self.toolbox.definitions(name), policy)]
        return Catalog(agent, tools, _pending(agent, self._listings))


def _warn_of_unknown_tools(server: McpServer, listing: ToolListing | None) -> None:
    """Warns of settings for tools that a server does not list: a mistyped name would leave a tool without its
    approval."""
    listed = {tool.name for tool in listing.tools} if listing else set()
    if listing and (unknown := sorted(server.policy.tools.keys() - listed)):
        _log.warning("settings_of_unknown_tools", server=server.name, tools=unknown)


def _pending(agent: AgentDefinition, listings: Mapping[str, ToolListing | None]) -> Sequence[str]:
    """The names of the enabled servers that have not listed their tools yet."""
    return [server.name for server in agent.mcp_servers if server.config.enabled and listings.get(server.name) is None]


async def load_agent_folder(folder: Path, reader: DocumentReader) -> AgentDefinition:
    """Reads an agent's folder; secrets of its MCP servers come from the environment. Raises CatalogInvalid."""
    return await load_agent(folder, FileReader(reader), os.environ, OWN_TOOL_NAMES)
