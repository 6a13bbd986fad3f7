"""The documents that wait, in memory and in their rows."""

from proviso_service.matters.ingestion import Backlog
from proviso_service.matters.model import DocumentStatus
from tests.support.matters_world import TENANT, MattersWorld
from tests.support.stored import a_document


async def test_what_does_not_fit_in_memory_is_taken_from_the_rows(idle_world: MattersWorld) -> None:
    store = idle_world.store
    matter = await store.create_matter(TENANT, "Northwind")
    added = [(await store.add_document(a_document(matter, f"{number}.md")))[0] for number in range(7)]
    backlog = Backlog(store, capacity=2)
    await backlog.load()
    taken = []
    for _ in added:
        async with backlog.next() as document:
            taken.append(document.document_id)
            await store.set_status(document, DocumentStatus.FAILED, "done")
    assert taken == [document.document_id for document in added]


async def test_a_document_is_nobody_elses_while_it_is_worked_on(idle_world: MattersWorld) -> None:
    store = idle_world.store
    matter = await store.create_matter(TENANT, "Northwind")
    first, second = [(await store.add_document(a_document(matter)))[0] for _ in range(2)]
    backlog = Backlog(store, capacity=5)
    backlog.add(first)
    async with backlog.next() as document:
        assert document == first
        backlog.load_again()
        async with backlog.next() as other:
            assert other == second
    backlog.load_again()
    async with backlog.next() as document:
        assert document == first
