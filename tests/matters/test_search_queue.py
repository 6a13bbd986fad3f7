"""Searches wait for their threads, and find what each would find alone."""

import asyncio
import threading
from collections.abc import AsyncIterator, Sequence

import numpy as np
import pytest

from proviso_service.errors import Draining
from proviso_service.matters import search_queue
from proviso_service.matters.search_index import IndexAnswer, IndexQuery, MatterIndex
from proviso_service.matters.search_queue import SearchQueue
from tests.support.indexed import index_of, packed
from tests.support.stored import DIMENSIONS

INDEX = index_of(
    *(packed(f"d{n}", *(f"Clause {n}.{m}: rent, tax and lot {m} of {n}." for m in range(9))) for n in range(9))
)
CHANCE = np.random.default_rng(0)


def query_for(*words: str) -> IndexQuery:
    vector = CHANCE.normal(size=DIMENSIONS).astype(np.float32)
    return IndexQuery(vector, words, words, (), 10, 10)


class Thread:
    """Holds the searching thread up, and tells how many searches it compared at a time."""

    def __init__(self) -> None:
        self.may_search = threading.Event()
        self.compared: list[int] = []
        self.begun = threading.Event()

    def with_nearest(self, queries: Sequence[IndexQuery]) -> list[IndexQuery]:
        self.begun.set()
        assert self.may_search.wait(10)
        self.compared.append(len(queries))
        return list(queries)

    async def busy(self, queue: SearchQueue) -> asyncio.Task[IndexAnswer]:
        """A search with which the thread has begun."""
        search = asyncio.create_task(queue.search(INDEX, query_for("rent")))
        assert await asyncio.to_thread(self.begun.wait, 10)
        return search


@pytest.fixture
def thread(monkeypatch: pytest.MonkeyPatch) -> Thread:
    thread = Thread()
    monkeypatch.setattr(MatterIndex, "with_nearest", lambda _, queries: thread.with_nearest(queries))
    return thread


@pytest.fixture
async def queue() -> AsyncIterator[SearchQueue]:
    queue = SearchQueue(threads=1)
    yield queue
    await queue.close()


async def asked(queue: SearchQueue, *searches: tuple[MatterIndex, IndexQuery]) -> list[asyncio.Task[IndexAnswer]]:
    """The searches, once all of them wait."""
    tasks = [asyncio.create_task(queue.search(*search)) for search in searches]
    await asyncio.sleep(0)
    return tasks


async def test_searches_at_once_find_what_each_finds_alone(queue: SearchQueue) -> None:
    queries = [query_for("rent", f"{n}") for n in range(30)]
    queries += [IndexQuery(q.vector, q.words, q.telling, (), 10, 10, INDEX.of_documents(["d1"])) for q in queries[:3]]
    found = await asyncio.gather(*(queue.search(INDEX, query) for query in queries))
    assert found == [INDEX.search(query) for query in queries]


async def test_two_threads_search_beside_each_other_and_answer_every_search(thread: Thread) -> None:
    queue, meeting = SearchQueue(), threading.Barrier(2)
    thread.may_search.set()
    with_nearest, have_met = thread.with_nearest, threading.Event()

    def met(queries: Sequence[IndexQuery]) -> list[IndexQuery]:
        if not have_met.is_set():
            meeting.wait(10)
            have_met.set()
        return with_nearest(queries)

    thread.with_nearest = met  # type: ignore[method-assign]
    found = await asyncio.gather(*(queue.search(INDEX, query_for("rent")) for _ in range(50)))
    assert [answer.worded for answer in found] == [10] * 50
    assert sum(thread.compared) == 50
    await queue.close()


async def test_those_that_wait_for_one_index_are_compared_at_once_and_not_too_many(
    queue: SearchQueue, thread: Thread
) -> None:
    first = await thread.busy(queue)
    other = index_of(packed("other", "Rent."))
    mine = [(INDEX, query_for("rent"))] * 3
    waiting = await asked(queue, *mine, (other, query_for("rent")), *mine * 4)
    thread.may_search.set()
    await asyncio.gather(first, *waiting)
    assert thread.compared == [1, 3, 1, *[search_queue.TOGETHER] * 3]


async def test_a_search_whose_caller_has_gone_is_dropped(queue: SearchQueue, thread: Thread) -> None:
    first = await thread.busy(queue)
    gone, stays = await asked(queue, (INDEX, query_for("rent")), (INDEX, query_for("tax")))
    gone.cancel()
    await asyncio.wait([gone])
    thread.may_search.set()
    assert (await stays).worded == (await first).worded == 10
    assert thread.compared == [1, 1]


async def test_a_search_that_fails_fails_no_other(queue: SearchQueue, thread: Thread) -> None:
    first = await thread.busy(queue)
    failing, fine = await asked(queue, (INDEX, query_for(None)), (INDEX, query_for("tax")))  # type: ignore[arg-type]
    thread.may_search.set()
    with pytest.raises(AttributeError):
        await failing
    assert (await fine).worded == 10
    await first
    assert thread.compared == [1, 2]


async def test_a_comparison_that_fails_fails_its_searches_and_no_later_one(queue: SearchQueue) -> None:
    askew = IndexQuery(np.zeros(DIMENSIONS + 1, dtype=np.float32), (), (), (), 10, 10)
    with pytest.raises(ValueError, match="dimension"):
        await queue.search(INDEX, askew)
    assert (await queue.search(INDEX, query_for("rent"))).worded == 10


async def test_a_closed_queue_answers_what_it_was_asked_and_nothing_else(queue: SearchQueue, thread: Thread) -> None:
    first = await thread.busy(queue)
    closing = asyncio.create_task(queue.close())
    await asyncio.sleep(0)
    with pytest.raises(Draining):
        await queue.search(INDEX, query_for("rent"))
    thread.may_search.set()
    assert (await first).worded == 10
    await closing
