"""The items of a session: always items from its creation, and what people add and remove."""

from collections.abc import Iterable
from typing import Protocol

from proviso_service.context.model import IncludeMode, ItemRef, SessionItem


class CatalogEntry(Protocol):
    """An item of the catalog; `include_mode` is the effective one."""

    @property
    def ref(self) -> ItemRef: ...

    @property
    def include_mode(self) -> IncludeMode: ...

    @property
    def enabled(self) -> bool: ...


def initial_items(catalog: Iterable[CatalogEntry]) -> tuple[SessionItem, ...]:
    """What a new session holds: the enabled always items, in order, each once."""
    items: tuple[SessionItem, ...] = ()
    for entry in catalog:
        if entry.include_mode is IncludeMode.ALWAYS and entry.enabled:
            items = with_item(items, entry.ref, IncludeMode.ALWAYS)
    return items


def with_item(
    items: tuple[SessionItem, ...], ref: ItemRef, include_mode: IncludeMode = IncludeMode.MANUAL
) -> tuple[SessionItem, ...]:
    """With the item at the end; the same when it is there already, whatever its mode. Any item can be added, whatever
    its mode in the catalog."""
    if any(item.ref == ref for item in items):
        return items
    return (*items, SessionItem(ref, include_mode))


def without_item(items: tuple[SessionItem, ...], ref: ItemRef) -> tuple[SessionItem, ...]:
    """Without the item, whatever its mode; the same when it is not there."""
    return tuple(item for item in items if item.ref != ref)
