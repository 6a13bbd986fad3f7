"""Scores in memory."""

from collections import OrderedDict
from typing import NamedTuple

from proviso_service.models import Scores

ENTRY_SCORES = 100
"""What an entry takes beside its scores, counted in scores."""


class ScoreKey(NamedTuple):
    tenant: str
    model_id: str
    document_id: str
    statement: str


class ScoreCache:
    """The scores that were used last, of whole documents; about four bytes for each of `max_scores`."""

    def __init__(self, max_scores: int) -> None:
        self._max_scores = max_scores
        self._scores = 0
        self._entries: OrderedDict[ScoreKey, Scores] = OrderedDict()

    def get(self, key: ScoreKey) -> Scores | None:
        scores = self._entries.get(key)
        if scores is not None:
            self._entries.move_to_end(key)
        return scores

    def put(self, key: ScoreKey, scores: Scores) -> None:
        """Keeps the array itself, which nobody changes from now on."""
        scores.flags.writeable = False
        self._drop(self._entries.pop(key, None))
        self._entries[key] = scores
        self._scores += _size(scores)
        while self._scores > self._max_scores:
            self._drop(self._entries.popitem(last=False)[1])

    def _drop(self, scores: Scores | None) -> None:
        if scores is not None:
            self._scores -= _size(scores)


def _size(scores: Scores) -> int:
    return len(scores) + ENTRY_SCORES
