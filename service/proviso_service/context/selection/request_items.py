"""The items of a request: those of the session, and the agent items that are chosen for its message. Items of a higher
priority come first.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
import structlog

from proviso_service.context.catalog.items import CatalogItem
from proviso_service.context.model import (
    IncludeMode,
    ItemRef,
    OmissionReason,
    OmittedItem,
    RequestItem,
    SessionItem,
    utf8_bytes,
)
from proviso_service.context.selection.config import SelectionConfig
from proviso_service.context.selection.index import Flags, Matches, agent_candidates
from proviso_service.context.selection.search import ItemSearch

NOT_IN_CATALOG = "the catalog does not have it"
DISABLED = "it is disabled in the catalog"

_log = structlog.get_logger(__name__)


_BYTES_PER_TOKEN = 4
"""An estimate: tokenizers make one token of some four bytes of English, and of fewer bytes of code and names."""


class ItemBudget:
    """Counts the characters and the estimated tokens of a request's items, in their descriptions and contents."""

    def __init__(self, settings: SelectionConfig, characters: int = 0, tokens: int = 0) -> None:
        self._settings = settings
        self._characters = characters
        self._tokens = tokens

    @property
    def characters(self) -> int:
        return self._characters

    @property
    def tokens(self) -> int:
        return self._tokens

    @property
    def near_limit(self) -> bool:
        """Whether the items take so much of the room that the request warns."""
        share, kept = self._settings.warn_share, self._settings
        return self._characters >= share * kept.max_chars or self._tokens >= share * kept.max_tokens

    def take_if_room(self, item: CatalogItem) -> bool:
        """Counts an item where there is room for it, and says whether there was."""
        characters, tokens = _size(item)
        if self._characters + characters > self._settings.max_chars:
            return False
        if self._tokens + tokens > self._settings.max_tokens:
            return False
        self._characters += characters
        self._tokens += tokens
        return True


def estimated_tokens(text: str) -> int:
    """About how many tokens the text takes."""
    return _tokens(utf8_bytes(text))


def _size(item: CatalogItem) -> tuple[int, int]:
    """The item's characters and estimated tokens."""
    return len(item.description) + len(item.content), _tokens(item.size_bytes)


