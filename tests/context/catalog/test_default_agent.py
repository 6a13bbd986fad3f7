"""The agent that ships with the service."""

from proviso_service.context.catalog.catalog import Catalog
from proviso_service.context.catalog.items import IncludeModeSource
from proviso_service.context.catalog.loader import default_agent_folder
from proviso_service.context.model import IncludeMode, ItemType
from tests.support.catalogs import faults_of, load

ALWAYS_CHARS = 4_000
"""What every request carries has to leave room for the conversation."""


async def test_the_default_agent_has_no_fault_and_needs_no_server() -> None:
    assert await faults_of(default_agent_folder()) == []
    agent = await load(default_agent_folder())
    assert agent.mcp_servers == ()
    catalog = Catalog(agent)
    kinds = [item.ref.type for item in catalog]
    assert kinds.count(ItemType.RULE) >= 6
    assert kinds.count(ItemType.REFERENCE) >= 4


async def test_its_items_say_how_they_are_included_and_are_short() -> None:
    catalog = Catalog(await load(default_agent_folder()))
    assert all(item.include_mode_source is IncludeModeSource.ITEM for item in catalog)
    assert all(item.enabled and len(item.content) <= 2_500 for item in catalog)
    assert {item.include_mode for item in catalog} == set(IncludeMode)
    assert 0 < sum(len(item.content) for item in catalog.always_items()) <= ALWAYS_CHARS
    assert {item.ref.type for item in catalog.always_items()} == {ItemType.RULE}
