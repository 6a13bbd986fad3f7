"""A session's or request's items by type, as callers knew them before items carried their include mode."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

from proviso_service.context.model import ItemRef, ItemType


class HasRef(Protocol):
    """A SessionItem or a RequestItem."""

    @property
    def ref(self) -> ItemRef: ...


@dataclass(frozen=True, slots=True)
class ToolName:
    server_name: str
    tool_name: str


def rules(items: Iterable[HasRef]) -> list[str]:
    """Names, in order."""
    return [item.ref.name for item in items if item.ref.type is ItemType.RULE]


def references(items: Iterable[HasRef]) -> list[str]:
    """Names, in order."""
    return [item.ref.name for item in items if item.ref.type is ItemType.REFERENCE]


def tools(items: Iterable[HasRef]) -> list[ToolName]:
    """In order."""
    return [ToolName(item.ref.server_name, item.ref.name) for item in items if item.ref.type is ItemType.TOOL]
