"""CatalogService over a real channel, with the default agent's folder or one of the test's."""

from pathlib import Path

import grpc

from proviso_client.v1 import catalog_pb2 as pb
from proviso_client.v1 import context_pb2, sessions_pb2
from proviso_client.v1.catalog_pb2_grpc import CatalogServiceStub
from proviso_client.v1.sessions_pb2_grpc import SessionServiceStub
from proviso_service.context.catalog.catalog import Catalog, CatalogHolder, tool_items
from proviso_service.context.catalog.items import ToolDefinition
from tests.api.serving import conversations, refusal, served
from tests.support.catalogs import RULE, load, write

RULE_TYPE = context_pb2.CONTEXT_ITEM_TYPE_RULE
TOOL_TYPE = context_pb2.CONTEXT_ITEM_TYPE_TOOL
AGENT_RULE = RULE.replace("Quoting", "Caps").replace("---\nQ", "include: agent\npriority: 4\n---\nQ")


async def folder_catalog(folder: Path) -> CatalogHolder:
    """As the service has it: the folder's items and a tool of its own."""

    async def read() -> Catalog:
        agent = await load(folder)
        return Catalog(agent, tool_items("proviso", [ToolDefinition("isaacus_iql", "IQL.", "{}")], agent.own_tools))

    holder = CatalogHolder(read)
    await holder.reload()
    return holder


async def test_items_are_listed_by_page_with_their_modes(tmp_path: Path) -> None:
    holder = await folder_catalog(write(tmp_path / "agent", rules__a_md=RULE, rules__b_md=AGENT_RULE))
    async with conversations(tmp_path, catalog=holder) as domain, served(domain) as server:
        catalog = CatalogServiceStub(server.channel)
        first = await catalog.ListContextItems(pb.ListContextItemsRequest(page_size=2))
        rest = await catalog.ListContextItems(pb.ListContextItemsRequest(page_token=first.next_page_token))
        tools = await catalog.ListContextItems(pb.ListContextItemsRequest(type=TOOL_TYPE))
        refused = await refusal(catalog.ListContextItems(pb.ListContextItemsRequest(page_token="forged")))  # noqa: S106
        foreign = pb.ListContextItemsRequest(page_token=first.next_page_token, type=TOOL_TYPE)
        of_all_types = await refusal(catalog.ListContextItems(foreign))
    caps, quoting = first.items
    assert (caps.item.name, quoting.item.name) == ("Caps", "Quoting")
    assert (caps.include_mode, caps.include_mode_source) == (
        context_pb2.INCLUDE_MODE_AGENT,
        pb.INCLUDE_MODE_SOURCE_ITEM,
    )
    assert (quoting.include_mode, quoting.include_mode_source) == (
        context_pb2.INCLUDE_MODE_ALWAYS,
        pb.INCLUDE_MODE_SOURCE_DEFAULT,
    )
    assert (caps.characters, caps.priority, caps.enabled, len(caps.content_sha256)) == (14, 4, True, 64)
    assert list(rest.items) == list(tools.items)
    assert (tools.items[0].item.server_name, rest.next_page_token) == ("proviso", "")
    assert refused.violations.keys() == of_all_types.violations.keys() == {"page_token"}
    assert (first.total_size, rest.total_size, tools.total_size) == (3, 3, 1)


async def test_an_item_has_its_content_and_an_unknown_one_near_matches(tmp_path: Path) -> None:
    holder = await folder_catalog(write(tmp_path / "agent", rules__a_md=RULE))
    async with conversations(tmp_path, catalog=holder) as domain, served(domain) as server:
        catalog = CatalogServiceStub(server.channel)
        known = context_pb2.ContextItemRef(type=RULE_TYPE, name="Quoting")
        found = await catalog.GetContextItem(pb.GetContextItemRequest(item=known))
        unknown = context_pb2.ContextItemRef(type=RULE_TYPE, name="quotation")
        missing = await refusal(catalog.GetContextItem(pb.GetContextItemRequest(item=unknown)))
        malformed = await refusal(catalog.GetContextItem(pb.GetContextItemRequest()))
    assert (found.content, found.item.description) == ("Quote exactly.", "How to quote.")
    assert (missing.code, missing.reason) == (grpc.StatusCode.NOT_FOUND, "CONTEXT_ITEM_NOT_FOUND")
    assert missing.message == "The catalog has no rule 'quotation'; did you mean rule 'Quoting'?"
    assert missing.details["ErrorInfo"].metadata["near_matches"] == "rule 'Quoting'"
    assert malformed.code is grpc.StatusCode.INVALID_ARGUMENT


async def test_a_reload_is_seen_by_new_sessions_and_a_fault_changes_nothing(tmp_path: Path) -> None:
    folder = write(tmp_path / "agent", rules__a_md=RULE)
    holder = await folder_catalog(folder)

    async with conversations(tmp_path, catalog=holder) as domain, served(domain) as server:
        catalog, sessions = CatalogServiceStub(server.channel), SessionServiceStub(server.channel)

        async def names_in_new_session() -> list[str]:
            made = await sessions.CreateSession(sessions_pb2.CreateSessionRequest())
            return [item.item.name for item in made.session.items]

        assert await names_in_new_session() == ["Quoting", "isaacus_iql"]
        write(folder, rules__b_md=RULE.replace("Quoting", "Caps"))
        reloaded = await catalog.ReloadCatalog(pb.ReloadCatalogRequest())
        assert reloaded.item_count == 3
        assert await names_in_new_session() == ["Caps", "Quoting", "isaacus_iql"]

        write(folder, rules__b_md=RULE.replace("---\nQ", "include: often\n---\nQ"), rules__c_md="")
        refused = await refusal(catalog.ReloadCatalog(pb.ReloadCatalogRequest()))
        assert (refused.code, refused.reason) == (grpc.StatusCode.FAILED_PRECONDITION, "CATALOG_INVALID")
        assert refused.violations["rules/b.md:4 include"] == "must be 'always', 'manual' or 'agent'"
        assert refused.violations.keys() == {"rules/b.md:4 include", "rules/c.md:1"}
        assert await names_in_new_session() == ["Caps", "Quoting", "isaacus_iql"]
