"""Which of the tools a turn offers to the model."""

from typing import Protocol

from proviso_service.tools.registry import ToolRegistry
from proviso_service.tools.retriever import RETRIEVER


class DocumentationReader(Protocol):
    """What turns need to know of a tenant's documentation."""

    async def has_ready_documents(self, tenant: str) -> bool: ...


class OfferedTools:
    """All tools, but the `retriever` only where there is documentation to find something in."""

    def __init__(self, tools: ToolRegistry, documentation: DocumentationReader) -> None:
        self._documentation = documentation
        self._all = tools
        self._others = tools.without(RETRIEVER)

    async def of(self, tenant: str) -> ToolRegistry:
        return self._all if await self._documentation.has_ready_documents(tenant) else self._others


def offers_documentation(tools: ToolRegistry) -> bool:
    return tools.get(RETRIEVER) is not None
