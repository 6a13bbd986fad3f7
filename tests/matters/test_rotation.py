"""The order in which documents get their turn."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proviso_service.matters.model import Document, DocumentStatus
from proviso_service.matters.rotation import SMALL_BYTES, Gate, Limits, Rotation

ONE = Limits(every=1, large=1, large_of_tenant=1, large_of_matter=1)


class Documents:
    """Makes documents, each with an id of its own."""

    def __init__(self) -> None:
        self.made = 0

    def __call__(self, tenant: str = "a", matter_id: str = "m", size_bytes: int = 1) -> Document:
        self.made += 1
        now = datetime.now(UTC)
        return Document(
            f"{self.made:06}", matter_id, tenant, "f", "text/plain", size_bytes, "", DocumentStatus.PENDING, now
        )


@pytest.fixture
def document() -> Documents:
    return Documents()


@given(
    steps=st.lists(st.none() | st.tuples(st.sampled_from("abc"), st.floats(0, 1)), max_size=60),
    are_tenants=st.booleans(),
)
def test_nobody_passes_another_who_waits_twice(steps: list[tuple[str, float] | None], are_tenants: bool) -> None:
    """Nobody is a tenant, or a matter of one tenant. A step adds a document, or gives the next one its turn."""
    document, rotation = Documents(), Rotation(ONE)
    waiting: list[Document] = []
    passed: dict[str, list[str]] = {}
    for step in steps:
        if step:
            name, rank = step
            waiting.append(document(name) if are_tenants else document(matter_id=name))
            rotation.add(waiting[-1], rank)
            passed.setdefault(name, [])
        elif taken := rotation.take():
            waiting.remove(taken)
            rotation.discard(taken)
            name = taken.tenant if are_tenants else taken.matter_id
            still = {each.tenant if are_tenants else each.matter_id for each in waiting}
            passed = {other: [] if other == name else [*passed[other], name] for other in still}
            assert all(len(set(names)) == len(names) for names in passed.values())


_ADDED = st.tuples(st.sampled_from("ab"), st.sampled_from("mn"), st.sampled_from((1, SMALL_BYTES + 1)), st.floats(0, 1))


@given(steps=st.lists(st.none() | _ADDED | st.integers(0, 9), max_size=80))
def test_the_limits_hold_and_no_place_stays_empty(steps: list[tuple[str, str, int, float] | int | None]) -> None:
    """A step adds a document, gives the next one its turn, or discards one."""
    document, rotation = Documents(), Rotation(Limits(every=4, large=3, large_of_tenant=2, large_of_matter=1))
    waiting: list[Document] = []
    under_way: list[Document] = []
    for step in steps:
        if isinstance(step, tuple):
            tenant, matter_id, size_bytes, rank = step
            waiting.append(document(tenant, matter_id, size_bytes))
            rotation.add(waiting[-1], rank)
        elif step is None:
            can = [each for each in waiting if _may_begin(each, under_way)]
            taken = rotation.take()
            assert (taken in can) if can else (taken is None)
            if taken:
                waiting.remove(taken)
                under_way.append(taken)
        elif step < len(waiting) + len(under_way):
            each = (waiting + under_way)[step]
            rotation.discard(each)
            (waiting if each in waiting else under_way).remove(each)
        assert len(rotation) == len(waiting)
        assert all(each in rotation for each in (*waiting, *under_way))
    for each in (*waiting, *under_way):
        rotation.discard(each)
    assert not any(vars(rotation)[name] for name in ("_waiting", "_under_way", "_turns"))


def _may_begin(candidate: Document, under_way: list[Document]) -> bool:
    large = [each for each in under_way if each.size_bytes > SMALL_BYTES]
    of_tenant = [each for each in large if each.tenant == candidate.tenant]
    of_matter = [each for each in of_tenant if each.matter_id == candidate.matter_id]
    has_room_for_large = len(large) < 3 and len(of_tenant) < 2 and len(of_matter) < 1
    return len(under_way) < 4 and (candidate.size_bytes <= SMALL_BYTES or has_room_for_large)


def test_the_documents_of_a_matter_come_by_rank(document: Documents) -> None:
    rotation = Rotation(ONE)
    ranks = [3.0, 1.0, 2.0, 1.5]
    documents = {rank: document() for rank in ranks}
    for rank in ranks:
        rotation.add(documents[rank], rank)
    assert rotation.last() == documents[3.0]
    for rank in sorted(ranks):
        assert rotation.take() == documents[rank]
        rotation.discard(documents[rank])


def test_what_is_dropped_is_of_those_who_have_most(document: Documents) -> None:
    rotation = Rotation(ONE)
    for number in range(3):
        rotation.add(document("a", "m"), number)
    most = [document("b", matter_id) for matter_id in "mnn"]
    for number, each in enumerate((*most, document("b", "m"), document("b", "n"))):
        rotation.add(each, -number)
    assert rotation.last() == most[1]


async def _work(gate: Gate, document: Document, pieces: int, done: list[str]) -> None:
    async with gate.admit(document):
        for piece in range(pieces):
            if piece:
                await gate.give_way(document)
            done.append(document.document_id)
            await asyncio.sleep(0)


async def test_pieces_of_work_are_shared_by_tenant(document: Documents) -> None:
    """Two documents of one tenant do not get more together than one of another."""
    gate, done = Gate(Limits(2, 2, 2, 2)), list[str]()
    first, second, other = document("a"), document("a"), document("b")
    await asyncio.gather(*(_work(gate, each, 20, done) for each in (first, second, other)))
    share = Counter(done[:40])
    assert share[other.document_id] in (19, 20)
    assert min(share[first.document_id], share[second.document_id]) >= 9


async def test_a_document_that_comes_later_waits_for_one_piece_of_each(document: Documents) -> None:
    gate, done = Gate(ONE), list[str]()
    large = [asyncio.create_task(_work(gate, document(), 50, done)) for _ in range(2)]
    for _ in range(20):
        await asyncio.sleep(0)
    before = len(done)
    assert 0 < before < 50
    await _work(gate, document(), 1, done)
    assert len(done) - before <= 3
    await asyncio.gather(*large)


@pytest.mark.parametrize("is_in", [True, False])
async def test_a_document_that_is_cancelled_keeps_no_place(is_in: bool, document: Documents) -> None:
    gate, entered = Gate(ONE), asyncio.Event()

    async def stay(work: Callable[[], Awaitable[object]]) -> None:
        async with gate.admit(document()):
            entered.set()
            await work()

    inside = asyncio.create_task(stay(asyncio.Event().wait))
    await entered.wait()
    waiting = asyncio.create_task(stay(asyncio.Event().wait))
    await asyncio.sleep(0)
    for task in (inside, waiting) if is_in else (waiting, inside):
        task.cancel()
    await asyncio.wait([inside, waiting])
    async with asyncio.timeout(5), gate.admit(document()):
        pass
