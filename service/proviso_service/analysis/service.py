"""Runs IQL queries on a matter."""

import asyncio
from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import aclosing
from dataclasses import replace

from proviso_service.analysis.document_scoring import DocumentScoring, TargetDocument, find_targets
from proviso_service.analysis.evaluation import (
    EvaluatedDocument,
    Planner,
    QueryPlan,
    evaluated,
    fair_shares,
    results_of,
)
from proviso_service.analysis.likelihood import USUAL_BANDS, Bands
from proviso_service.analysis.model import (
    DocumentResult,
    Inspection,
    InvalidIql,
    IqlConfig,
    IqlOutcome,
    IqlProgress,
    IqlQuery,
    IqlSummary,
    PageStart,
)
from proviso_service.analysis.scores import ScoreStore
from proviso_service.errors import InvalidRequest
from proviso_service.iql import IqlSyntaxError, TemplateCatalog, statements
from proviso_service.matters import DocumentStatus, MatterStore, uuid_of, uuids_of

DOCUMENTS_AT_ONCE = 64
"""So many documents are evaluated in one step of the event loop."""

MATCHES_AT_ONCE = 1_000
"""So many matches' texts may be held before they are handed on in a stream."""


class IqlAnalysis:
    """Runs and inspects queries."""

    def __init__(
        self,
        store: MatterStore,
        scores: ScoreStore,
        documents: DocumentScoring,
        catalog: TemplateCatalog,
        settings: IqlConfig,
        bands: Bands = USUAL_BANDS,
    ) -> None:
        self._store = store
        self._scores = scores
        self._documents = documents
        self._planner = Planner(catalog, settings, documents.model_id, bands)

    @property
    def templates(self) -> TemplateCatalog:
        """The templates that queries may call."""
        return self._planner.templates

    async def execute(self, tenant: str, query: IqlQuery) -> IqlOutcome:
        """Returns the results in the order of the request, or else of upload. Each document has its own error: it is
        not READY, not there, could not be scored, or not within the time limit. When no document could be scored, and
        for an error that a caller is told about, that error is raised.

        Raises InvalidRequest, InvalidIql, MatterNotFound and NoReadyDocuments."""
        plan = await self._plan(tenant, query)
        scored = await self._documents.all(plan.job)
        done: list[EvaluatedDocument] = []
        for start in range(0, len(scored), DOCUMENTS_AT_ONCE):
            done += evaluated(plan, scored[start : start + DOCUMENTS_AT_ONCE])
            await asyncio.sleep(0)  # Other work on the event loop gets its turn.
        before = plan.first_document
        shares = [*[0] * before, *fair_shares(done[before:], query)]
        results = await results_of(self._scores, plan, done, shares)
        return IqlOutcome(_counted(plan.summary, results), tuple(results[before:]))

    async def stream(self, tenant: str, query: IqlQuery) -> AsyncGenerator[IqlProgress, None]:
        """Yields each document's result as soon as it is there, then the summary alone. Closing the generator stops the
        work. Raises as `execute` does, except that failures of documents are always in their results."""
        plan = await self._plan(tenant, query)
        if plan.first_document:
            raise InvalidRequest.of("page_token", "a stream leaves out no documents")
        summary = plan.summary
        async with aclosing(self._documents.as_done(plan.job)) as runs:
            async for some in runs:
                for part in _readable(evaluated(plan, some), query.max_matches):
                    for result in await results_of(self._scores, plan, part, [query.max_matches] * len(part)):
                        summary = _counted(summary, [result])
                        yield IqlProgress(summary, result)
        yield IqlProgress(summary)

    async def inspect(self, tenant: str, query: str, matter_id: str = "") -> Inspection:
        """Reads a query without asking a model anything. Raises MatterNotFound."""
        if matter_id:
            await self._store.get_matter(tenant, uuid_of("matter_id", matter_id))
        try:
            tree = self._planner.tree(query)
        except IqlSyntaxError as error:
            return Inspection(query, None, error.problems)
        if not matter_id:
            return Inspection(query, tree)
        needed = statements(tree)
        documents = await self._store.all_documents(tenant, matter_id.lower())
        chunks = sum(document.chunk_count for document in documents if document.status is DocumentStatus.READY)
        known = await self._scores.count_scores(tenant, matter_id.lower(), self._documents.model_id, needed)
        return Inspection(query, tree, estimated_calls=max(0, chunks * len(needed) - known))

    async def _plan(self, tenant: str, query: IqlQuery) -> QueryPlan:
        query = replace(
            query,
            matter_id=uuid_of("matter_id", query.matter_id),
            document_ids=uuids_of("document_ids", query.document_ids),
        )
        try:
            tree = self._planner.tree(query.query)
        except IqlSyntaxError as error:
            raise InvalidIql(error) from error
        plan = self._planner.plan(tenant, query, tree)
        start = PageStart.of(query.page_token, plan.scope)
        if start is None or start.first_match is None:
            targets = await find_targets(self._store, tenant, query.matter_id, query.document_ids)
            return replace(plan, targets=targets, first_document=_first_document(targets, query, start))
        targets = await find_targets(self._store, tenant, query.matter_id, [start.document_id])
        return replace(plan, targets=targets, first_match=start.first_match)


def _first_document(targets: Sequence[TargetDocument], query: IqlQuery, start: PageStart | None) -> int:
    """How many documents stand before a page. Those of a matter are in the order of upload, so that a page whose first
    document is deleted begins with the next one; those of a query keep their places, deleted or not."""
    if start is None:
        return 0
    if query.document_ids or start.upload_time is None:
        return next((target.index for target in targets if target.document_id == start.document_id), len(targets))
    place = (start.upload_time, start.document_id)
    known = (target.document for target in targets if target.document)
    return sum((document.upload_time, document.document_id) < place for document in known)


def _counted(summary: IqlSummary, results: Sequence[DocumentResult]) -> IqlSummary:
    """Returns the totals with these documents added."""
    return replace(
        summary,
        documents_done=summary.documents_done + len(results),
        total_matches=summary.total_matches + sum(result.match_count for result in results),
        score_sum=summary.score_sum + sum(result.score_sum for result in results),
    )


def _readable(done: Sequence[EvaluatedDocument], max_matches: int) -> Iterator[list[EvaluatedDocument]]:
    """Yields parts whose texts may be held at once."""
    part: list[EvaluatedDocument] = []
    matches = 0
    for one in done:
        part.append(one)
        matches += min(len(one.matched), max_matches)
        if matches >= MATCHES_AT_ONCE:
            yield part
            part, matches = [], 0
    if part:
        yield part
