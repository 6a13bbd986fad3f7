"""Scores statements on many documents: which documents a question is about, and their scores, several at once and each
with its own failure."""

import asyncio
from collections.abc import AsyncGenerator, Iterable, Iterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from itertools import chain

import numpy as np
import structlog

from proviso_service.analysis.judging import Judging
from proviso_service.analysis.model import IqlConfig
from proviso_service.analysis.party_names import PartyNames, PartyStatement, Variants
from proviso_service.analysis.scores import ScoresByStatement
from proviso_service.analysis.scoring import Scorer, Wanted
from proviso_service.errors import DocumentNotFound, FailureCause, ModelApiUnavailable, NoReadyDocuments, ProvisoError
from proviso_service.matters import NO_SUCH_DOCUMENT, Document, DocumentStatus, MatterStore, cause_of, why_not_ready


@dataclass(frozen=True, slots=True)
class TargetDocument:
    """One of the documents asked about, with its `index` among them. `error` says why it cannot be read, `cause` says
    it for programs; `document` is None only when there is one."""

    index: int
    document_id: str
    document: Document | None
    error: str = ""
    cause: FailureCause | None = None

    @property
    def filename(self) -> str:
        return self.document.filename if self.document else ""


async def find_targets(
    store: MatterStore, tenant: str, matter_id: str, document_ids: Sequence[str]
) -> tuple[TargetDocument, ...]:
    """Returns the documents asked for, in their order and each with its own error, or all of the matter in the order of
    upload. Raises MatterNotFound, and NoReadyDocuments where all of the matter is asked about and none of it is
    READY."""
    await store.get_matter(tenant, matter_id)
    documents = await store.all_documents(tenant, matter_id)
    if not document_ids:
        check_ready(documents)
    return tuple(_targets(documents, document_ids))


def check_ready(documents: Sequence[Document]) -> None:
    """Raises NoReadyDocuments unless one of the documents is READY."""
    if not any(document.status is DocumentStatus.READY for document in documents):
        failed = sum(document.status is DocumentStatus.FAILED for document in documents)
        raise NoReadyDocuments(len(documents) - failed, failed)


def _targets(documents: Sequence[Document], document_ids: Sequence[str]) -> Iterator[TargetDocument]:
    by_id = {document.document_id: document for document in documents}
    for index, document_id in enumerate(document_ids or by_id):
        document = by_id.get(document_id)
        is_ready = document is not None and document.status is DocumentStatus.READY
        error, cause = ("", None) if is_ready else (why_not_ready(document), cause_of(document))
        yield TargetDocument(index, document_id, document, error, cause)


_log = structlog.get_logger(__name__)

DOCUMENTS_AT_HAND = 64
"""So many documents whose scores may be known are looked up in one step of the event loop. A batch has no more."""

_SECOND_BATCH_PASSAGES = 64
"""The first batch of a job is one document, so that a stream begins soon. The second has so many passages, and later
ones grow to the full size."""

Batch = tuple[tuple[TargetDocument, Document], ...]
"""Documents that are scored together: either one of any length, or several with a bounded number of chunks."""

FAILED = "This document could not be analysed; try again"


@dataclass(frozen=True, slots=True)
class ScoringJob:
    """Statements, each once, that are to be scored on documents. `parties` are those about a party: where a document
    has other names for it, the statement has the highest of the scores for all names."""

    tenant: str
    statements: tuple[str, ...]
    targets: tuple[TargetDocument, ...]
    parties: tuple[PartyStatement, ...] = ()


@dataclass(frozen=True, slots=True)
class ScoredDocument:
    """A document's scores for every statement of a job; an `error` says why there are none, `cause` says it for
    programs."""

    target: TargetDocument
    scores: ScoresByStatement
    error: str = ""
    cause: FailureCause | None = None


