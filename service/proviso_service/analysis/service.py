"""IQL queries to a matter, as callers ask them."""

import asyncio
from collections.abc import AsyncGenerator, Iterable, Iterator, Sequence
from contextlib import aclosing
from dataclasses import replace

import structlog

from proviso_service.analysis.evaluation import Evaluated, evaluated, failed, fair_shares, results_of
from proviso_service.analysis.model import DocumentResult, Inspection, IqlOutcome, IqlProgress, IqlQuery, IqlSummary
from proviso_service.analysis.planning import NO_SUCH_DOCUMENT, Plan, Planner, Target, invalid_iql
from proviso_service.analysis.ports import ScoreStore
from proviso_service.analysis.score_cache import ScoreCache
from proviso_service.analysis.scoring import Scorer
from proviso_service.errors import DocumentNotFound, ProvisoError
from proviso_service.iql import IqlSyntaxError, TemplateCatalog, statements
from proviso_service.matters.identifiers import uuid_of, uuids_of
from proviso_service.matters.model import Document, DocumentStatus
from proviso_service.matters.ports import MatterStore
from proviso_service.models.ports import Classifier
from proviso_service.settings import IqlSettings

_log = structlog.get_logger(__name__)

DOCUMENTS_AT_HAND = 64
"""Documents whose scores are known that are answered in one step of the event loop."""

MATCHES_AT_ONCE = 1_000
"""Matches whose texts are held before they are handed on in a stream."""

FAILED = "This document could not be analysed; try again"


