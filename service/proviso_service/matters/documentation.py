"""A tenant's documentation: documents that belong to no matter, such as handbooks and policies."""

from proviso_service.errors import MatterNotFound
from proviso_service.matters.identifiers import DOCUMENTATION
from proviso_service.matters.model import SearchOutcome, SearchQuery
from proviso_service.matters.ports import MatterStore
from proviso_service.matters.retrieval import Retriever


class Documentation:
    """What turns and tools ask of it. Its documents are kept by Matters, under the id DOCUMENTATION."""

    def __init__(self, store: MatterStore, retriever: Retriever) -> None:
        self._store = store
        self._retriever = retriever

    async def ready_version(self, tenant: str) -> int:
        """Its Matter.index_version; 0 where there is nothing to find."""
        try:
            documentation = await self._store.get_matter(tenant, DOCUMENTATION)
        except MatterNotFound:
            return 0
        return documentation.index_version if documentation.ready_count else 0

    async def search(self, tenant: str, query: str, max_results: int) -> SearchOutcome:
        """Passages that are close to the query, best first; none where there is no documentation. Raises
        InvalidRequest and TooBusy."""
        return await self._retriever.search(tenant, SearchQuery(DOCUMENTATION, query, max_results))
