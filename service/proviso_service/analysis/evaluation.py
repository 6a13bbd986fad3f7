"""Reads a query into a plan, and computes each document's score and matches from the scores of the plan's
statements."""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from proviso_service.analysis.document_scoring import ScoredDocument, ScoringJob, TargetDocument
from proviso_service.analysis.likelihood import Bands
from proviso_service.analysis.model import (
    DocumentResult,
    Explanation,
    IqlConfig,
    IqlMatch,
    IqlQuery,
    IqlSummary,
    StatementScore,
)
from proviso_service.analysis.party_names import PartyStatement
from proviso_service.analysis.scores import ScoresByStatement, ScoreStore
from proviso_service.errors import FailureCause, InvalidRequest
from proviso_service.iql import (
    ComparisonMode,
    Expression,
    Scores,
    Template,
    TemplateCatalog,
    TemplateDefinition,
    evaluate,
    leaves,
    misreadings,
    node_scores,
    parse,
    statements,
)
from proviso_service.matters import chunk_id
from proviso_service.reading import Chunk

PARTY = "PARTY"
"""The argument of templates that is the name of a party."""

KANON = "kanon-universal-classifier"
KANON_MINI = "kanon-universal-classifier-mini"


@dataclass(frozen=True, slots=True)
class QueryPlan:
    """A query that was read, with everything that its evaluation needs. Its page begins with the match `first_match` of
    each document, best first, and with the document `first_document`, both counted from 0."""

    tenant: str
    query: IqlQuery
    tree: Expression
    statements: tuple[str, ...]
    min_score: float
    comparison: ComparisonMode
    model: str
    warnings: tuple[str, ...]
    bands: Bands
    parties: tuple[PartyStatement, ...] = ()
    targets: tuple[TargetDocument, ...] = ()
    first_match: int = 0
    first_document: int = 0

    @property
    def scope(self) -> tuple[str, ...]:
        """What the results and their order depend on, beside the documents themselves."""
        query = self.query
        asked = (query.matter_id, query.query, *query.document_ids)
        return ("iql", self.model, str(self.min_score), self.comparison.value, *asked)

    @property
    def job(self) -> ScoringJob:
        return ScoringJob(self.tenant, self.statements, self.targets, self.parties)

    @property
    def summary(self) -> IqlSummary:
        """The summary before the first document is done."""
        asked = self.query.query
        return IqlSummary(asked, self.model, self.warnings, len(self.targets), scope=self.scope, bands=self.bands)


class Planner:
    """Reads queries; `model_id` names the classifier in use, and `bands` are those of its scores."""

    def __init__(self, catalog: TemplateCatalog, settings: IqlConfig, model_id: str, bands: Bands) -> None:
        self._bands = bands
        self.templates = catalog
        self._settings = settings
        self._model_id = model_id

    def tree(self, query: str) -> Expression:
        """Parses a query. Raises IqlSyntaxError."""
        return parse(query, self.templates)

    def plan(self, tenant: str, query: IqlQuery, tree: Expression) -> QueryPlan:
        """Makes a plan without its documents. Raises InvalidRequest for a model that is not offered."""
        return QueryPlan(
            tenant=tenant,
            query=query,
            tree=tree,
            statements=statements(tree),
            min_score=self._settings.min_score if query.min_score is None else query.min_score,
            comparison=query.comparison or ComparisonMode(self._settings.comparison),
            model=self._model_id,
            warnings=(*self._warnings(query.model), *misreadings(tree, self.templates)),
            bands=self._bands,
            parties=tuple(self._parties(tree)),
        )

    def _parties(self, tree: Expression) -> Iterator[PartyStatement]:
        """Yields the statements that templates make of the name of a party, which they call PARTY."""
        for leaf in leaves(tree):
            definition = self.templates.get(leaf.name) if isinstance(leaf, Template) else None
            if definition and isinstance(leaf, Template) and PARTY in definition.arguments:
                arguments = dict(zip(definition.arguments, leaf.arguments, strict=True))
                yield PartyStatement(leaf.text, arguments[PARTY], partial(_said_of, definition, arguments))

    def _warnings(self, model: str) -> Iterator[str]:
        if model == KANON_MINI:
            yield f"{KANON_MINI} is no longer offered; {self._model_id} was used"
        elif model not in ("", KANON, self._model_id):
            known = ", ".join(dict.fromkeys((KANON, KANON_MINI, self._model_id)))
            raise InvalidRequest.of("model", f"must be one of {known}")


def _said_of(definition: TemplateDefinition, arguments: Mapping[str, str], party: str) -> str:
    return definition.in_words(list({**arguments, PARTY: party}.values()))


@dataclass(frozen=True, slots=True)
class EvaluatedDocument:
    """A query on one document, before the texts of its matches are read. `combined` has one score for each chunk, and
    `score` is the highest; `matched` are the ordinals of the matches, by position, and `score_sum` adds up their
    scores; `error` says why there are none of these."""

    target: TargetDocument
    combined: Scores
    matched: NDArray[np.intp]
    statement_scores: ScoresByStatement
    score: float = 0.0
    score_sum: float = 0.0
    error: str = ""
    cause: FailureCause | None = None

    def shown(self, first: int, most: int) -> list[int]:
        """Returns the ordinals of the best matches after the `first` ones, by position; of equal ones the first in the
        text counts as the better."""
        if first or len(self.matched) > most:
            best = np.argsort(-self.combined[self.matched], kind="stable")[first : first + most]
            return list(np.sort(self.matched[best]).tolist())
        return list(self.matched.tolist())


