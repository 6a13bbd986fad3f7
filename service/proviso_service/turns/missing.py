"""Marks of items that have left the catalog, and approvals of tools that still hold.

They are made whenever sessions and request contexts are handed out, by the catalog of that moment, and never stored: an
item that comes back is missing no more."""

from dataclasses import replace

from proviso_service.context.catalog.catalog import Catalog
from proviso_service.context.model import ApprovedTool, ItemRef, RequestContext
from proviso_service.turns.events import FinalState
from proviso_service.turns.sessions import ChatMessage, Session


def marked_session(session: Session, catalog: Catalog) -> Session:
    items = tuple(replace(item, missing=is_missing(item.ref, catalog)) for item in session.items)
    approved = tuple(tool for tool in session.approved_tools if still_holds(tool, catalog))
    return replace(session, items=items, approved_tools=approved)


def marked_context(context: RequestContext | None, catalog: Catalog) -> RequestContext | None:
    """Whether the model was given an item then is not changed: its note says that."""
    if context is None:
        return None
    items = tuple(replace(item, missing=is_missing(item.ref, catalog)) for item in context.items)
    return replace(context, items=items)


def marked_message(message: ChatMessage, catalog: Catalog) -> ChatMessage:
    return replace(message, request_context=marked_context(message.request_context, catalog))


def marked_state(state: FinalState, catalog: Catalog) -> FinalState:
    """Of a turn that has ended: its own request context and those of its messages."""
    return replace(
        state,
        request_context=marked_context(state.request_context, catalog),
        messages=tuple(marked_message(message, catalog) for message in state.messages),
    )


def still_holds(approved: ApprovedTool, catalog: Catalog) -> bool:
    """Whether the tool is what was approved. Nobody can tell it of one that is not listed (yet): then it does not."""
    return bool(approved.sha256) and approved.sha256 == catalog.tool_sha256(approved.ref)


def is_missing(ref: ItemRef, catalog: Catalog) -> bool:
    """Nobody can tell it of the tools of a server that has not listed any: it may just be starting."""
    return catalog.find(ref) is None and ref.server_name not in catalog.pending_servers
