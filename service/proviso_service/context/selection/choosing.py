"""Which of the items that were compared with a message enter its request."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from proviso_service.context.model import OmissionReason, OmittedItem
from proviso_service.context.selection.budget import ItemBudget
from proviso_service.context.selection.candidates import Candidate
from proviso_service.context.selection.index import Matches
from proviso_service.settings import SelectionSettings


@dataclass(frozen=True, slots=True)
class Chosen:
    """`items` in order of priority, then score, each with its score; `omitted` best first, at most `max_omitted`."""

    items: Sequence[tuple[Candidate, float]]
    omitted: Sequence[OmittedItem]


def choose(
    candidates: Sequence[Candidate], matches: Matches, budget: ItemBudget, settings: SelectionSettings
) -> Chosen:
    """Takes the `top_n` best items that are similar enough, as far as the budget has room for them, in order of
    priority; `matches` are the candidates'. Equal scores are decided by priority, then by the order of `candidates`."""
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


def _omitted(item: Candidate, score: float, floor: float) -> OmittedItem:
    """One that is similar enough was left out for better ones, by the number of places or by the budget."""
    return OmittedItem(item.ref, OmissionReason.BELOW_THRESHOLD if score < floor else OmissionReason.BUDGET, score)
