"""Every tool that there is, by the item that names it."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from proviso_service.context.catalog.tools import ToolDefinition
from proviso_service.context.model import OWN_SERVER, ItemRef, ItemType
from proviso_service.mcp.listing import Listing
from proviso_service.tools.base import Tool
from proviso_service.tools.registry import ToolRegistry
from proviso_service.tools.served import McpTool, ToolCaller


@dataclass(frozen=True, slots=True)
class _Served:
    """The tools that were made of a server's listing, by the server's names for them."""

    listing: Listing
    tools: Mapping[str, Tool]
    definitions: tuple[ToolDefinition, ...]


class Toolbox:
    """The service's own tools, and those of servers as they have listed them last."""

    def __init__(self, own: Iterable[Tool], servers: ToolCaller) -> None:
        """Calls of served tools go to `servers`."""
        self._own: Mapping[str, Tool] = {tool.name: tool for tool in own}
        self._own_definitions = ToolRegistry(self._own.values()).definitions()
        self._servers = servers
        self._served: Mapping[str, _Served] = {}

    def take(self, listings: Mapping[str, Listing | None]) -> None:
        """Takes what each server lists now in the place of all before; None where it has listed nothing yet. Tools of a
        listing that is still the same object stay as they are."""
        self._served = {
            server: self._kept(server, listing) or self._made(listing)
            for server, listing in listings.items()
            if listing is not None
        }

    def find(self, ref: ItemRef) -> Tool | None:
        """None for what is no tool, or is not there (any more)."""
        if ref.type is not ItemType.TOOL:
            return None
        if ref.server_name == OWN_SERVER:
            return self._own.get(ref.name)
        served = self._served.get(ref.server_name)
        return served.tools.get(ref.name) if served else None

    def definitions(self, server: str) -> tuple[ToolDefinition, ...]:
        """What models are shown of a server's tools, in its order."""
        if server == OWN_SERVER:
            return self._own_definitions
        served = self._served.get(server)
        return served.definitions if served else ()

    def _kept(self, server: str, listing: Listing) -> _Served | None:
        served = self._served.get(server)
        return served if served and served.listing is listing else None

    def _made(self, listing: Listing) -> _Served:
        tools = {tool.name: McpTool(tool, self._servers) for tool in listing.tools}
        return _Served(listing, tools, ToolRegistry(tools.values()).definitions())
