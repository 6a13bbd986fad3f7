"""Items of the catalog, and the servers of its tools."""

from proviso_client.v1 import catalog_pb2 as pb
from proviso_service.api.convert.context import item_ref
from proviso_service.api.convert.enums import INCLUDE_MODE_SOURCES, INCLUDE_MODES, TOOL_APPROVALS, TOOL_SERVER_STATES
from proviso_service.api.convert.times import timestamp
from proviso_service.context.catalog.items import CatalogItem, ServerStatus
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


def tool_server(status: ServerStatus) -> pb.ToolServer:
    health = status.health
    return pb.ToolServer(
        name=health.name,
        state=TOOL_SERVER_STATES[health.state],
        state_time=timestamp(health.since),
        reason=health.reason,
        starts=health.starts,
        tool_count=health.tools,
        refused=[pb.RefusedTool(name=tool.name, reason=tool.reason) for tool in health.refused],
        include_mode=INCLUDE_MODES[status.include] if status.include else None,
    )