class DocumentScoring:
    """Scores a bounded number of batches at once, counted over all jobs; what was scored is kept. When a batch of
    several documents fails, each of them is scored by itself, so that the fault of one does not affect the others; but
    not where the model is away for all of them.

    Reading, judging and saving twenty documents of usual length one by one takes ten times as long as together."""

    def __init__(
        self, scorer: Scorer, settings: IqlConfig, batch_passages: int = 0, judging: Judging | None = None
    ) -> None:
        self._scorer = scorer
        self._judging = judging
        self._at_once = settings.batches_at_once
        self._time_limit_s = settings.time_limit_s
        self._batch_passages = batch_passages or scorer.passages_at_once
        self._scoring = asyncio.Semaphore(settings.batches_at_once)

    @property
    def party_names(self) -> PartyNames:
        return self._scorer.party_names

    @property
    def model_id(self) -> str:
        return self._scorer.model_id

    async def all(self, job: ScoringJob) -> list[ScoredDocument]:
        """Returns every target, in order, each with its own error: it is not READY, not there, could not be scored, or
        not within the time limit of the job. When no document could be scored, and for an error that a caller is told
        about, that error is raised."""
        done: list[ScoredDocument] = []
        failures: list[ProvisoError] = []
        try:
            async with asyncio.timeout(self._time_limit_s) as limit, aclosing(self._run(job, failures)) as runs:
                async for some in runs:
                    done += some
                done = await self._judged(job, done)
        except TimeoutError:
            if not limit.expired():
                raise
        if failures and all(one.error for one in done):
            raise failures[0]
        finished = {one.target.index for one in done}
        done += [self._late(target) for target in job.targets if target.index not in finished]
        return sorted(done, key=lambda one: one.target.index)

    async def as_done(self, job: ScoringJob) -> AsyncGenerator[list[ScoredDocument], None]:
        """Yields every target as it is done, some at a time, and last those with passages that are judged: which ones
        are the likeliest is known when all are scored. Closing the generator stops the work. The time limit is that of
        each batch, and that of the judge."""
        likely: list[ScoredDocument] = []
        async with aclosing(self._run(job, [])) as runs:
            async for some in runs:
                done: list[ScoredDocument] = []
                for one in some:
                    waits = self._judging is not None and self._judging.may_change(job.statements, one.scores)
                    (likely if waits else done).append(one)
                if done:
                    yield done
        try:
            async with asyncio.timeout(self._time_limit_s):
                judged = await self._judged(job, likely)
        except TimeoutError:
            judged = [self._late(one.target) for one in likely]
        except ProvisoError as error:
            judged = [ScoredDocument(one.target, {}, error.message, error.cause) for one in likely]
        if judged:
            yield judged

    async def _judged(self, job: ScoringJob, scored: Sequence[ScoredDocument]) -> list[ScoredDocument]:
        """Returns the documents with the scores of judged passages. Raises what the judge raises."""
        if self._judging is None:
            return list(scored)
        in_order = sorted(scored, key=lambda one: one.target.index)
        by_id = {one.target.document_id: one.scores for one in in_order if one.scores}
        judged = await self._judging.judged(job.tenant, job.statements, by_id)
        return [replace(one, scores=judged.get(one.target.document_id, one.scores)) for one in in_order]

    async def _run(self, job: ScoringJob, failures: list[ProvisoError]) -> AsyncGenerator[list[ScoredDocument], None]:
        """Yields first the targets that need no scoring, then the others as they are scored. `failures` collects the
        errors for which documents could not be scored and that a caller may be told."""
        unscored: list[tuple[TargetDocument, Document]] = []
        for start in range(0, len(job.targets), DOCUMENTS_AT_HAND):
            targets = job.targets[start : start + DOCUMENTS_AT_HAND]
            done = await self._at_hand(job, targets)
            known = {one.target.index for one in done}
            unscored += [(t, t.document) for t in targets if t.document and t.index not in known]
            if done:
                yield done
        async with aclosing(self._as_scored(job, unscored, failures)) as scored:
            async for some in scored:
                yield some

    async def _at_hand(self, job: ScoringJob, targets: Sequence[TargetDocument]) -> list[ScoredDocument]:
        """Returns the targets that cannot be analysed, and those whose scores are known."""
        await asyncio.sleep(0)  # Other work on the event loop gets its turn between the steps of a large matter.
        documents = [target.document for target in targets if target.document and not target.error]
        names = await self._scorer.party_names.variants(job.tenant, documents, job.parties)
        known = await self._scorer.known(job.tenant, documents, _wanted(job, documents, names))
        unable = [ScoredDocument(target, {}, target.error, target.cause) for target in targets if target.error]
        scored = [_scored_document(job, t, known[t.document_id], names) for t in targets if t.document_id in known]
        return unable + scored

    async def _as_scored(
        self, job: ScoringJob, targets: Sequence[tuple[TargetDocument, Document]], failures: list[ProvisoError]
    ) -> AsyncGenerator[list[ScoredDocument], None]:
        """Yields targets in the order in which they are done; at most batches_at_once are under way."""
        if not targets:
            return
        documents = [document for _, document in targets]
        names = await self._scorer.party_names.variants(job.tenant, documents, job.parties)
        statements = set(chain.from_iterable(_wanted(job, documents, names).values()))
        look_elsewhere = await self._scorer.others_are_scored(job.tenant, documents, sorted(statements))
        waiting = _batches(targets, self._batch_passages)
        running: set[asyncio.Task[list[ScoredDocument]]] = set()
        try:
            while True:
                for batch in waiting:
                    work = self._scored(job, batch, failures, look_elsewhere=look_elsewhere)
                    running.add(asyncio.create_task(work))
                    if len(running) >= self._at_once:
                        break
                if not running:
                    return
                done, running = await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)
                scored = [one for task in done for one in task.result()]
                yield sorted(scored, key=lambda one: one.target.index)
        finally:
            for task in running:
                task.cancel()
            await asyncio.gather(*running, return_exceptions=True)

    async def _scored(
        self, job: ScoringJob, batch: Batch, failures: list[ProvisoError], *, look_elsewhere: bool
    ) -> list[ScoredDocument]:
        try:
            async with self._scoring, asyncio.timeout(self._time_limit_s):
                documents = [document for _, document in batch]
                names = await self._scorer.party_names.variants(job.tenant, documents, job.parties)
                wanted = _wanted(job, documents, names)
                scores = await self._scorer.score(documents, wanted, look_elsewhere=look_elsewhere)
                return [_scored_document(job, target, scores[target.document_id], names) for target, _ in batch]
        except TimeoutError:
            return [self._late(target) for target, _ in batch]
        except Exception as error:
            # When the model is away it is so for every document; any other failure may be due to one of them.
            if len(batch) > 1 and not isinstance(error, ModelApiUnavailable):
                alone = [await self._scored(job, (one,), failures, look_elsewhere=look_elsewhere) for one in batch]
                return [one for some in alone for one in some]
            return [ScoredDocument(target, {}, *self._reason(target, error, failures)) for target, _ in batch]

    def _reason(
        self, target: TargetDocument, error: Exception, failures: list[ProvisoError]
    ) -> tuple[str, FailureCause]:
        """Returns why a document was not scored, as a caller may be told it, and the same for programs."""
        if isinstance(error, DocumentNotFound):
            return NO_SUCH_DOCUMENT, error.cause
        if isinstance(error, ProvisoError):
            failures.append(error)
            return error.message, error.cause
        _log.error("document_not_scored", document_id=target.document_id, exc_info=error)
        return FAILED, FailureCause.FAILED

    def _late(self, target: TargetDocument) -> ScoredDocument:
        limit = f"{self._time_limit_s:g} s"
        error = f"This document was not analysed within the time limit of {limit}; ask again to go on"
        return ScoredDocument(target, {}, error, FailureCause.TIMED_OUT)


