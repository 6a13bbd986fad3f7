"""MCP servers as an agent's folder defines them."""

from dataclasses import dataclass

from proviso_service.context.catalog.tools import ToolPolicy
from proviso_service.context.model import IncludeMode
from proviso_service.mcp.model import McpServerConfig, ServerHealth


@dataclass(frozen=True, slots=True)
class McpServer:
    """How a server is reached, and how its tools are used: a change of the latter leaves its session alone.
    `definition_sha256` is of what says which server it is, as it is written: variables are not filled in."""

    config: McpServerConfig
    policy: ToolPolicy
    definition_sha256: str

    @property
    def name(self) -> str:
        return self.config.name


@dataclass(frozen=True, slots=True)
class ServerStatus:
    """How a server does, and the include mode of its tools that have none of their own; None where nothing is said."""

    health: ServerHealth
    include: IncludeMode | None
