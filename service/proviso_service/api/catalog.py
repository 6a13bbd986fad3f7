# ruff: noqa: N802  methods have the names of the contract
"""CatalogService: the items that requests may hold, and the servers of the agent's tools."""

from collections.abc import Callable, Sequence
from typing import Annotated

from proviso_client.v1 import catalog_pb2 as pb
from proviso_client.v1.catalog_pb2_grpc import CatalogServiceServicer
from proviso_service.api.convert.context import catalog_item, tool_server
from proviso_service.api.convert.values import ITEM_TYPES, fitting_page, or_none
from proviso_service.api.request_models import Context, ContextItemRefModel, PagedRequest, RequestModel, known, parse
from proviso_service.context.catalog.catalog import CatalogHolder
from proviso_service.context.catalog.items import ServerStatus
from proviso_service.context.model import ItemType
from proviso_service.paging import PageRequest


class ListContextItemsRequestModel(PagedRequest):
    proto = pb.ListContextItemsRequest

    type: Annotated[ItemType | None, known(or_none(ITEM_TYPES))]


class GetContextItemRequestModel(RequestModel):
    proto = pb.GetContextItemRequest

    item: ContextItemRefModel


class CatalogServicer(CatalogServiceServicer):
    """`tool_servers` says how the servers of the agent's tools do."""

    def __init__(self, catalog: CatalogHolder, tool_servers: Callable[[], Sequence[ServerStatus]]) -> None:
        self._catalog = catalog
        self._tool_servers = tool_servers

    async def ListContextItems(
        self, request: pb.ListContextItemsRequest, _context: Context
    ) -> pb.ListContextItemsResponse:
        asked = parse(ListContextItemsRequestModel, request)
        catalog = self._catalog.current

        async def answer(page: PageRequest) -> pb.ListContextItemsResponse:
            found = catalog.page(asked.type, page)
            return pb.ListContextItemsResponse(
                items=[catalog_item(item) for item in found.items],
                next_page_token=found.next_token,
                total_size=found.total_size,
            )

        return await fitting_page(asked.page, answer)

    async def GetContextItem(self, request: pb.GetContextItemRequest, _context: Context) -> pb.GetContextItemResponse:
        asked = parse(GetContextItemRequestModel, request)
        item = self._catalog.current.get(asked.item.to_domain())
        return pb.GetContextItemResponse(item=catalog_item(item), content=item.content)

    async def ReloadCatalog(self, _request: pb.ReloadCatalogRequest, _context: Context) -> pb.ReloadCatalogResponse:
        return pb.ReloadCatalogResponse(item_count=len(await self._catalog.reload_everywhere()))

    async def ListToolServers(
        self, _request: pb.ListToolServersRequest, _context: Context
    ) -> pb.ListToolServersResponse:
        return pb.ListToolServersResponse(servers=[tool_server(status) for status in self._tool_servers()])