def _wanted(job: ScoringJob, documents: Sequence[Document], names: Variants) -> Wanted:
    """Returns, by document, the statements of the job and what is to be scored beside them."""
    ids = [document.document_id for document in documents]
    return {one: [*job.statements, *chain.from_iterable(names.get(one, {}).values())] for one in ids}


def _scored_document(
    job: ScoringJob, target: TargetDocument, scores: ScoresByStatement, names: Variants
) -> ScoredDocument:
    more = names.get(target.document_id, {})
    best = {one: np.maximum.reduce([scores[s] for s in (one, *others)]) for one, others in more.items()}
    return ScoredDocument(target, {one: best.get(one, scores[one]) for one in job.statements})


def _batches(targets: Iterable[tuple[TargetDocument, Document]], most: int) -> Iterator[Batch]:
    """Yields batches in the order of the targets: first one document, then more and more chunks up to `most`. A longer
    document stands alone. Documents are few enough for the event loop to go through their scores in one step."""
    batch: list[tuple[TargetDocument, Document]] = []
    size, room = 0, 0
    for target, document in targets:
        if batch and (size + document.chunk_count > room or len(batch) == DOCUMENTS_AT_HAND):
            yield tuple(batch)
            batch, size, room = [], 0, min(most, max(_SECOND_BATCH_PASSAGES, 2 * room))
        batch.append((target, document))
        size += document.chunk_count
    if batch:
        yield tuple(batch)
