"""The tools that a turn offers to the model."""

import hashlib
import json
from collections.abc import Iterable, Mapping
from typing import Any

from langchain_core.utils.function_calling import convert_to_openai_tool

from proviso_service.context.catalog.tools import ToolDefinition
from proviso_service.context.model import IncludeMode, ItemRef, ItemType, RequestItem
from proviso_service.tools.base import ServedTool, Tool, server_of


class ToolRegistry:
    """Tools by name, with the schemas that the model is shown."""

    def __init__(self, tools: Iterable[Tool]) -> None:
        self._tools: Mapping[str, Tool] = {tool.name: tool for tool in tools}
        self._schemas = [_schema(tool) for tool in self._tools.values()]
        self.schemas_sha256 = hashlib.sha256(json.dumps(self._schemas, sort_keys=True).encode()).hexdigest()
        """Identifies what the model is shown of them."""

    def get(self, name: str) -> Tool | None:
        return self._tools.get(name)

    def without(self, name: str) -> "ToolRegistry":
        """The same tools but for one."""
        return ToolRegistry(tool for tool in self._tools.values() if tool.name != name)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self._tools)

    def schemas(self) -> list[dict[str, Any]]:
        """OpenAI-style function schemas, in a stable order."""
        return self._schemas

    def context_items(self) -> tuple[RequestItem, ...]:
        """The tools as context items, under their servers' names for them; include mode always."""
        return tuple(RequestItem(_item(tool), IncludeMode.ALWAYS) for tool in self._tools.values())

    def definitions(self) -> tuple[ToolDefinition, ...]:
        """The tools as the catalog shows them: what the model is told of each."""
        return tuple(
            _definition(tool, schema) for tool, schema in zip(self._tools.values(), self._schemas, strict=True)
        )


def _item(tool: Tool) -> ItemRef:
    name = tool.name_on_server if isinstance(tool, ServedTool) else tool.name
    return ItemRef(ItemType.TOOL, name, server_of(tool))


def _definition(tool: Tool, schema: Mapping[str, Any]) -> ToolDefinition:
    shown = schema["function"]
    return ToolDefinition(_item(tool).name, shown["description"], json.dumps(shown, ensure_ascii=False))


def _schema(tool: Tool) -> dict[str, Any]:
    if isinstance(tool, ServedTool):
        function = {"name": tool.name, "description": tool.description, "parameters": dict(tool.shown_schema)}
        return {"type": "function", "function": function}
    schema = convert_to_openai_tool(tool.args)
    schema["function"] |= {"name": tool.name, "description": tool.description}
    return schema
