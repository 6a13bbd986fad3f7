"""The documents that wait, in memory and in their rows."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from proviso_service.errors import FailureCause
from proviso_service.matters.ingestion import AGEING_BYTES_PER_S, Backlog
from proviso_service.matters.model import Document, Matter
from proviso_service.matters.rotation import Limits
from tests.support.matters_world import OTHER_TENANT, TENANT, MattersWorld
from tests.support.stored import a_document

NOW = datetime(2026, 1, 1, tzinfo=UTC)
LIMITS = Limits(2, 2, 2, 2)
OWNER = "replica-1"


async def _added(world: MattersWorld, matter: Matter, count: int, filename: str = "lease") -> list[Document]:
    documents = [
        a_document(matter, f"{filename}{number}", uploaded=NOW + timedelta(seconds=number)) for number in range(count)
    ]
    return [(await world.store.add_document(document))[0] for document in documents]


async def _taken(world: MattersWorld, backlog: Backlog, count: int) -> list[str]:
    """The names of the next documents, each of which is done before the next one is taken."""
    names = []
    for _ in range(count):
        async with backlog.next() as document:
            names.append(document.filename)
            await world.store.fail(document, "done", FailureCause.FAILED)
    return names


@pytest.mark.parametrize("capacity", [1, 2, 3, 20])
async def test_what_does_not_fit_in_memory_is_taken_from_the_rows(idle_world: MattersWorld, capacity: int) -> None:
    matter = await idle_world.store.create_matter(TENANT, "Northwind")
    added = await _added(idle_world, matter, 7)
    backlog = Backlog(idle_world.store, LIMITS, capacity, OWNER)
    await backlog.load()
    assert await _taken(idle_world, backlog, 7) == [document.filename for document in added]


@pytest.mark.parametrize("capacity", [1, 2, 3, 20])
@pytest.mark.parametrize("are_stored_before", [True, False])
async def test_many_documents_of_a_tenant_keep_no_others_waiting(
    idle_world: MattersWorld, capacity: int, are_stored_before: bool
) -> None:
    store = idle_world.store
    many, few = await store.create_matter(TENANT, "Many"), await store.create_matter(OTHER_TENANT, "Few")
    backlog = Backlog(store, LIMITS, capacity, OWNER)
    documents = [*await _added(idle_world, many, 7, "many"), *await _added(idle_world, few, 2, "few")]
    if are_stored_before:
        await backlog.load()
    else:
        for document in documents:
            backlog.add(document)
    taken = await _taken(idle_world, backlog, 9)
    assert {"few0", "few1"} < set(taken[:5])
    assert sorted(taken) == sorted(document.filename for document in documents)


async def test_small_documents_come_first_but_a_large_one_grows_older(idle_world: MattersWorld) -> None:
    matter = await idle_world.store.create_matter(TENANT, "Northwind")
    backlog = Backlog(idle_world.store, LIMITS, 20, OWNER)
    for name, seconds, size in (("large", 0, 60), ("later", 59, 0), ("last", 61, 0), ("first", 0, 0)):
        uploaded = NOW + timedelta(seconds=seconds)
        document = replace(a_document(matter, name, uploaded=uploaded), size_bytes=size * AGEING_BYTES_PER_S)
        backlog.add((await idle_world.store.add_document(document))[0])
    assert await _taken(idle_world, backlog, 4) == ["first", "later", "large", "last"]


async def test_a_document_is_nobody_elses_while_it_is_worked_on(idle_world: MattersWorld) -> None:
    store = idle_world.store
    matter = await store.create_matter(TENANT, "Northwind")
    first, second = await _added(idle_world, matter, 2)
    backlog = Backlog(store, LIMITS, 5, OWNER)
    backlog.add(first)
    async with backlog.next() as document:
        assert document == first
        backlog.add(first)
        backlog.add(second)
        async with backlog.next() as other:
            assert other == second
            await store.fail(second, "done", FailureCause.FAILED)
    async with backlog.next() as document:
        assert document == first


async def test_a_document_whose_work_was_broken_off_is_read_again(idle_world: MattersWorld) -> None:
    matter = await idle_world.store.create_matter(TENANT, "Northwind")
    backlog = Backlog(idle_world.store, LIMITS, 5, OWNER)
    (added,) = await _added(idle_world, matter, 1)
    backlog.add(added)
    with pytest.raises(RuntimeError):
        async with backlog.next():
            raise RuntimeError
    async with backlog.next() as document:
        assert document == added
