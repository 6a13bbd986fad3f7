"""Puts the catalog together: an agent's folder, the reader of its references, and the service's own tools."""

import os
from pathlib import Path

from proviso_service.context.catalog.catalog import AgentDefinition, Catalog, tool_items
from proviso_service.context.catalog.default import default_agent_folder
from proviso_service.context.catalog.holder import CatalogHolder
from proviso_service.context.catalog.loader import load_agent
from proviso_service.context.model import OWN_SERVER
from proviso_service.matters.parsing.reader import DocumentReader
from proviso_service.matters.parsing.texts import FileTexts
from proviso_service.tools.own import OWN_TOOL_NAMES
from proviso_service.tools.registry import ToolRegistry


def agent_catalog(folder: Path | None, tools: ToolRegistry, reader: DocumentReader) -> CatalogHolder:
    """Not loaded yet. Without a folder it is that of the default agent."""

    async def load() -> Catalog:
        agent = await load_agent_folder(folder or default_agent_folder(), reader)
        return Catalog(agent, tool_items(OWN_SERVER, tools.definitions(), agent.own_tools))

    return CatalogHolder(load)


async def load_agent_folder(folder: Path, reader: DocumentReader) -> AgentDefinition:
    """Secrets of MCP servers come from the environment of the process. Raises CatalogInvalid."""
    return await load_agent(folder, FileTexts(reader), os.environ, OWN_TOOL_NAMES)
