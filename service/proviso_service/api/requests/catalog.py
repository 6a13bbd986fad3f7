"""Requests of CatalogService."""

from typing import Annotated

from proviso_client.v1 import catalog_pb2, context_pb2
from proviso_service.api.convert.enums import ITEM_TYPES
from proviso_service.api.requests.base import PagedRequest, RequestModel, known
from proviso_service.api.requests.context import ContextItemRefModel
from proviso_service.context.model import ItemType

_TYPES: dict[int, ItemType | None] = {
    context_pb2.CONTEXT_ITEM_TYPE_UNSPECIFIED: None,
    **{number: member for member, number in ITEM_TYPES.items()},
}


class ListContextItemsRequestModel(PagedRequest):
    proto = catalog_pb2.ListContextItemsRequest

    type: Annotated[ItemType | None, known(_TYPES)]


class GetContextItemRequestModel(RequestModel):
    proto = catalog_pb2.GetContextItemRequest

    item: ContextItemRefModel
