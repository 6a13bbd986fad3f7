"""Tools by the names that the model calls them by."""

import json
from collections.abc import Iterable, Mapping
from typing import Any

from langchain_core.utils.function_calling import convert_to_openai_tool

from proviso_service.context.catalog.tools import ToolDefinition
from proviso_service.tools.base import ServedTool, Tool, item_of


class ToolRegistry:
    """Tools by name, with the schemas that the model is shown."""

    def __init__(self, tools: Iterable[Tool], schemas: Iterable[dict[str, Any]] | None = None) -> None:
        """`schemas` are those of the tools, in their order, where they are at hand."""
        self._tools: Mapping[str, Tool] = {tool.name: tool for tool in tools}
        self._schemas = [_schema(tool) for tool in self._tools.values()] if schemas is None else list(schemas)

    def get(self, name: str) -> Tool | None:
        return self._tools.get(name)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self._tools)

    def schemas(self) -> list[dict[str, Any]]:
        """OpenAI-style function schemas, in a stable order."""
        return self._schemas

    def definitions(self) -> tuple[ToolDefinition, ...]:
        """The tools as the catalog shows them: what the model is told of each."""
        return tuple(
            _definition(tool, schema) for tool, schema in zip(self._tools.values(), self._schemas, strict=True)
        )


def _definition(tool: Tool, schema: Mapping[str, Any]) -> ToolDefinition:
    shown = schema["function"]
    return ToolDefinition(item_of(tool).name, shown["description"], json.dumps(shown, ensure_ascii=False))


def _schema(tool: Tool) -> dict[str, Any]:
    if isinstance(tool, ServedTool):
        function = {"name": tool.name, "description": tool.description, "parameters": dict(tool.shown_schema)}
        return {"type": "function", "function": function}
    schema = convert_to_openai_tool(tool.args)
    schema["function"] |= {"name": tool.name, "description": tool.description}
    return schema
