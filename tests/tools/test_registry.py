"""Tools by the items that name them."""

import json

from proviso_service.context.model import OWN_SERVER, ItemRef, ItemType
from proviso_service.identity import Caller
from proviso_service.mcp.listing import ToolListing, read_listing
from proviso_service.mcp.model import ListedTool, ToolOutput
from proviso_service.tools.base import ToolScope, UncheckedArgs
from proviso_service.tools.external import McpTool
from proviso_service.tools.registry import Toolbox
from tests.support.agent_world import Lookup

SCHEMA = {"type": "object", "properties": {"path": {"type": "string"}}}


class Caught:
    """Answers a call with where it went."""

    async def call(self, server: str, tool: str, arguments: object) -> ToolOutput:
        return ToolOutput(f"{server} {tool} {arguments}")


def listing(server: str, *names: str) -> ToolListing:
    return read_listing(server, [ListedTool(name, "Finds it.", SCHEMA) for name in names])


def tool_ref(name: str, server: str) -> ItemRef:
    return ItemRef(ItemType.TOOL, name, server)


async def test_own_and_served_tools_are_found_by_their_servers_names_for_them() -> None:
    lookup = Lookup()
    toolbox = Toolbox([lookup], Caught())
    toolbox.take({"files": listing("files", "find.it", "lookup"), "slow": None})

    assert toolbox.find(tool_ref("lookup", OWN_SERVER)) is lookup
    found = toolbox.find(tool_ref("find.it", "files"))
    assert isinstance(found, McpTool)
    assert found.name.startswith("files__find_it_")
    result = await found.run(ToolScope(Caller("t", "u"), None), UncheckedArgs.model_validate({"path": "a"}))
    assert result.output.text == "files find.it {'path': 'a'}"
    for absent in (
        tool_ref("find.it", OWN_SERVER),
        tool_ref(found.name, "files"),
        tool_ref("find.it", "slow"),
        tool_ref("find.it", "unknown"),
        ItemRef(ItemType.RULE, "lookup", OWN_SERVER),
    ):
        assert toolbox.find(absent) is None


def test_tools_are_made_once_for_each_listing() -> None:
    toolbox = Toolbox([], Caught())
    same = listing("files", "find")
    toolbox.take({"files": same})
    first = toolbox.find(tool_ref("find", "files"))
    assert first is not None
    toolbox.take({"files": same, "more": listing("more", "find")})
    assert toolbox.find(tool_ref("find", "files")) is first
    toolbox.take({"files": listing("files", "find")})
    assert toolbox.find(tool_ref("find", "files")) is not first
    toolbox.take({})
    assert toolbox.find(tool_ref("find", "files")) is None


def test_definitions_are_what_models_are_shown() -> None:
    toolbox = Toolbox([Lookup()], Caught())
    toolbox.take({"files": listing("files", "find")})
    (own,), (served,) = toolbox.definitions(OWN_SERVER), toolbox.definitions("files")
    assert own.name == "lookup"
    assert served.name == "find"
    assert json.loads(served.content) == {"name": "files__find", "description": "Finds it.", "parameters": SCHEMA}
    assert toolbox.definitions("unknown") == ()
