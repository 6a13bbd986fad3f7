# ruff: noqa: N802  methods have the names of the contract
"""CatalogService."""

from proviso_client.v1 import catalog_pb2 as pb
from proviso_client.v1.catalog_pb2_grpc import CatalogServiceServicer
from proviso_service.api.answer_size import fitting_page
from proviso_service.api.convert.catalog import catalog_item, tool_server
from proviso_service.api.domain import Domain
from proviso_service.api.identity import Context
from proviso_service.api.requests.base import parse
from proviso_service.api.requests.catalog import GetContextItemRequestModel, ListContextItemsRequestModel
from proviso_service.paging import PageRequest


class CatalogServicer(CatalogServiceServicer):
    def __init__(self, domain: Domain) -> None:
        self._catalog = domain.catalog
        self._tool_servers = domain.tool_servers

    async def ListContextItems(
        self, request: pb.ListContextItemsRequest, _context: Context
    ) -> pb.ListContextItemsResponse:
        asked = parse(ListContextItemsRequestModel, request)
        catalog = self._catalog.current

        async def answer(page: PageRequest) -> pb.ListContextItemsResponse:
            found = catalog.page(asked.type, page)
            return pb.ListContextItemsResponse(
                items=[catalog_item(item) for item in found.items], next_page_token=found.next_token
            )

        return await fitting_page(asked.page, answer)

    async def GetContextItem(self, request: pb.GetContextItemRequest, _context: Context) -> pb.GetContextItemResponse:
        asked = parse(GetContextItemRequestModel, request)
        item = self._catalog.current.get(asked.item.to_domain())
        return pb.GetContextItemResponse(item=catalog_item(item), content=item.content)

    async def ReloadCatalog(self, _request: pb.ReloadCatalogRequest, _context: Context) -> pb.ReloadCatalogResponse:
        return pb.ReloadCatalogResponse(item_count=len(await self._catalog.reload()))

    async def ListToolServers(
        self, _request: pb.ListToolServersRequest, _context: Context
    ) -> pb.ListToolServersResponse:
        return pb.ListToolServersResponse(servers=[tool_server(status) for status in self._tool_servers()])