def evaluated(plan: QueryPlan, documents: Sequence[ScoredDocument]) -> list[EvaluatedDocument]:
    """Evaluates all documents in one computation, because its cost depends on the number of steps more than on that of
    scores."""
    scored = iter(_evaluated(plan, [document for document in documents if not document.error]))
    return [_failed(document) if document.error else next(scored) for document in documents]


def _evaluated(plan: QueryPlan, scored: Sequence[ScoredDocument]) -> Iterator[EvaluatedDocument]:
    if not scored:
        return
    joined = {s: np.concatenate([document.scores[s] for document in scored]) for s in plan.statements}
    combined = evaluate(plan.tree, joined, plan.comparison)
    matched = np.flatnonzero(combined > plan.min_score)
    lengths = np.array([len(document.scores[plan.statements[0]]) for document in scored])
    ends = np.cumsum(lengths)
    starts, filled = ends - lengths, lengths > 0
    best = np.zeros(len(scored))
    if len(combined):
        best[filled] = np.maximum.reduceat(combined, starts[filled])
    of_document = np.searchsorted(ends, matched, side="right")
    sums = np.bincount(of_document, weights=combined[matched], minlength=len(scored))
    # Slices: np.split makes ten calls for each part.
    hits, last_hits = matched - starts[of_document], np.searchsorted(matched, ends).tolist()
    start = first_hit = 0
    for document, end, last_hit, score, score_sum in zip(
        scored, ends.tolist(), last_hits, best.tolist(), sums.tolist(), strict=True
    ):
        part, found = combined[start:end], hits[first_hit:last_hit]
        yield EvaluatedDocument(document.target, part, found, document.scores, score, score_sum)
        start, first_hit = end, last_hit


def _failed(document: ScoredDocument) -> EvaluatedDocument:
    nothing = np.empty(0, np.float32), np.empty(0, np.intp)
    return EvaluatedDocument(document.target, *nothing, {}, error=document.error, cause=document.cause)


def fair_shares(done: Sequence[EvaluatedDocument], query: IqlQuery) -> list[int]:
    """Returns how many matches each document may show. Where there are too many in all, every document may show equally
    many; where even one each is too many, the documents with the highest scores show one."""
    share = query.max_matches
    while share > 1 and sum(min(len(one.matched), share) for one in done) > query.max_matches_in_all:
        share -= max(1, share // 8)
    matching = [one for one in done if len(one.matched)]
    if len(matching) <= query.max_matches_in_all:
        return [share] * len(done)
    best = sorted(matching, key=lambda one: -one.score)[: query.max_matches_in_all]
    indices = {one.target.index for one in best}
    return [1 if one.target.index in indices else 0 for one in done]


async def results_of(
    store: ScoreStore, plan: QueryPlan, done: Sequence[EvaluatedDocument], max_matches: Sequence[int]
) -> list[DocumentResult]:
    """Returns the results with the texts of at most so many matches of each document."""
    shown = [one.shown(plan.first_match, most) for one, most in zip(done, max_matches, strict=True)]
    ids = [
        chunk_id(one.target.document_id, ordinal)
        for one, ordinals in zip(done, shown, strict=True)
        for ordinal in ordinals
    ]
    texts = await store.matched_chunks(plan.tenant, ids)
    # Thousands of matches take longer than other callers should wait for the event loop.
    return await asyncio.to_thread(_results, plan, done, shown, texts)


def _results(
    plan: QueryPlan, done: Sequence[EvaluatedDocument], shown: Sequence[Sequence[int]], texts: Mapping[str, Chunk]
) -> list[DocumentResult]:
    return [_result(plan, one, ordinals, texts) for one, ordinals in zip(done, shown, strict=True)]


def _result(
    plan: QueryPlan, one: EvaluatedDocument, ordinals: Sequence[int], texts: Mapping[str, Chunk]
) -> DocumentResult:
    target = one.target
    explained = plan.query.explain and len(one.combined) > 0
    return DocumentResult(
        index=target.index,
        document_id=target.document_id,
        filename=target.filename,
        score=one.score,
        matches=tuple(_matches(plan, one, ordinals, texts)),
        match_count=len(one.matched),
        score_sum=one.score_sum,
        statement_scores=_maxima(one) if explained else (),
        explanation=_explanations(plan, one, [int(one.combined.argmax())])[0] if explained else None,
        error=one.error,
        cause=one.cause,
        first=plan.first_match,
        upload_time=target.document.upload_time if target.document else None,
    )


def _matches(
    plan: QueryPlan, one: EvaluatedDocument, ordinals: Sequence[int], texts: Mapping[str, Chunk]
) -> Iterator[IqlMatch]:
    """Yields the matches with their texts; a document that was deleted meanwhile has none."""
    explained = plan.query.explain and not one.error
    explanations = _explanations(plan, one, ordinals) if explained else [None] * len(ordinals)
    for ordinal, explanation in zip(ordinals, explanations, strict=True):
        if chunk := texts.get(chunk_id(one.target.document_id, ordinal)):
            yield IqlMatch(chunk, float(one.combined[ordinal]), explanation)


def _explanations(plan: QueryPlan, one: EvaluatedDocument, ordinals: Sequence[int]) -> list[Explanation]:
    """Returns the explanations of the chunks with these ordinals."""
    scores = {statement: values[list(ordinals)] for statement, values in one.statement_scores.items()}
    by_node = node_scores(plan.tree, scores, plan.comparison)
    return [Explanation(plan.tree, tuple(float(values[at]) for values in by_node)) for at in range(len(ordinals))]


def _maxima(one: EvaluatedDocument) -> tuple[StatementScore, ...]:
    return tuple(StatementScore(s, float(values.max())) for s, values in one.statement_scores.items())
