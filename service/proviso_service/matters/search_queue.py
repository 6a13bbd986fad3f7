"""SearchQueue searches indexes in two threads, in the order of the calls. More threads would take longer for the same
searches: each waits for the interpreter whenever numpy hands over an array."""

import asyncio
import threading
from collections import deque
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from proviso_service.errors import Draining
from proviso_service.matters.search_index import IndexAnswer, IndexQuery, MatterIndex

THREADS = 2

TOGETHER = 4
"""The most searches whose vectors are compared at once. Nobody gets an answer before all of them have one."""


@dataclass(frozen=True, slots=True)
class WaitingSearch:
    """A search whose caller waits for what is found."""

    index: MatterIndex
    query: IndexQuery
    answer: asyncio.Future[IndexAnswer]


Outcome = tuple[WaitingSearch, IndexAnswer | Exception]


class SearchQueue:
    """Searches that wait for a thread. There are as many as the Retriever lets run at the same time. A search whose
    caller has gone before its turn is dropped."""

    def __init__(self, threads: int = THREADS) -> None:
        self._threads = ThreadPoolExecutor(threads, thread_name_prefix="search")
        self._idle = threads
        self._waiting: deque[WaitingSearch] = deque()
        self._lock = threading.Lock()
        self._closed = False

    async def search(self, index: MatterIndex, query: IndexQuery) -> IndexAnswer:
        """Returns what `index.search(query)` does. Raises Draining once the queue is closed."""
        if self._closed:
            raise Draining
        loop = asyncio.get_running_loop()
        search = WaitingSearch(index, query, loop.create_future())
        with self._lock:
            self._waiting.append(search)
            is_taken = self._idle == 0  # by a thread that is at work
            self._idle -= not is_taken
        if not is_taken:
            self._threads.submit(self._search_waiting, loop)
        return await search.answer

    async def close(self) -> None:
        """Refuses new searches and waits for those that have been asked for, which take milliseconds."""
        self._closed = True
        await asyncio.to_thread(self._threads.shutdown)

    def _search_waiting(self, loop: asyncio.AbstractEventLoop) -> None:
        """Does the waiting searches, in a thread."""
        while searches := self._next():
            loop.call_soon_threadsafe(_tell, _outcomes(searches))

    def _next(self) -> list[WaitingSearch]:
        """Takes the first of those that wait, and those behind it that search the same index. The thread is idle where
        there are none."""
        taken: list[WaitingSearch] = []
        with self._lock:
            while self._waiting and len(taken) < TOGETHER:
                if taken and self._waiting[0].index is not taken[0].index:
                    break
                search = self._waiting.popleft()
                if not search.answer.cancelled():
                    taken.append(search)
            self._idle += not taken
        return taken


def _outcomes(searches: Sequence[WaitingSearch]) -> Sequence[Outcome]:
    index = searches[0].index
    try:
        queries = index.with_nearest([search.query for search in searches])
    except Exception as failure:
        return [(search, failure) for search in searches]
    return [(search, _tried(index, query)) for search, query in zip(searches, queries, strict=True)]


def _tried(index: MatterIndex, query: IndexQuery) -> IndexAnswer | Exception:
    try:
        return index.search(query)
    except Exception as failure:  # the others are not touched by it
        return failure


def _tell(outcomes: Sequence[Outcome]) -> None:
    """Gives the callers what became of their searches, on the event loop."""
    for search, outcome in outcomes:
        if search.answer.cancelled():
            continue
        if isinstance(outcome, Exception):
            search.answer.set_exception(outcome)
        else:
            search.answer.set_result(outcome)
