"""Reads the agent's rules, references, tools and tool servers through CatalogService."""

from collections.abc import AsyncIterator, Sequence
from typing import TYPE_CHECKING

from proviso_client._aio.calls import Calls
from proviso_client._requests import item_ref
from proviso_client.v1 import catalog_pb2 as pb
from proviso_client.v1.catalog_pb2_grpc import CatalogServiceStub
from proviso_client.v1.context_pb2 import ContextItemType

if TYPE_CHECKING:  # exists for type checkers only
    from proviso_client.v1.catalog_pb2_grpc import CatalogServiceAsyncStub


class AsyncCatalog:
    """Every method raises ProvisoError when its call fails."""

    def __init__(self, calls: Calls) -> None:
        self._calls = calls
        self._stub: CatalogServiceAsyncStub = CatalogServiceStub(calls.channel)

    def list(
        self, kind: ContextItemType | str | None = None, *, page_size: int = 0, timeout_s: float | None = None
    ) -> AsyncIterator[pb.CatalogItem]:
        """Yields the items and requests each page when it is needed. `kind` restricts them to one kind: "rule",
        "reference", "tool" or a ContextItemType."""
        item_type = None if kind is None else item_ref(kind, "").type
        request = pb.ListContextItemsRequest(type=item_type, page_size=page_size)
        return self._calls.pages(self._stub.ListContextItems, request, lambda page: page.items, timeout_s)

    async def get(
        self, kind: ContextItemType | str, name: str, server_name: str = "", *, timeout_s: float | None = None
    ) -> pb.GetContextItemResponse:
        """Returns an item and its content. Raises NotFound, with similar names in `near_matches`, when there is
        none."""
        request = pb.GetContextItemRequest(item=item_ref(kind, name, server_name))
        return await self._calls.unary(self._stub.GetContextItem, request, timeout_s)

    async def reload(self, *, timeout_s: float | None = None) -> int:
        """Reads the agent's folder again and returns the number of items. Raises FailedPrecondition when the folder has
        mistakes, which `violations` lists; the catalog then stays as it was."""
        return (await self._calls.unary(self._stub.ReloadCatalog, pb.ReloadCatalogRequest(), timeout_s)).item_count

    async def tool_servers(self, *, timeout_s: float | None = None) -> Sequence[pb.ToolServer]:
        """Returns the tool servers and the state of each."""
        return (await self._calls.unary(self._stub.ListToolServers, pb.ListToolServersRequest(), timeout_s)).servers