class IqlAnalysis:
    """Runs queries. A bounded number of documents is scored at once, over all queries; what was scored is kept."""

    def __init__(
        self,
        store: MatterStore,
        scores: ScoreStore,
        classifier: Classifier,
        embedding_model_id: str,
        catalog: TemplateCatalog,
        settings: IqlSettings,
    ) -> None:
        self._store = store
        self._scores = scores
        self._settings = settings
        self._planner = Planner(catalog, settings, classifier.model_id)
        cache = ScoreCache(settings.max_cached_scores)
        self._scorer = Scorer(classifier, scores, cache, embedding_model_id, settings.max_kept_statements)
        self._scoring = asyncio.Semaphore(settings.documents_at_once)

    @property
    def templates(self) -> TemplateCatalog:
        """Those that queries may call."""
        return self._planner.templates

    async def execute(self, tenant: str, query: IqlQuery) -> IqlOutcome:
        """The results in the order of the request, else of upload. Each document has its own error: it is not READY,
        not there, could not be scored, or not within the time limit. When no document could be scored for one of the
        errors that a caller is told about, that is raised.

        Raises InvalidRequest, InvalidIql, MatterNotFound and NoReadyDocuments."""
        plan = await self._plan(tenant, query)
        done: list[Evaluated] = []
        failures: list[ProvisoError] = []
        try:
            async with (
                asyncio.timeout(self._settings.time_limit_s) as limit,
                aclosing(self._run(plan, failures)) as runs,
            ):
                async for some in runs:
                    done += some
        except TimeoutError:
            if not limit.expired():
                raise
        if failures and all(one.error for one in done):
            raise failures[0]
        finished = {one.target.index for one in done}
        done += [failed(target, self._too_late()) for target in plan.targets if target.index not in finished]
        done.sort(key=lambda one: one.target.index)
        results = await results_of(self._scores, plan, done, fair_shares(done, query))
        return IqlOutcome(_counted(plan.summary, results), tuple(results))

    async def stream(self, tenant: str, query: IqlQuery) -> AsyncGenerator[IqlProgress, None]:
        """Each document's result as soon as it is there, then the summary alone. Closing it stops the work. Raises as
        `execute` does, but for failures of documents, which are always in their results."""
        plan = await self._plan(tenant, query)
        summary = plan.summary
        async with aclosing(self._run(plan, [])) as runs:
            async for some in runs:
                for part in _readable(some, query.max_matches):
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
        known = await self._scores.count_scores(tenant, matter_id.lower(), self._scorer.model_id, needed)
        return Inspection(query, tree, estimated_calls=max(0, chunks * len(needed) - known))

    async def _plan(self, tenant: str, query: IqlQuery) -> Plan:
        query = replace(
            query,
            matter_id=uuid_of("matter_id", query.matter_id),
            document_ids=uuids_of("document_ids", query.document_ids),
        )
        try:
            tree = self._planner.tree(query.query)
        except IqlSyntaxError as error:
            raise invalid_iql(error) from error
        await self._store.get_matter(tenant, query.matter_id)
        documents = await self._store.all_documents(tenant, query.matter_id)
        return self._planner.plan(tenant, query, tree, documents)

    async def _run(self, plan: Plan, failures: list[ProvisoError]) -> AsyncGenerator[list[Evaluated], None]:
        """Every target, some at a time: first those that need no scoring, then each as it is scored. `failures` gathers
        what kept documents from being scored and a caller may be told."""
        unscored: list[tuple[Target, Document]] = []
        for start in range(0, len(plan.targets), DOCUMENTS_AT_HAND):
            targets = plan.targets[start : start + DOCUMENTS_AT_HAND]
            done = await self._at_hand(plan, targets)
            known = {one.target.index for one in done}
            unscored += [(t, t.document) for t in targets if t.document and t.index not in known]
            if done:
                yield done
        async with aclosing(self._as_scored(plan, unscored, failures)) as scored:
            async for some in scored:
                yield some

    async def _at_hand(self, plan: Plan, targets: Sequence[Target]) -> list[Evaluated]:
        """Those that can't be analysed, and those whose scores are known."""
        await asyncio.sleep(0)  # other work on the event loop gets its turn between the steps of a large matter
        documents = [target.document for target in targets if target.document and not target.error]
        known = await self._scorer.known(plan.tenant, documents, plan.statements)
        unable = [failed(target, target.error) for target in targets if target.error]
        scored = [(target, known[target.document_id]) for target in targets if target.document_id in known]
        return unable + evaluated(plan, scored)

    async def _as_scored(
        self, plan: Plan, targets: Iterable[tuple[Target, Document]], failures: list[ProvisoError]
    ) -> AsyncGenerator[list[Evaluated], None]:
        """In the order in which they are done; at most documents_at_once are under way."""
        waiting = iter(targets)
        running: set[asyncio.Task[Evaluated]] = set()
        try:
            while True:
                for target, document in waiting:
                    running.add(asyncio.create_task(self._scored(plan, target, document, failures)))
                    if len(running) >= self._settings.documents_at_once:
                        break
                if not running:
                    return
                done, running = await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)
                yield sorted((task.result() for task in done), key=lambda one: one.target.index)
        finally:
            for task in running:
                task.cancel()
            await asyncio.gather(*running, return_exceptions=True)

    async def _scored(self, plan: Plan, target: Target, document: Document, failures: list[ProvisoError]) -> Evaluated:
        try:
            async with self._scoring, asyncio.timeout(self._settings.time_limit_s):
                scores = await self._scorer.score(document, plan.statements)
            return evaluated(plan, [(target, scores)])[0]
        except DocumentNotFound:
            return failed(target, NO_SUCH_DOCUMENT)
        except ProvisoError as error:
            failures.append(error)
            return failed(target, error.message)
        except TimeoutError:
            return failed(target, self._too_late())
        except Exception as error:
            _log.exception("iql_document_failed", document_id=target.document_id, exc_info=error)
            return failed(target, FAILED)

    def _too_late(self) -> str:
        limit = self._settings.time_limit_s
        return f"This document was not analysed within the time limit of {limit:g} s; run the query again to go on"


def _counted(summary: IqlSummary, results: Sequence[DocumentResult]) -> IqlSummary:
    """The totals with these documents."""
    return replace(
        summary,
        documents_done=summary.documents_done + len(results),
        total_matches=summary.total_matches + sum(result.match_count for result in results),
        score_sum=summary.score_sum + sum(result.score_sum for result in results),
    )


def _readable(done: Sequence[Evaluated], max_matches: int) -> Iterator[list[Evaluated]]:
    """Parts whose texts may be held at once."""
    part: list[Evaluated] = []
    matches = 0
    for one in done:
        part.append(one)
        matches += min(len(one.matched), max_matches)
        if matches >= MATCHES_AT_ONCE:
            yield part
            part, matches = [], 0
    if part:
        yield part
