"""What a catalog answers."""

import pytest

from proviso_service.context.catalog.catalog import AgentDefinition, Catalog, tool_items
from proviso_service.context.catalog.servers import McpServer
from proviso_service.context.catalog.tools import Approval, IncludeModeSource, ToolDefinition, ToolOverride, ToolPolicy
from proviso_service.context.mcp.config import McpServerConfig, StdioTransport
from proviso_service.context.model import IncludeMode, ItemRef, ItemType, SessionItem
from proviso_service.context.sessions import NewSession
from proviso_service.errors import ContextItemNotFound, InvalidRequest
from proviso_service.paging import PageRequest
from tests.support.catalogs import a_catalog, an_item

QUOTING = ItemRef(ItemType.RULE, "Quoting")
PLAIN = ItemRef(ItemType.RULE, "Plain language")
CAPS = ItemRef(ItemType.REFERENCE, "Caps")
IQL = ItemRef(ItemType.TOOL, "isaacus_iql", "proviso")


def test_items_stand_by_type_and_name() -> None:
    catalog = a_catalog(an_item(IQL), an_item(CAPS), an_item(QUOTING), an_item(PLAIN))
    assert [item.ref for item in catalog] == [PLAIN, QUOTING, CAPS, IQL]
    assert [item.ref for item in catalog.of_type(ItemType.RULE)] == [PLAIN, QUOTING]


def test_sessions_begin_with_enabled_always_items_the_most_important_first() -> None:
    catalog = a_catalog(
        an_item(PLAIN),
        an_item(QUOTING, IncludeMode.ALWAYS, priority=5),
        an_item(CAPS, IncludeMode.MANUAL),
        an_item(IQL, enabled=False),
    )
    assert catalog.new_session() == NewSession(
        (SessionItem(QUOTING, IncludeMode.ALWAYS), SessionItem(PLAIN, IncludeMode.ALWAYS))
    )


def test_candidates_are_enabled_agent_items_that_are_not_in_the_session() -> None:
    agent = IncludeMode.AGENT
    catalog = a_catalog(
        an_item(QUOTING, agent), an_item(PLAIN, agent), an_item(CAPS, agent, enabled=False), an_item(IQL)
    )
    assert [item.ref for item in catalog.agent_candidates([PLAIN])] == [QUOTING]


@pytest.mark.parametrize(
    ("ref", "near"),
    [
        (ItemRef(ItemType.RULE, "quotng"), (QUOTING,)),
        (ItemRef(ItemType.REFERENCE, "Quoting"), (QUOTING,)),
        (ItemRef(ItemType.TOOL, "isaacus_iql"), (IQL,)),
        (ItemRef(ItemType.TOOL, "isaacus_iql", "other"), (IQL,)),
        (ItemRef(ItemType.RULE, "Zebra crossing"), ()),
    ],
)
def test_an_unknown_item_names_near_matches(ref: ItemRef, near: tuple[ItemRef, ...]) -> None:
    catalog = a_catalog(an_item(QUOTING), an_item(PLAIN), an_item(CAPS), an_item(IQL))
    assert catalog.near_matches(ref) == near
    with pytest.raises(ContextItemNotFound) as caught:
        catalog.get(ref)
    assert ("did you mean" in caught.value.message) == bool(near)


def test_near_matches_of_the_same_type_come_first() -> None:
    rule, reference = ItemRef(ItemType.RULE, "Caps on fees"), ItemRef(ItemType.REFERENCE, "Cap on fees")
    catalog = a_catalog(an_item(rule), an_item(reference))
    assert catalog.near_matches(ItemRef(ItemType.RULE, "Cap on fees")) == (rule, reference)


def test_pages_cover_every_item_once() -> None:
    catalog = a_catalog(an_item(QUOTING), an_item(PLAIN), an_item(CAPS), an_item(IQL))
    seen, token = [], ""
    while True:
        page = catalog.page(None, PageRequest(3, token))
        seen += [item.ref for item in page.items]
        if not (token := page.next_token):
            break
    assert seen == [PLAIN, QUOTING, CAPS, IQL]
    assert [item.ref for item in catalog.page(ItemType.TOOL, PageRequest()).items] == [IQL]
    assert a_catalog().page(None, PageRequest()).items == []
    with pytest.raises(InvalidRequest):
        catalog.page(None, PageRequest(3, "forged"))


def test_tools_become_items_with_their_effective_modes() -> None:
    definitions = [ToolDefinition("now", "Tells the time.", "{}"), ToolDefinition("zone", "Knows zones.", '{"a": 1}')]
    policy = ToolPolicy(IncludeMode.AGENT, tools={"zone": ToolOverride(IncludeMode.MANUAL)})
    now, zone = tool_items("time", definitions, policy)
    assert (now.include_mode, now.include_mode_source) == (IncludeMode.AGENT, IncludeModeSource.SERVER)
    assert (zone.include_mode, zone.include_mode_source) == (IncludeMode.MANUAL, IncludeModeSource.ITEM)
    assert (zone.ref, zone.content) == (ItemRef(ItemType.TOOL, "zone", "time"), '{"a": 1}')
    assert now.content_sha256 != zone.content_sha256


def test_whether_a_tool_needs_an_approval_is_known_before_its_server_lists_it() -> None:
    server = McpServer(
        McpServerConfig("time", StdioTransport("time-server")),
        ToolPolicy(approval=Approval.REQUIRED, tools={"get_time": ToolOverride(approval=Approval.NONE)}),
    )
    catalog = Catalog(AgentDefinition("Test", "", mcp_servers=(server,)), [an_item(IQL)])
    tools = {name: ItemRef(ItemType.TOOL, name, "time") for name in ("get_time", "set_time")}
    assert catalog.approval_of(IQL) is Approval.NONE
    assert catalog.approval_of(tools["get_time"]) is Approval.NONE
    assert catalog.approval_of(tools["set_time"]) is Approval.REQUIRED
    assert catalog.approval_of(ItemRef(ItemType.TOOL, "get_time", "unknown")) is Approval.REQUIRED
