"""Items of the catalog."""

from proviso.v1 import catalog_pb2 as pb
from proviso_service.api.convert.context import item_ref
from proviso_service.api.convert.enums import INCLUDE_MODE_SOURCES, INCLUDE_MODES, TOOL_APPROVALS
from proviso_service.context.catalog.items import CatalogItem
from proviso_service.context.model import ItemType


def catalog_item(item: CatalogItem) -> pb.CatalogItem:
    return pb.CatalogItem(
        item=item_ref(item.ref),
        description=item.description,
        include_mode=INCLUDE_MODES[item.include_mode],
        include_mode_source=INCLUDE_MODE_SOURCES[item.include_mode_source],
        characters=len(item.content),
        content_sha256=item.content_sha256,
        priority=item.priority,
        enabled=item.enabled,
        approval=TOOL_APPROVALS[item.approval] if item.ref.type is ItemType.TOOL else None,
    )
