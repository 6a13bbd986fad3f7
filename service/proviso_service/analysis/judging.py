"""Has the likeliest passages of each statement judged: read together with the statement, which is slower than scoring
and surer."""

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from proviso_service.analysis.scores import ScoresByStatement, ScoreStore
from proviso_service.matters import chunk_id
from proviso_service.models import ModelPassage, Scores, StatementJudge

LEAST_SCORE = 0.05
"""A passage that scores less is not judged."""

_MAX_KEPT = 200_000
_LEAST = 1e-5
_DECIMALS = 4


class _Key(NamedTuple):
    tenant: str
    statement: str
    chunk_id: str


@dataclass(frozen=True, slots=True)
class _Place:
    """A passage of a document, with its score."""

    document_id: str
    ordinal: int
    chunk_id: str
    score: float


class Judging:
    """Judges at most `most` passages of each statement among all documents that are asked about. Where these become
    less likely by being judged, the others are taken to be as much less likely. What was judged last is kept in
    memory."""

    def __init__(self, judge: StatementJudge, store: ScoreStore, most: int) -> None:
        self._judge = judge
        self._store = store
        self._most = most
        self._kept: OrderedDict[_Key, float] = OrderedDict()

    def may_change(self, statements: Sequence[str], scores: ScoresByStatement) -> bool:
        """Tells whether a document with these scores has passages that may be judged."""
        return any(
            self._judge.judges(statement) and bool((scores[statement] >= LEAST_SCORE).any())
            for statement in statements
            if statement in scores
        )

    async def judged(
        self, tenant: str, statements: Sequence[str], scored: Mapping[str, ScoresByStatement]
    ) -> Mapping[str, ScoresByStatement]:
        """Returns the scores by the documents' ids, with those of judged passages in place of the classifier's. Raises
        what the judge raises."""
        changed: dict[str, dict[str, Scores]] = {}
        for statement in filter(self._judge.judges, statements):
            places = self._likeliest(statement, scored)
            known = await self._judged(tenant, statement, places)
            judged = [place for place in places if place.chunk_id in known]
            fall = _fall([place.score for place in judged], [known[place.chunk_id] for place in judged])
            values = {one: _lowered(scores[statement], fall) for one, scores in scored.items() if statement in scores}
            for place in judged:
                values[place.document_id][place.ordinal] = known[place.chunk_id]
            for one, of_document in values.items():
                changed.setdefault(one, {})[statement] = of_document
        return {one: {**scores, **changed.get(one, {})} for one, scores in scored.items()}

    def _likeliest(self, statement: str, scored: Mapping[str, ScoresByStatement]) -> list[_Place]:
        """Returns the passages with the highest scores; of equal ones the first."""
        parts = {one: scores[statement] for one, scores in scored.items() if statement in scores}
        if not parts:
            return []
        values = np.concatenate(list(parts.values()))
        likely = np.flatnonzero(values >= LEAST_SCORE)
        best = likely[np.argsort(-values[likely], kind="stable")[: self._most]]
        lengths = np.array([len(part) for part in parts.values()])
        ends = np.cumsum(lengths)
        owners = np.searchsorted(ends, best, side="right")
        ordinals = best - (ends - lengths)[owners]
        ids = list(parts)
        return [
            _Place(ids[owner], ordinal, chunk_id(ids[owner], ordinal), float(value))
            for owner, ordinal, value in zip(owners.tolist(), ordinals.tolist(), values[best].tolist(), strict=True)
        ]

    async def _judged(self, tenant: str, statement: str, places: Sequence[_Place]) -> Mapping[str, float]:
        """Returns the new scores by the ids of passages, but for those that were deleted meanwhile."""
        keys = {place.chunk_id: _Key(tenant, statement, place.chunk_id) for place in places}
        unknown = [place for place in places if keys[place.chunk_id] not in self._kept]
        chunks = await self._store.matched_chunks(tenant, [one.chunk_id for one in unknown]) if unknown else {}
        found = [place for place in unknown if place.chunk_id in chunks]
        if found:
            passages = [ModelPassage(chunks[one.chunk_id].text, chunks[one.chunk_id].section_path) for one in found]
            scores = np.array([one.score for one in found], dtype=np.float32)
            values = await self._judge.judge(statement, passages, scores)
            self._kept |= {keys[one.chunk_id]: value for one, value in zip(found, values.tolist(), strict=True)}
        known = {}
        for place_id, key in keys.items():
            if key in self._kept:
                self._kept.move_to_end(key)
                known[place_id] = self._kept[key]
        while len(self._kept) > _MAX_KEPT:
            self._kept.popitem(last=False)
        return known


def _fall(scores: Sequence[float], judged: Sequence[float]) -> float:
    """Returns by how much the logit of the middle one of the scores fell when they were judged; 0 where it rose."""
    if not scores:
        return 0.0
    return max(0.0, float(np.median(_logits(np.array(scores)) - _logits(np.array(judged)))))


def _lowered(scores: Scores, fall: float) -> Scores:
    """Returns a copy of the scores with lower logits, but for those that are too low to be judged."""
    likely = scores >= LEAST_SCORE
    found = scores.copy()
    if fall:
        found[likely] = np.round(1 / (1 + np.exp(fall - _logits(scores[likely].astype(np.float64)))), _DECIMALS)
    return found


def _logits(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    known = np.clip(scores, _LEAST, 1 - _LEAST)
    found: NDArray[np.float64] = np.log(known / (1 - known))
    return found
