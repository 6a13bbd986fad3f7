"""From the scores of statements on a document to its score and matches."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from proviso_service.analysis.model import DocumentResult, IqlMatch, IqlQuery, StatementScore
from proviso_service.analysis.planning import Plan, Target
from proviso_service.analysis.ports import ScoresByStatement, ScoreStore
from proviso_service.iql import Scores, evaluate
from proviso_service.matters.model import Chunk, chunk_id


@dataclass(frozen=True, slots=True)
class Evaluated:
    """A query on one document, before its matches are read. `combined` has one score a chunk; `matched` the ordinals of
    the matches, by position; `error` says why there are none of these."""

    target: Target
    combined: Scores
    matched: NDArray[np.intp]
    statement_scores: ScoresByStatement
    error: str = ""

    def shown(self, most: int) -> list[int]:
        """Ordinals of the best matches, by position; of equal ones the first."""
        if len(self.matched) > most:
            best = np.argsort(-self.combined[self.matched], kind="stable")[:most]
            return list(map(int, np.sort(self.matched[best])))
        return list(map(int, self.matched))


def evaluated(plan: Plan, scored: Sequence[tuple[Target, ScoresByStatement]]) -> list[Evaluated]:
    """All documents in one computation, whose cost is in its steps more than in its numbers."""
    if not scored:
        return []
    joined = {s: np.concatenate([scores[s] for _, scores in scored]) for s in plan.statements}
    combined = evaluate(plan.tree, joined, plan.comparison)
    matched = np.flatnonzero(combined > plan.min_score)
    ends = np.cumsum([len(scores[plan.statements[0]]) for _, scores in scored])
    by_document = zip(
        scored, [0, *ends], np.split(combined, ends), np.split(matched, np.searchsorted(matched, ends)), strict=False
    )
    return [Evaluated(target, part, hits - start, scores) for (target, scores), start, part, hits in by_document]


def failed(target: Target, error: str) -> Evaluated:
    return Evaluated(target, np.empty(0, np.float32), np.empty(0, np.intp), {}, error)


def fair_shares(done: Sequence[Evaluated], query: IqlQuery) -> list[int]:
    """How many matches each document may show. Where there are too many in all, each shows as many as the others; where
    even one each is too many, the documents with the highest scores show one."""
    share = query.max_matches
    while share > 1 and sum(min(len(one.matched), share) for one in done) > query.max_matches_in_all:
        share -= max(1, share // 8)
    matching = [one for one in done if len(one.matched)]
    if len(matching) <= query.max_matches_in_all:
        return [share] * len(done)
    best = sorted(matching, key=lambda one: -one.combined.max())[: query.max_matches_in_all]
    indices = {one.target.index for one in best}
    return [1 if one.target.index in indices else 0 for one in done]


async def results_of(
    store: ScoreStore, plan: Plan, done: Sequence[Evaluated], max_matches: Sequence[int]
) -> list[DocumentResult]:
    """With the texts of at most so many matches of each."""
    shown = [one.shown(most) for one, most in zip(done, max_matches, strict=True)]
    ids = [
        chunk_id(one.target.document_id, ordinal)
        for one, ordinals in zip(done, shown, strict=True)
        for ordinal in ordinals
    ]
    texts = await store.matched_chunks(plan.tenant, ids)
    return [_result(plan, one, ordinals, texts) for one, ordinals in zip(done, shown, strict=True)]


def _result(plan: Plan, one: Evaluated, ordinals: Sequence[int], texts: Mapping[str, Chunk]) -> DocumentResult:
    target = one.target
    return DocumentResult(
        index=target.index,
        document_id=target.document_id,
        filename=target.filename,
        score=float(one.combined.max(initial=0.0)),
        matches=tuple(_matches(plan, one, ordinals, texts)),
        match_count=len(one.matched),
        score_sum=float(one.combined[one.matched].sum(dtype=np.float64)),
        statement_scores=_maxima(one.statement_scores) if plan.query.explain else (),
        error=one.error,
    )


def _matches(plan: Plan, one: Evaluated, ordinals: Sequence[int], texts: Mapping[str, Chunk]) -> Iterator[IqlMatch]:
    """A document that was deleted meanwhile has none."""
    for ordinal in ordinals:
        if chunk := texts.get(chunk_id(one.target.document_id, ordinal)):
            explained = _at(one.statement_scores, ordinal) if plan.query.explain else ()
            yield IqlMatch(chunk, float(one.combined[ordinal]), explained)


def _at(scores: ScoresByStatement, ordinal: int) -> tuple[StatementScore, ...]:
    return tuple(StatementScore(statement, float(values[ordinal])) for statement, values in scores.items())


def _maxima(scores: ScoresByStatement) -> tuple[StatementScore, ...]:
    return tuple(StatementScore(statement, float(values.max(initial=0.0))) for statement, values in scores.items())
