"""What a person may change about a session's items: any item can be added or removed, whatever its include mode."""

from proviso_service.context.catalog.catalog import Catalog, shown
from proviso_service.context.model import ItemRef, SessionItem
from proviso_service.context.session_items import with_item, without_item
from proviso_service.errors import ContextItemDisabled


def with_added(items: tuple[SessionItem, ...], ref: ItemRef, catalog: Catalog) -> tuple[SessionItem, ...]:
    """With the item of the catalog, as manual; the same when it is there already, whatever its mode and whatever has
    become of it. Raises ContextItemNotFound, which names near matches, and ContextItemDisabled."""
    if _holds(items, ref):
        return items
    if not catalog.get(ref).enabled:
        raise ContextItemDisabled(shown(ref))
    return with_item(items, ref)


def with_removed(items: tuple[SessionItem, ...], ref: ItemRef, catalog: Catalog) -> tuple[SessionItem, ...]:
    """Without the item, also when it has left the catalog; the same when it is not there. Raises ContextItemNotFound
    for one that neither the session nor the catalog has: a name that was mistyped."""
    if not _holds(items, ref):
        catalog.get(ref)
    return without_item(items, ref)


def _holds(items: tuple[SessionItem, ...], ref: ItemRef) -> bool:
    return any(item.ref == ref for item in items)
