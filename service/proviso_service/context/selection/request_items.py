"""The items of a request: those of the session, and the agent items chosen for its message (the design's
buildRequestContext). The highest priority comes first."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import structlog

from proviso_service.context.model import (
    IncludeMode,
    ItemRef,
    OmissionReason,
    OmittedItem,
    RequestItem,
    SessionItem,
)
from proviso_service.context.selection.budget import ItemBudget
from proviso_service.context.selection.candidates import Candidate, agent_candidates
from proviso_service.context.selection.choosing import Chosen, choose
from proviso_service.context.selection.index import Matches
from proviso_service.context.selection.search import ItemSearch
from proviso_service.settings import SelectionSettings

NOT_IN_CATALOG = "the catalog does not have it"
DISABLED = "it is disabled in the catalog"

_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class RequestItems:
    """`items` are a superset of the session's, in order of priority, of equal ones the session's first, as they stand
    there; one that has left the catalog has priority 0. `characters` and `tokens`, an estimate, are of those that are
    enabled; a tool counts also where it turns out that the model cannot be given it. `near_limit`: they take most of
    the room that they have."""

    items: tuple[RequestItem, ...]
    omitted: tuple[OmittedItem, ...]
    characters: int
    tokens: int
    near_limit: bool


async def build_request_items(
    session_items: Sequence[SessionItem],
    catalog: Sequence[Candidate],
    message: str,
    search: ItemSearch,
    settings: SelectionSettings,
) -> RequestItems:
    """`catalog` holds every item that the agent has, each once. Depends on nothing else but the embedder; raises
    nothing when the search fails: then no agent item is chosen, and the candidates are recorded as omitted for it."""
    held = {item.ref: item for item in session_items}
    known = {item.ref: item for item in catalog if item.ref in held}
    budget = ItemBudget(settings)
    for item in known.values():
        if item.enabled:
            budget.take(item)
    chosen = await _chosen(catalog, session_items, message, search, budget, settings)
    items = [
        *(_of_session(item, known.get(item.ref)) for item in held.values()),
        *(_of_agent(item, score) for item, score in chosen.items),
    ]
    priorities = {item.ref: item.priority for item in (*known.values(), *(item for item, _ in chosen.items))}
    items.sort(key=lambda item: -priorities.get(item.ref, 0))
    omitted = [*chosen.omitted, *_disabled(catalog, held)]
    return RequestItems(
        tuple(items), tuple(omitted[: settings.max_omitted]), budget.characters, budget.tokens, budget.near_limit
    )


async def _chosen(
    catalog: Sequence[Candidate],
    session_items: Sequence[SessionItem],
    message: str,
    search: ItemSearch,
    budget: ItemBudget,
    settings: SelectionSettings,
) -> Chosen:
    candidates = agent_candidates(catalog, session_items)
    if not candidates:
        return Chosen((), ())
    try:
        matches = await _matches(catalog, session_items, message, search)
    except Exception as error:  # whatever it is, the turn goes on without agent items
        _log.warning("agent_item_search_failed", error=type(error).__name__, candidates=len(candidates))
        return Chosen((), [OmittedItem(item.ref, OmissionReason.SEARCH_FAILED) for item in _by_priority(candidates)])
    return choose(candidates, matches, budget, settings)


async def _matches(
    catalog: Sequence[Candidate], session_items: Sequence[SessionItem], message: str, search: ItemSearch
) -> Matches:
    """Of the candidates. What is searched is the same for all sessions, so that its index can be kept."""
    searched = agent_candidates(catalog, ())
    in_session = {item.ref for item in session_items}
    wanted = np.array([item.ref not in in_session for item in searched])
    return await search.matches(searched, message, wanted)


def _of_session(item: SessionItem, known: Candidate | None) -> RequestItem:
    """It is in the request also where the model cannot be given it."""
    if known is None:
        return RequestItem(item.ref, item.include_mode, missing=True, note=NOT_IN_CATALOG)
    if not known.enabled:
        return RequestItem(item.ref, item.include_mode, note=DISABLED)
    return RequestItem(item.ref, item.include_mode, content_sha256=known.content_sha256)


def _of_agent(item: Candidate, score: float) -> RequestItem:
    return RequestItem(item.ref, IncludeMode.AGENT, score, item.content_sha256)


def _disabled(catalog: Iterable[Candidate], held: Mapping[ItemRef, SessionItem]) -> list[OmittedItem]:
    disabled = [item for item in catalog if item.include_mode is IncludeMode.AGENT and not item.enabled]
    return [OmittedItem(item.ref, OmissionReason.DISABLED) for item in _by_priority(disabled) if item.ref not in held]


def _by_priority(items: Iterable[Candidate]) -> list[Candidate]:
    return sorted(items, key=lambda item: -item.priority)