def _tokens(size_bytes: int) -> int:
    return -(-size_bytes // _BYTES_PER_TOKEN)


@dataclass(frozen=True, slots=True)
class Chosen:
    """The agent items of a request. `items` are in order of priority, then score, each with its score. `omitted` are
    the best first, at most `max_omitted`."""

    items: Sequence[tuple[CatalogItem, float]]
    omitted: Sequence[OmittedItem]


def choose(
    candidates: Sequence[CatalogItem], matches: Matches, budget: ItemBudget, settings: SelectionConfig
) -> Chosen:
    """Takes the `top_n` best items that are similar enough to the message, in order of priority and as far as there is
    room. `matches` are those of `candidates`. Equal scores are decided by priority, then by the order of `candidates`.
    """
    if not candidates:
        return Chosen((), ())
    ranked = np.lexsort((np.array([-item.priority for item in candidates]), -matches.scores)).tolist()
    scores: list[float] = matches.scores.tolist()
    floor = max(settings.min_score, scores[ranked[0]] - settings.max_distance)
    similar = set(np.flatnonzero((matches.scores >= floor) & matches.in_top).tolist())
    places = [place for place in ranked if place in similar][: settings.top_n]
    by_priority = sorted(places, key=lambda place: -candidates[place].priority)
    kept = [place for place in by_priority if budget.take_if_room(candidates[place])]
    left_out = [place for place in ranked[: settings.max_omitted + len(kept)] if place not in kept]
    return Chosen(
        [(candidates[place], scores[place]) for place in kept],
        [_omitted(candidates[place], scores[place], floor) for place in left_out[: settings.max_omitted]],
    )


def _omitted(item: CatalogItem, score: float, floor: float) -> OmittedItem:
    """The record of an omitted item. One that is similar enough was left out in favour of better ones, because of the
    number of items or their size."""
    return OmittedItem(item.ref, OmissionReason.BELOW_THRESHOLD if score < floor else OmissionReason.BUDGET, score)


@dataclass(frozen=True, slots=True)
class RequestItems:
    """The items of a request.

    `items` holds every item of the session, in order of priority and, where that is equal, the session's items first in
    their order. An item that has left the catalog has priority 0. `characters` and `tokens`, an estimate, are those of
    the enabled items; a tool counts even where the model cannot be given it in the end. `near_limit` says that the
    items take most of their room."""

    items: tuple[RequestItem, ...]
    omitted: tuple[OmittedItem, ...]
    characters: int
    tokens: int
    near_limit: bool


@dataclass(frozen=True, slots=True)
class HeldItems:
    """What a request has of its session, and what may join it. It is the same for every message of a session, and for
    all sessions that have the same items.

    `items` are the request's records of the session's items, in order of priority and, where that is equal, in the
    session's order; `priorities` are those of the items that the catalog has. `characters` and `tokens` are those of
    the enabled ones, whether there is room for them or not. `searched` are the agent items that all sessions search, so
    that one index serves them all; `candidates` are those of them that are `wanted`, because the session does not have
    them. `disabled` are the agent items that are switched off."""

    items: Sequence[RequestItem]
    priorities: Mapping[ItemRef, int]
    characters: int
    tokens: int
    searched: tuple[CatalogItem, ...]
    wanted: Flags
    candidates: Sequence[CatalogItem]
    disabled: Sequence[OmittedItem]

    @classmethod
    def of(cls, session_items: Sequence[SessionItem], catalog: Sequence[CatalogItem]) -> Self:
        """`catalog` holds every item of the agent once."""
        held = {item.ref: item for item in session_items}
        known = {item.ref: item for item in catalog if item.ref in held}
        sizes = [_size(item) for item in known.values() if item.enabled]
        searched = agent_candidates(catalog, ())
        disabled = [item for item in catalog if item.include_mode is IncludeMode.AGENT and not item.enabled]
        priorities = {item.ref: item.priority for item in known.values()}
        return cls(
            _ordered([_of_session(item, known.get(item.ref)) for item in held.values()], priorities),
            priorities,
            sum(characters for characters, _ in sizes),
            sum(tokens for _, tokens in sizes),
            tuple(searched),
            np.array([item.ref not in held for item in searched]),
            [item for item in searched if item.ref not in held],
            [OmittedItem(i.ref, OmissionReason.DISABLED) for i in _by_priority(disabled) if i.ref not in held],
        )


async def build_request_items(
    held: HeldItems, message: str, search: ItemSearch, settings: SelectionConfig
) -> RequestItems:
    """Chooses the items of a request. The result depends on nothing else but the embedder. When the search fails, no
    agent item is chosen and the candidates are recorded as omitted for that reason; nothing is raised."""
    budget = ItemBudget(settings, held.characters, held.tokens)
    chosen = await _chosen(held, message, search, budget, settings)
    items = held.items
    if chosen.items:
        priorities = {**held.priorities, **{item.ref: item.priority for item, _ in chosen.items}}
        items = _ordered([*held.items, *(_of_agent(item, score) for item, score in chosen.items)], priorities)
    omitted = [*chosen.omitted, *held.disabled]
    return RequestItems(
        tuple(items), tuple(omitted[: settings.max_omitted]), budget.characters, budget.tokens, budget.near_limit
    )


async def _chosen(
    held: HeldItems, message: str, search: ItemSearch, budget: ItemBudget, settings: SelectionConfig
) -> Chosen:
    candidates = held.candidates
    if not candidates:
        return Chosen((), ())
    try:
        matches = await search.matches(held.searched, message, held.wanted)
    except Exception as error:  # whatever it is, the turn goes on without agent items
        _log.warning("agent_item_search_failed", error=type(error).__name__, candidates=len(candidates))
        return Chosen((), [OmittedItem(item.ref, OmissionReason.SEARCH_FAILED) for item in _by_priority(candidates)])
    return choose(candidates, matches, budget, settings)


def _ordered(items: Iterable[RequestItem], priorities: Mapping[ItemRef, int]) -> list[RequestItem]:
    return sorted(items, key=lambda item: -priorities.get(item.ref, 0))


def _of_session(item: SessionItem, known: CatalogItem | None) -> RequestItem:
    """The request's record of a session item. The item is in the request even where the model cannot be given it."""
    if known is None:
        return RequestItem(item.ref, item.include_mode, missing=True, note=NOT_IN_CATALOG)
    if not known.enabled:
        return RequestItem(item.ref, item.include_mode, note=DISABLED)
    return RequestItem(item.ref, item.include_mode, content_sha256=known.content_sha256)


def _of_agent(item: CatalogItem, score: float) -> RequestItem:
    return RequestItem(item.ref, IncludeMode.AGENT, score, item.content_sha256)


def _by_priority(items: Iterable[CatalogItem]) -> list[CatalogItem]:
    return sorted(items, key=lambda item: -item.priority)
