"""Which of the tools a turn offers to the model."""

from dataclasses import dataclass
from typing import Protocol

from proviso_service.tools.registry import ToolRegistry
from proviso_service.tools.retriever import RETRIEVER


class DocumentationReader(Protocol):
    """What turns need to know of a tenant's documentation."""

    async def ready_version(self, tenant: str) -> int:
        """0 where there is nothing to find; grows with every change of what there is."""
        ...


@dataclass(frozen=True, slots=True)
class Offer:
    """The tools of a turn, and the version of the documentation that one of them looks into; 0 without it."""

    tools: ToolRegistry
    documentation_version: int


class OfferedTools:
    """All tools, but the `retriever` only where there is documentation to find something in."""

    def __init__(self, tools: ToolRegistry, documentation: DocumentationReader) -> None:
        self._documentation = documentation
        self._all = tools
        self._others = tools.without(RETRIEVER)

    async def of(self, tenant: str) -> Offer:
        version = await self._documentation.ready_version(tenant)
        return Offer(self._all if version else self._others, version)
