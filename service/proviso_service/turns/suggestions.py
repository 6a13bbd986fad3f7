"""Which items a session could do without: those that its answers never used."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from proviso_service.context.model import ItemRef, ItemType, RequestContext, SessionItem

ANSWERS_LOOKED_AT = 200
"""Of a session, the newest ones."""


@dataclass(frozen=True, slots=True)
class RemovalSuggestion:
    """An item that entered so many answers and was cited in none."""

    item: SessionItem
    answers: int


def removals(
    items: Iterable[SessionItem], contexts: Sequence[RequestContext], suggest_after: int
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
