"""Which of a request's items the model is given, and with what content."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from proviso_service.context.catalog.catalog import Catalog
from proviso_service.context.model import OWN_SERVER, ItemRef, ItemType, RequestItem
from proviso_service.tools.awaited import AwaitedTool, ToolFinder
from proviso_service.tools.base import Tool
from proviso_service.tools.registry import ToolRegistry
from proviso_service.tools.retriever import RETRIEVER

_NO_TOOL = "its server does not offer it"
_STARTING = "its server has not listed its tools yet"
_NO_DOCUMENTATION = "there is no documentation to look into"
_DOCUMENTATION_TOOL = ItemRef(ItemType.TOOL, RETRIEVER, OWN_SERVER)


@dataclass(frozen=True, slots=True)
class Offer:
    """`items` are all of the request's; those that are given have their content in `contents`, by its SHA-256. `tools`
    are those among them that the model may call."""

    items: tuple[RequestItem, ...] = ()
    contents: Mapping[str, str] = field(default_factory=dict)
    tools: ToolRegistry = field(default_factory=lambda: ToolRegistry(()))

    @property
    def references(self) -> Mapping[str, str]:
        """Contents of the references that are given, by name."""
        return {
            item.ref.name: self.contents[item.content_sha256]
            for item in self.items
            if item.ref.type is ItemType.REFERENCE and item.is_given
        }

    @property
    def has_tools_of_others(self) -> bool:
        """Whether there is a tool of another server, which needs no matter."""
        return any(item.ref.server_name not in ("", OWN_SERVER) and item.is_given for item in self.items)


def offer(items: Sequence[RequestItem], catalog: Catalog, tools: ToolFinder, *, documentation: bool) -> Offer:
    """`documentation`: there is some, so that the tool that looks into it is of use."""
    noted: list[RequestItem] = []
    contents: dict[str, str] = {}
    callable_tools: list[Tool] = []
    for item in items:
        known, tool = catalog.find(item.ref), tools.find(item.ref)
        missing = item.missing and catalog.is_missing(item.ref)
        note = _STARTING if item.missing and not missing else item.note or _note(item.ref, tool, documentation)
        noted.append(replace(item, missing=missing, note=note))
        if known is not None and not note:
            contents[known.content_sha256] = known.content
            callable_tools += [tool] if tool is not None else []
    schemas = [_schema(contents[item.content_sha256]) for item in noted if _is_given_tool(item)]
    return Offer(tuple(noted), contents, ToolRegistry(callable_tools, schemas))


def offer_again(items: Sequence[RequestItem], contents: Mapping[str, str], tools: ToolFinder) -> Offer:
    """What was given before a restart. A tool whose server has not listed it yet is looked for when it is called."""
    given = [item for item in items if _is_given_tool(item)]
    schemas = [_schema(contents[item.content_sha256]) for item in given]
    found = [
        tools.find(item.ref) or AwaitedTool(item.ref, schema["function"], tools)
        for item, schema in zip(given, schemas, strict=True)
    ]
    return Offer(tuple(items), contents, ToolRegistry(found, schemas))


def _note(ref: ItemRef, tool: Tool | None, documentation: bool) -> str:
    """Why a tool cannot be given; empty where it can be, and for what is no tool."""
    if ref.type is not ItemType.TOOL:
        return ""
    if tool is None:
        return _NO_TOOL
    return _NO_DOCUMENTATION if ref == _DOCUMENTATION_TOOL and not documentation else ""


def _is_given_tool(item: RequestItem) -> bool:
    return item.ref.type is ItemType.TOOL and item.is_given


def _schema(content: str) -> dict[str, Any]:
    return {"type": "function", "function": json.loads(content)}
