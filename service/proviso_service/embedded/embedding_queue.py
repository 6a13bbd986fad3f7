"""The texts that wait for the embedding model. Their number is bounded, and queries come first; event loops put them
in, and the model's thread takes them out."""

import asyncio
import threading
from collections import deque
from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field

from proviso_service.models import ModelBusy, ModelClosed, Vectors

_RETRY_AFTER_S = 1.0


@dataclass(frozen=True, slots=True, eq=False)
class EmbeddingJob:
    """Texts for which one caller waits. When `result` is cancelled before the model begins with them, they are
    dropped."""

    texts: Sequence[str]
    result: Future[Vectors] = field(default_factory=Future)


class EmbeddingQueue:
    """Two lines, one of queries and one of documents, each of at most `bound` texts. Callers put jobs in on an event
    loop, and one thread takes them out. No method blocks an event loop."""

    def __init__(self, bound: int) -> None:
        self._bound = bound
        self._changed = threading.Condition()
        self._queries: deque[EmbeddingJob] = deque()
        self._documents: deque[EmbeddingJob] = deque()
        self._waiting_texts = 0
        self._space_wanted: list[Future[None]] = []
        self._closed = False

    def put_query(self, text: str) -> EmbeddingJob:
        """Puts a query in. Raises ModelBusy when the line of queries is full, and ModelClosed."""
        with self._changed:
            self._check_open()
            if len(self._queries) >= self._bound:
                raise ModelBusy("Too many searches are waiting for the embedding model", _RETRY_AFTER_S)
            job = EmbeddingJob((text,))
            self._queries.append(job)
            self._changed.notify()
            return job

    async def put_documents(self, texts: Sequence[str]) -> EmbeddingJob:
        """Puts at most `bound` texts in, and waits until there is room for them. Raises ModelClosed, also while it
        waits."""
        while True:
            with self._changed:
                self._check_open()
                if self._waiting_texts + len(texts) <= self._bound:
                    job = EmbeddingJob(texts)
                    self._documents.append(job)
                    self._waiting_texts += len(texts)
                    self._changed.notify()
                    return job
                space: Future[None] = Future()
                self._space_wanted.append(space)
            await asyncio.wrap_future(space)

    def take(self, max_texts: int) -> list[EmbeddingJob]:
        """Returns jobs to do next: queries, or else documents. It blocks the model's thread until there are any, and
        returns an empty list once the queue is closed."""
        with self._changed:
            while not self._closed:
                jobs = self._take_queries(max_texts) or self._take_documents(max_texts)
                if jobs:
                    return jobs
                self._changed.wait()
            return []

    def take_queries(self, max_texts: int) -> list[EmbeddingJob]:
        """Returns the queries that wait at the moment, without blocking."""
        with self._changed:
            return self._take_queries(max_texts)

    def close(self) -> None:
        """Refuses new jobs, and makes those that wait fail with ModelClosed."""
        with self._changed:
            self._closed = True
            left = [*self._queries, *self._documents]
            self._queries.clear()
            self._documents.clear()
            self._waiting_texts = 0
            self._wake_those_who_want_space()
            self._changed.notify_all()
        for job in left:
            if job.result.set_running_or_notify_cancel():
                job.result.set_exception(_closed_error())

    def _check_open(self) -> None:
        if self._closed:
            raise _closed_error()

    def _take_queries(self, max_texts: int) -> list[EmbeddingJob]:
        return _take_wanted(self._queries, max_texts)[0]

    def _take_documents(self, max_texts: int) -> list[EmbeddingJob]:
        jobs, texts_removed = _take_wanted(self._documents, max_texts)
        if texts_removed:
            self._waiting_texts -= texts_removed
            self._wake_those_who_want_space()
        return jobs

    def _wake_those_who_want_space(self) -> None:
        wanted, self._space_wanted = self._space_wanted, []
        for space in wanted:
            if space.set_running_or_notify_cancel():
                space.set_result(None)


def _take_wanted(line: deque[EmbeddingJob], max_texts: int) -> tuple[list[EmbeddingJob], int]:
    """Takes jobs from the head of `line`, leaving out those whose caller has gone. Returns the jobs, and the number of
    texts that left the line, dropped ones included. The first job is taken whatever its size."""
    jobs: list[EmbeddingJob] = []
    taken = removed = 0
    while line and (not jobs or taken + len(line[0].texts) <= max_texts):
        job = line.popleft()
        removed += len(job.texts)
        if job.result.set_running_or_notify_cancel():
            jobs.append(job)
            taken += len(job.texts)
    return jobs, removed


def _closed_error() -> ModelClosed:
    return ModelClosed("The embedding model is closed")
