"""Finds tools by name: a ToolRegistry holds those that the model may call in one turn, the Toolbox all that exist, the
service's own and those of other servers."""

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from langchain_core.utils.function_calling import convert_to_openai_tool

from proviso_service.context.catalog.items import ToolDefinition
from proviso_service.context.model import OWN_SERVER, ItemRef, ItemType
from proviso_service.mcp.listing import ToolListing
from proviso_service.tools.base import ExternalTool, Tool, item_of
from proviso_service.tools.classify import IsaacusClassify
from proviso_service.tools.external import McpTool, ToolCaller
from proviso_service.tools.extract import IsaacusExtract
from proviso_service.tools.get_document_text import GetDocumentText
from proviso_service.tools.iql import IsaacusIql
from proviso_service.tools.list_matter_documents import ListMatterDocuments
from proviso_service.tools.retriever import DocumentationRetriever
from proviso_service.tools.search import IsaacusSearch


class ToolRegistry:
    """The tools that a model may call, by name, with the schemas that the model is shown."""

    def __init__(self, tools: Iterable[Tool], schemas: Iterable[dict[str, Any]] | None = None) -> None:
        """`schemas` are those of the tools, in their order; where they are not given, they are made."""
        self._tools: Mapping[str, Tool] = {tool.name: tool for tool in tools}
        self._schemas = [_schema(tool) for tool in self._tools.values()] if schemas is None else list(schemas)

    def get(self, name: str) -> Tool | None:
        return self._tools.get(name)

    def replaced(self, replace: Callable[[Tool], Tool]) -> "ToolRegistry":
        """The same tools, each in the form that `replace` gives it, with the same names and schemas."""
        return ToolRegistry(map(replace, self._tools.values()), self._schemas)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self._tools)

    def schemas(self) -> list[dict[str, Any]]:
        """The function schemas in the form of OpenAI's API, in a stable order."""
        return self._schemas

    def definitions(self) -> tuple[ToolDefinition, ...]:
        """The tools as the catalog stores them: with the description and schema that the model is shown."""
        return tuple(
            _definition(tool, schema) for tool, schema in zip(self._tools.values(), self._schemas, strict=True)
        )


def _definition(tool: Tool, schema: Mapping[str, Any]) -> ToolDefinition:
    shown = schema["function"]
    return ToolDefinition(item_of(tool).name, shown["description"], json.dumps(shown, ensure_ascii=False))


def _schema(tool: Tool) -> dict[str, Any]:
    if isinstance(tool, ExternalTool):
        function = {"name": tool.name, "description": tool.description, "parameters": dict(tool.shown_schema)}
        return {"type": "function", "function": function}
    schema = convert_to_openai_tool(tool.args)
    schema["function"] |= {"name": tool.name, "description": tool.description}
    return schema


OWN_TOOL_NAMES = tuple(
    tool.name
    for tool in (
        ListMatterDocuments,
        GetDocumentText,
        IsaacusSearch,
        IsaacusExtract,
        IsaacusClassify,
        IsaacusIql,
        DocumentationRetriever,
    )
)
"""The names of the service's own tools, which the definition of an agent may refer to. They are known before the tools
are created."""


@dataclass(frozen=True, slots=True)
class _Served:
    """The tools that were created from what one server lists, by the names that the server uses."""

    listing: ToolListing
    tools: Mapping[str, Tool]
    definitions: tuple[ToolDefinition, ...]


class Toolbox:
    """All tools: the service's own, and those of other servers as they were listed last."""

    def __init__(self, own: Iterable[Tool], servers: ToolCaller) -> None:
        """`servers` carries out the calls of tools of other servers."""
        self._own: Mapping[str, Tool] = {tool.name: tool for tool in own}
        self._own_definitions = ToolRegistry(self._own.values()).definitions()
        self._servers = servers
        self._served: Mapping[str, _Served] = {}

    def take(self, listings: Mapping[str, ToolListing | None]) -> None:
        """Replaces the tools of all servers by those that are listed now; None stands for a server that has listed
        nothing yet. Where a listing is the same object as before, its tools are kept."""
        self._served = {
            server: self._kept(server, listing) or self._made(listing)
            for server, listing in listings.items()
            if listing is not None
        }

    def find(self, ref: ItemRef) -> Tool | None:
        """The tool that an item names; None where the item is no tool, or no server offers it now."""
        if ref.type is not ItemType.TOOL:
            return None
        if ref.server_name == OWN_SERVER:
            return self._own.get(ref.name)
        served = self._served.get(ref.server_name)
        return served.tools.get(ref.name) if served else None

    def definitions(self, server: str) -> tuple[ToolDefinition, ...]:
        """The definitions of a server's tools, in the server's order."""
        if server == OWN_SERVER:
            return self._own_definitions
        served = self._served.get(server)
        return served.definitions if served else ()

    def _kept(self, server: str, listing: ToolListing) -> _Served | None:
        served = self._served.get(server)
        return served if served and served.listing is listing else None

    def _made(self, listing: ToolListing) -> _Served:
        tools = {tool.name: McpTool(tool, self._servers) for tool in listing.tools}
        return _Served(listing, tools, ToolRegistry(tools.values()).definitions())
