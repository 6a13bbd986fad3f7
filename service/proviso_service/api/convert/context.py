"""Converts request contexts, items of the catalog, and the states of tool servers."""

from proviso_client.v1 import catalog_pb2
from proviso_client.v1 import context_pb2 as pb
from proviso_service.api.convert.values import (
    ASSET_KINDS,
    INCLUDE_MODE_SOURCES,
    INCLUDE_MODES,
    ITEM_TYPES,
    OMISSION_REASONS,
    TOOL_APPROVALS,
    TOOL_SERVER_STATES,
    timestamp,
)
from proviso_service.context.catalog.items import CatalogItem, ServerStatus
from proviso_service.context.model import (
    AssetUse,
    ContextFill,
    ItemRef,
    ItemType,
    MatterContext,
    RequestContext,
)


def request_context(context: RequestContext | None) -> pb.RequestContext | None:
    if context is None:
        return None
    answer = pb.RequestContext(
        matter_context=matter_context(context.matter_context),
        assets=[_asset(asset) for asset in context.assets],
        fill=_fill(context.fill),
        timestamp=timestamp(context.timestamp),
        payload_sha256=context.payload_sha256,
        system_prompt_sha256=context.system_prompt_sha256,
    )
    _add_items(answer, context)
    return answer


def _add_items(answer: pb.RequestContext, context: RequestContext) -> None:
    """Adds the items, which every turn has a dozen of, in place: that takes six tenths of making and copying them."""
    add, leave_out = answer.items.add, answer.omitted.add
    for item in context.items:
        add(
            type=ITEM_TYPES[item.ref.type],
            name=item.ref.name,
            server_name=item.ref.server_name,
            include_mode=INCLUDE_MODES[item.include_mode],
            similarity_score=item.similarity_score,
            content_sha256=item.content_sha256,
            missing=item.missing,
            note=item.note,
            cited=item.cited,
        )
    for omitted in context.omitted:
        made = leave_out(reason=OMISSION_REASONS[omitted.reason], score=omitted.score).item
        made.type = ITEM_TYPES[omitted.ref.type]
        made.name, made.server_name = omitted.ref.name, omitted.ref.server_name


def matter_context(context: MatterContext | None) -> pb.MatterContext | None:
    if context is None:
        return None
    return pb.MatterContext(
        matter_id=context.matter_id,
        matter_name=context.matter_name,
        document_id=context.document_id,
        document_name=context.document_name,
    )


def item_ref(ref: ItemRef) -> pb.ContextItemRef:
    return pb.ContextItemRef(type=ITEM_TYPES[ref.type], name=ref.name, server_name=ref.server_name)


def _asset(asset: AssetUse) -> pb.AssetUse:
    return pb.AssetUse(
        kind=ASSET_KINDS[asset.kind],
        name=asset.name,
        included=asset.included,
        note=asset.note,
        text=asset.text,
        content_sha256=asset.content_sha256,
        media_type=asset.media_type,
    )


def _fill(fill: ContextFill) -> pb.ContextFill:
    return pb.ContextFill(
        characters_used=fill.characters_used,
        characters_limit=fill.characters_limit,
        tokens_used=fill.tokens_used,
        tokens_limit=fill.tokens_limit,
        item_characters=fill.item_characters,
        item_characters_limit=fill.item_characters_limit,
        item_tokens=fill.item_tokens,
        item_tokens_limit=fill.item_tokens_limit,
        near_limit=fill.near_limit,
    )


def catalog_item(item: CatalogItem) -> catalog_pb2.CatalogItem:
    return catalog_pb2.CatalogItem(
        item=item_ref(item.ref),
        description=item.description,
        include_mode=INCLUDE_MODES[item.include_mode],
        include_mode_source=INCLUDE_MODE_SOURCES[item.include_mode_source],
        characters=len(item.content),
        content_sha256=item.content_sha256,
        priority=item.priority,
        enabled=item.enabled,
        approval=TOOL_APPROVALS[item.approval] if item.ref.type is ItemType.TOOL else None,
        locked=item.locked,
    )


def tool_server(status: ServerStatus) -> catalog_pb2.ToolServer:
    health = status.health
    return catalog_pb2.ToolServer(
        name=health.name,
        state=TOOL_SERVER_STATES[health.state],
        state_time=timestamp(health.since),
        reason=health.reason,
        starts=health.starts,
        tool_count=health.tools,
        refused=[catalog_pb2.RefusedTool(name=tool.name, reason=tool.reason) for tool in health.refused],
        include_mode=INCLUDE_MODES[status.include] if status.include else None,
    )
