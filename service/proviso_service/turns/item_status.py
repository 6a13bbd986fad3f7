"""What the current catalog says about the items of stored sessions and answers.

Items that have left the catalog are marked as missing, and approvals of tools that have changed are left out. This is
done each time that sessions and request contexts are handed out, and never stored: an item that comes back is no longer
missing.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from proviso_service.context.catalog.catalog import Catalog
from proviso_service.context.model import ItemRef, ItemType, RequestContext, SessionItem
from proviso_service.turns.events import FinalState
from proviso_service.turns.sessions import ChatMessage, Session, with_locked_items


def mark_in_session(session: Session, catalog: Catalog) -> Session:
    """The session with its missing and its locked items marked, and with the locked items that its next turn adds. Of
    its approved tools only those remain that are still what was approved."""
    new = catalog.new_session
    items = tuple(
        replace(item, missing=catalog.is_missing(item.ref), locked=item.ref in new.locked)
        for item in with_locked_items(session.items, new)
    )
    approved = tuple(tool for tool in session.approved_tools if catalog.still_approves(tool))
    return replace(session, items=items, approved_tools=approved)


def mark_missing_in_context(context: RequestContext | None, catalog: Catalog) -> RequestContext | None:
    """The request context with its missing items marked. Whether the model was given an item at that time does not
    change: the item's note says that."""
    if context is None:
        return None
    items = tuple(replace(item, missing=catalog.is_missing(item.ref)) for item in context.items)
    return replace(context, items=items)


def mark_missing_in_message(message: ChatMessage, catalog: Catalog) -> ChatMessage:
    """The message with the missing items of its request context marked."""
    return replace(message, request_context=mark_missing_in_context(message.request_context, catalog))


def mark_missing_in_state(state: FinalState, catalog: Catalog) -> FinalState:
    """The final state with missing items marked, in its own request context and in those of its messages."""
    return replace(
        state,
        request_context=mark_missing_in_context(state.request_context, catalog),
        messages=tuple(mark_missing_in_message(message, catalog) for message in state.messages),
    )


ANSWERS_LOOKED_AT = 200
"""Suggestions to remove items rest on this many answers of a session, the newest ones."""

SUGGEST_AFTER = 3
"""The removal of an item is suggested once this many answers were given it and did not cite it."""


@dataclass(frozen=True, slots=True)
class RemovalSuggestion:
    """An item that the model was given for so many answers of a session and that none of them cited."""

    item: SessionItem
    answers: int


def removal_suggestions(
    items: Iterable[SessionItem], contexts: Sequence[RequestContext], suggest_after: int = SUGGEST_AFTER
) -> tuple[RemovalSuggestion, ...]:
    """The references and tools of a session that it could do without, in the session's order: the model was given them
    for at least `suggest_after` of the answers that had these request contexts, and no answer cited them. Rules are
    never suggested, since nobody can tell whether an answer followed one; nor are locked items."""
    entered: Counter[ItemRef] = Counter()
    cited: set[ItemRef] = set()
    for context in contexts:
        entered.update({item.ref for item in context.items if item.is_given})
        cited.update(item.ref for item in context.items if item.cited)
    return tuple(
        RemovalSuggestion(item, entered[item.ref])
        for item in items
        if item.ref.type is not ItemType.RULE
        and not item.locked
        and item.ref not in cited
        and entered[item.ref] >= suggest_after
    )
