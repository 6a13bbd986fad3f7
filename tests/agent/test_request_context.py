"""Why the model is not given a tool that its session holds."""

import pytest

from proviso_service.agent.request_context import SYSTEM_PROMPT_SHA256, with_contents
from proviso_service.context.catalog.catalog import AgentDefinition, Catalog
from proviso_service.context.model import IncludeMode, ItemRef, ItemType, RequestItem
from proviso_service.context.selection.request_items import NOT_IN_CATALOG, RequestItems
from tests.support.agent_world import SomeTools
from tests.support.catalogs import an_item

ECHO = ItemRef(ItemType.TOOL, "echo", "odd")
NOT_LISTED = RequestItem(ECHO, IncludeMode.MANUAL, missing=True, note=NOT_IN_CATALOG)


def chosen(item: RequestItem) -> RequestItems:
    return RequestItems((item,), (), 0, 0, near_limit=False)


@pytest.mark.parametrize(
    ("pending", "missing", "note"),
    [((), True, NOT_IN_CATALOG), (("odd",), False, "its server has not listed its tools yet")],
    ids=["gone", "starting"],
)
def test_a_tool_whose_server_is_starting_is_not_called_missing(
    pending: tuple[str, ...], missing: bool, note: str
) -> None:
    catalog = Catalog(AgentDefinition("", ""), [], pending)
    (item,) = with_contents(chosen(NOT_LISTED), catalog, SomeTools([]), documentation_version=0).items
    assert (item.missing, item.note, item.is_given) == (missing, note, False)


def test_a_listed_tool_that_nobody_offers_is_noted() -> None:
    listed = an_item(ECHO, content='{"name": "odd__echo"}')
    item = RequestItem(ECHO, IncludeMode.ALWAYS, content_sha256=listed.content_sha256)
    catalog = Catalog(AgentDefinition("", ""), [listed])
    selected = with_contents(chosen(item), catalog, SomeTools([]), documentation_version=0)
    assert [item.note for item in selected.items] == ["its server does not offer it"]
    assert (list(selected.contents), selected.tools.schemas()) == ([SYSTEM_PROMPT_SHA256], [])
