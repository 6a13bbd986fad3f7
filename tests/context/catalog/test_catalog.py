"""What a catalog answers."""

import pytest

from proviso_service.context.catalog.catalog import AgentDefinition, Catalog, tool_items
from proviso_service.context.catalog.items import (
    Approval,
    IncludeModeSource,
    McpServer,
    ToolDefinition,
    ToolOverride,
    ToolPolicy,
)
from proviso_service.context.model import IncludeMode, ItemRef, ItemType, NewSession, SessionItem
from proviso_service.errors import ContextItemNotFound, InvalidRequest
from proviso_service.mcp.model import HttpTransport, McpServerConfig
from proviso_service.paging import PageRequest
from tests.support.catalogs import a_catalog, an_item

QUOTING = ItemRef(ItemType.RULE, "Quoting")
PLAIN = ItemRef(ItemType.RULE, "Plain language")
CAPS = ItemRef(ItemType.REFERENCE, "Caps")
IQL = ItemRef(ItemType.TOOL, "isaacus_iql", "proviso")


def test_items_stand_by_type_and_name() -> None:
    catalog = a_catalog(an_item(IQL), an_item(CAPS), an_item(QUOTING), an_item(PLAIN))
    assert [item.ref for item in catalog] == [PLAIN, QUOTING, CAPS, IQL]
    assert [item.ref for item in catalog.page(ItemType.RULE, PageRequest(10)).items] == [PLAIN, QUOTING]


def test_sessions_begin_with_enabled_always_items_the_most_important_first() -> None:
    catalog = a_catalog(
        an_item(PLAIN),
        an_item(QUOTING, IncludeMode.ALWAYS, priority=5),
        an_item(CAPS, IncludeMode.MANUAL),
        an_item(IQL, enabled=False),
    )
    assert catalog.new_session == NewSession(
        (SessionItem(QUOTING, IncludeMode.ALWAYS), SessionItem(PLAIN, IncludeMode.ALWAYS))
    )


@pytest.mark.parametrize(
    ("ref", "approval"),
    [
        (ItemRef(ItemType.TOOL, "read", "mail"), Approval.NONE),
        (ItemRef(ItemType.TOOL, "send", "mail"), Approval.REQUIRED),
        (ItemRef(ItemType.TOOL, "listed", "mail"), Approval.REQUIRED),
        (ItemRef(ItemType.TOOL, "anything", "gone"), Approval.REQUIRED),
        (IQL, Approval.REQUIRED),
        (ItemRef(ItemType.TOOL, "retriever", "proviso"), Approval.NONE),
    ],
)
def test_a_tool_that_is_not_listed_needs_the_approval_that_is_said_of_it(ref: ItemRef, approval: Approval) -> None:
    required = ToolOverride(approval=Approval.REQUIRED)
    mail = McpServer(
        McpServerConfig("mail", HttpTransport("http://mail/mcp")), ToolPolicy(tools={"send": required}), "definition"
    )
    agent = AgentDefinition("Test", "", own_tools=ToolPolicy(tools={"isaacus_iql": required}), mcp_servers=(mail,))
    listed = an_item(ItemRef(ItemType.TOOL, "listed", "mail"), approval=Approval.REQUIRED)
    assert Catalog(agent, [listed], ["mail"]).approval_of(ref) is approval


def test_what_a_tool_is_changes_with_what_models_are_shown_of_it_and_with_its_servers_definition() -> None:
    send = ItemRef(ItemType.TOOL, "send", "mail")

    def sha256(content: str, definition: str, approval: Approval = Approval.NONE) -> str:
        server = McpServer(McpServerConfig("mail", HttpTransport("http://mail/mcp")), ToolPolicy(), definition)
        item = an_item(send, content=content, approval=approval)
        return Catalog(AgentDefinition("", "", mcp_servers=(server,)), [item]).tool_sha256(send)

    known = {sha256("Sends.", "one"), sha256("Sends.", "two"), sha256("Sends all.", "one")}
    assert len(known) == 3
    assert sha256("Sends.", "one", Approval.REQUIRED) == sha256("Sends.", "one")
    assert a_catalog(an_item(IQL)).tool_sha256(send) == ""


@pytest.mark.parametrize(
    ("ref", "near"),
    [
        (ItemRef(ItemType.RULE, "quotng"), (QUOTING,)),
        (ItemRef(ItemType.REFERENCE, "Quoting"), (QUOTING,)),
        (ItemRef(ItemType.TOOL, "isaacus_iql"), (IQL,)),
        (ItemRef(ItemType.TOOL, "isaacus_iql", "other"), (IQL,)),
        (ItemRef(ItemType.REFERENCE, "Cpas"), (CAPS,)),
        (ItemRef(ItemType.REFERENCE, "Cps"), (CAPS,)),
        (ItemRef(ItemType.REFERENCE, "Capts"), (CAPS,)),
        (ItemRef(ItemType.REFERENCE, "Cabs"), (CAPS,)),
        (ItemRef(ItemType.REFERENCE, "C"), ()),
        (ItemRef(ItemType.REFERENCE, "Cosp"), ()),
        (ItemRef(ItemType.RULE, "Zebra crossing"), ()),
    ],
)
def test_an_unknown_item_names_near_matches(ref: ItemRef, near: tuple[ItemRef, ...]) -> None:
    catalog = a_catalog(an_item(QUOTING), an_item(PLAIN), an_item(CAPS), an_item(IQL))
    assert catalog.near_matches(ref) == near
    with pytest.raises(ContextItemNotFound) as caught:
        catalog.get(ref)
    assert ("did you mean" in caught.value.message) == bool(near)


def test_a_tool_of_a_server_that_has_not_listed_any_is_not_there_yet() -> None:
    catalog = Catalog(AgentDefinition("Test", ""), [an_item(IQL)], ["time"])
    with pytest.raises(ContextItemNotFound) as pending:
        catalog.get(ItemRef(ItemType.TOOL, "now", "time"))
    assert pending.value.message == "The catalog has no tool 'time:now' yet: its server has not listed its tools"
    with pytest.raises(ContextItemNotFound) as unknown:
        catalog.get(ItemRef(ItemType.TOOL, "now", "tim"))
    assert unknown.value.message == "The catalog has no tool 'tim:now'"


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
