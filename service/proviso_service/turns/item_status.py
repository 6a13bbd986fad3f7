"""Marks of items that have left the catalog, and approvals of tools that still hold.

They are made whenever sessions and request contexts are handed out, by the catalog of that moment, and never stored: an
item that comes back is missing no more."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from proviso_service.context.catalog.catalog import Catalog
from proviso_service.context.model import ItemRef, ItemType, RequestContext, SessionItem
from proviso_service.turns.events import FinalState
from proviso_service.turns.sessions import ChatMessage, Session


def mark_missing_in_session(session: Session, catalog: Catalog) -> Session:
    items = tuple(replace(item, missing=catalog.is_missing(item.ref)) for item in session.items)
    approved = tuple(tool for tool in session.approved_tools if catalog.still_approves(tool))
    return replace(session, items=items, approved_tools=approved)


def mark_missing_in_context(context: RequestContext | None, catalog: Catalog) -> RequestContext | None:
    """Whether the model was given an item then is not changed: its note says that."""
    if context is None:
        return None
    items = tuple(replace(item, missing=catalog.is_missing(item.ref)) for item in context.items)
    return replace(context, items=items)


def mark_missing_in_message(message: ChatMessage, catalog: Catalog) -> ChatMessage:
    return replace(message, request_context=mark_missing_in_context(message.request_context, catalog))


def mark_missing_in_state(state: FinalState, catalog: Catalog) -> FinalState:
    """Of a turn that has ended: its own request context and those of its messages."""
    return replace(
        state,
        request_context=mark_missing_in_context(state.request_context, catalog),
        messages=tuple(mark_missing_in_message(message, catalog) for message in state.messages),
    )


ANSWERS_LOOKED_AT = 200
"""Of a session, the newest ones."""

SUGGEST_AFTER = 3
"""The removal of an item is suggested once this many answers were given it and did not cite it."""


@dataclass(frozen=True, slots=True)
class RemovalSuggestion:
    """An item that entered so many answers and was cited in none."""

    item: SessionItem
    answers: int


def removal_suggestions(
    items: Iterable[SessionItem], contexts: Sequence[RequestContext], suggest_after: int = SUGGEST_AFTER
) -> tuple[RemovalSuggestion, ...]:
    """The session's references and tools that the model was given for at least `suggest_after` of the answers with
    these request contexts, and that none of them cited; in the session's order. Of a rule nobody can tell whether an
    answer used it."""
    entered: Counter[ItemRef] = Counter()
    cited: set[ItemRef] = set()
    for context in contexts:
        entered.update({item.ref for item in context.items if item.is_given})
        cited.update(item.ref for item in context.items if item.cited)
    return tuple(
        RemovalSuggestion(item, entered[item.ref])
        for item in items
        if item.ref.type is not ItemType.RULE and item.ref not in cited and entered[item.ref] >= suggest_after
    )
