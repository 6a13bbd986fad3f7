# ruff: noqa: N802  methods have the names of the contract
"""CatalogService."""

from proviso.v1 import catalog_pb2 as pb
from proviso.v1.catalog_pb2_grpc import CatalogServiceServicer
from proviso_service.api.errors import NotBuilt
from proviso_service.api.identity import Context

FEATURE = "the catalog"


class CatalogServicer(CatalogServiceServicer):
    async def ListContextItems(
        self, request: pb.ListContextItemsRequest, context: Context
    ) -> pb.ListContextItemsResponse:
        raise NotBuilt("ListContextItems", FEATURE)

    async def GetContextItem(self, request: pb.GetContextItemRequest, context: Context) -> pb.GetContextItemResponse:
        raise NotBuilt("GetContextItem", FEATURE)

    async def ReloadCatalog(self, request: pb.ReloadCatalogRequest, context: Context) -> pb.ReloadCatalogResponse:
        raise NotBuilt("ReloadCatalog", FEATURE)
