"""Tools of other servers, as the agent has them."""

import json
from collections.abc import Mapping
from typing import Any

import pytest
from langchain_core.messages import AIMessage
from langchain_core.messages.tool import ToolCall

from proviso_service.agent.tool_calls import InvalidCall, ValidCall, read_calls
from proviso_service.context.model import ItemRef, ItemType
from proviso_service.identity import Caller
from proviso_service.mcp.listing import read_listing
from proviso_service.mcp.model import ListedTool, ServerTool, ToolOutput, ToolServerFailed
from proviso_service.tools.base import ExternalTool, SourcePassage, ToolScope, UncheckedArgs, item_of, server_of
from proviso_service.tools.external import ExternalToolResult, McpTool
from proviso_service.tools.registry import ToolRegistry

SCHEMA = {
    "type": "object",
    "properties": {"matter_id": {"type": "string"}, "tags": {"type": ["array", "null"], "items": {"const": 1}}},
    "required": ["matter_id"],
}
SCOPE = ToolScope(Caller("tenant", "user"), "m-1")


class Played:
    """Answers each call with what it was given."""

    def __init__(self, *outputs: ToolOutput) -> None:
        self.calls: list[tuple[str, str, Mapping[str, Any]]] = []
        self._outputs = list(outputs)

    async def call(self, server: str, tool: str, arguments: Mapping[str, Any]) -> ToolOutput:
        self.calls.append((server, tool, arguments))
        return self._outputs.pop(0)


def _tool() -> ServerTool:
    return read_listing("files", [ListedTool("find.it", "Finds it.", SCHEMA)]).tools[0]


def _called(**arguments: Any) -> ValidCall | InvalidCall:
    tool = McpTool(_tool(), Played())
    call = ToolCall(name=tool.name, args=arguments, id="c-1", type="tool_call")
    return read_calls(AIMessage("", tool_calls=[call]), ToolRegistry([tool]))[0]


def _no_number(_passage: SourcePassage) -> int:
    raise AssertionError("nothing here is a passage of a document")


def test_the_registry_shows_the_servers_schema_and_names_the_item_as_the_server_does() -> None:
    tool = McpTool(_tool(), Played())
    registry = ToolRegistry([tool])

    function = registry.schemas()[0]["function"]
    assert function["name"] == tool.name
    assert function["parameters"]["required"] == ["matter_id"]
    assert item_of(tool) == ItemRef(ItemType.TOOL, "find.it", "files")
    assert isinstance(tool, ExternalTool)
    assert server_of(tool) == "files"


def test_arguments_that_fit_reach_the_call_as_they_are() -> None:
    call = _called(matter_id="theirs", tags=[1])

    assert isinstance(call, ValidCall)
    assert json.loads(call.args.model_dump_json(exclude_unset=True)) == {"matter_id": "theirs", "tags": [1]}


def test_arguments_that_do_not_fit_are_told_precisely() -> None:
    call = _called(tags=[1, 2])

    assert isinstance(call, InvalidCall)
    assert "arguments: 'matter_id' is a required property" in call.problem
    assert "tags.1: 1 was expected" in call.problem


async def test_a_server_is_told_the_arguments_and_nothing_else() -> None:
    played = Played(ToolOutput("found"))
    result = await McpTool(_tool(), played).run(SCOPE, UncheckedArgs.model_validate({"matter_id": "theirs"}))

    assert played.calls == [("files", "find.it", {"matter_id": "theirs"})]
    assert result.data() == {"server": "files", "text": "found", "truncated": False}


async def test_a_failure_that_the_tool_reports_is_a_tool_error() -> None:
    played = Played(ToolOutput("no such file", is_error=True))
    with pytest.raises(ToolServerFailed, match=r"'find\.it' of 'files' failed: no such file"):
        await McpTool(_tool(), played).run(SCOPE, UncheckedArgs())


@pytest.mark.parametrize("max_chars", [200, 500, 10_000])
@pytest.mark.parametrize(
    "output",
    [
        ToolOutput("x" * 5_000),
        ToolOutput('"quoted"\n' * 500, truncated=True),
        ToolOutput("", {"rows": list(range(1_000))}),
        ToolOutput("In short.", {"rows": [1]}),
    ],
)
def test_a_result_is_framed_json_that_fits(output: ToolOutput, max_chars: int) -> None:
    rendered = ExternalToolResult("files", output).render(_no_number, max_chars)

    shown = json.loads(rendered.text)
    assert len(rendered.text) <= max_chars
    assert shown["server"] == "files"
    assert shown["truncated"] is rendered.truncated
    is_whole = shown.get("structured") == output.structured and shown.get("text", "") == output.text
    assert rendered.truncated is (output.truncated or not is_whole)
