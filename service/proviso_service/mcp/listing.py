"""What a server lists, made into tools that a model can be shown, or refused with a reason."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from proviso_service.mcp.arguments import check_schema
from proviso_service.mcp.model import ListedTool, RefusedTool, ServerTool
from proviso_service.mcp.names import shown_name
from proviso_service.mcp.schemas import ToolRefused, checked_schema
from proviso_service.mcp.shown_schemas import shown_schema

MAX_TOOLS = 128
MAX_NAME_CHARS = 128
MAX_DESCRIPTION_CHARS = 2_000


@dataclass(frozen=True, slots=True)
class Listing:
    tools: tuple[ServerTool, ...] = ()
    refused: tuple[RefusedTool, ...] = ()


def read_listing(server: str, listed: Sequence[ListedTool]) -> Listing:
    """The first MAX_TOOLS tools in the server's order, each under a name of its own. Takes a while: not for the event
    loop."""
    tools: dict[str, ServerTool] = {}
    refused: list[RefusedTool] = []
    for one in listed:
        try:
            tool = _read(server, one, tools)
        except ToolRefused as problem:
            refused.append(RefusedTool(_printable(one.name[:MAX_NAME_CHARS]), _encodable(str(problem))))
            if len(refused) == MAX_TOOLS:
                break
        else:
            tools[tool.shown_name] = tool
    return Listing(tuple(tools.values()), tuple(refused))


def _read(server: str, listed: ListedTool, others: Mapping[str, ServerTool]) -> ServerTool:
    shown = shown_name(server, listed.name)
    if not _is_name(listed.name):
        raise ToolRefused(
            f"Its name is not one line of 1 to {MAX_NAME_CHARS} printable characters, without spaces around it."
        )
    if shown in others:
        raise ToolRefused("Another tool of the server has its name.")
    if len(others) == MAX_TOOLS:
        raise ToolRefused(f"It comes after the first {MAX_TOOLS} tools of the server.")
    schema = checked_schema(listed.input_schema)
    check_schema(schema)
    description = listed.description.strip()[:MAX_DESCRIPTION_CHARS] or f"The tool {listed.name} of {server}."
    if not _is_text([description, schema]):
        raise ToolRefused("It holds half of a character.")
    return ServerTool(server, listed.name, shown, description, schema, shown_schema(schema))


def _is_name(name: str) -> bool:
    """Names stand in what people are asked and told of a tool: none may look like more than that. It is also what
    agent.yaml can name, to ask for approval of the tool for instance."""
    return 0 < len(name) <= MAX_NAME_CHARS and name.isprintable() and name == name.strip()


def _is_text(value: Any) -> bool:
    """False for what an escape such as \\ud800 makes: no encoding has it."""
    text = json.dumps(value, ensure_ascii=False)
    return _encodable(text) == text


def _printable(name: str) -> str:
    return "".join(character if character.isprintable() else "?" for character in name)


def _encodable(text: str) -> str:
    return text.encode("utf-8", "replace").decode()
