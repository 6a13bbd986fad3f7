"""The comparison of an index with the database, while both are changed."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from pathlib import Path

import pytest

from proviso_service.backends.sql.matters import SqlMatterStore
from proviso_service.backends.vectors.chroma import ChromaIndex
from proviso_service.matters.indexes import IndexedVector
from proviso_service.matters.maintained_index import MaintainedIndex
from proviso_service.matters.model import Document, DocumentStatus, Matter
from proviso_service.matters.stores import VectorRecord
from proviso_service.models import Vectors
from tests.support.index_world import TENANT, IndexWorld, index_world, random_units, records

VECTORS = random_units(60, seed=1)
QUERY = random_units(1, seed=2)[0]

Act = Callable[[], Awaitable[object]]


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[IndexWorld]:
    async with index_world(tmp_path) as world:
        yield world


@pytest.fixture
async def matter(world: IndexWorld) -> Matter:
    return await world.matter()


class Meanwhile:
    """Does something once, at the first moment it is told of."""

    def __init__(self) -> None:
        self.act: Act | None = None
        self.done: list[asyncio.Task[object]] = []
        self.waits_for_caller = asyncio.Event()
        """The act sets it where its next step has to wait for the caller."""

    async def begin(self) -> None:
        """Starts the act and lets it get as far as it can without the caller."""
        if self.act:
            act, self.act = self.act, None
            self.done.append(asyncio.create_task(_task(act)))
            waiting = asyncio.create_task(self.waits_for_caller.wait())
            await asyncio.wait([*self.done, waiting], return_when=asyncio.FIRST_COMPLETED)
            waiting.cancel()

    async def end(self) -> None:
        assert len(self.done) == 1
        await self.done[0]


async def _task(act: Act) -> object:
    return await act()


@pytest.fixture
def before_writing(monkeypatch: pytest.MonkeyPatch) -> Meanwhile:
    """Between the reading of vectors from the database and their writing to the index."""
    meanwhile = Meanwhile()
    read = SqlMatterStore.vectors_of_chunks

    async def vectors_of_chunks(
        self: SqlMatterStore, tenant: str, model_id: str, chunk_ids: Sequence[str]
    ) -> Sequence[VectorRecord]:
        found = await read(self, tenant, model_id, chunk_ids)
        await meanwhile.begin()
        return found

    monkeypatch.setattr(SqlMatterStore, "vectors_of_chunks", vectors_of_chunks)
    return meanwhile


@pytest.fixture
def before_removing(monkeypatch: pytest.MonkeyPatch) -> Meanwhile:
    """Between the database's word that vectors are unclaimed and their removal from the index."""
    meanwhile = Meanwhile()
    read = SqlMatterStore.unclaimed_chunks

    async def unclaimed_chunks(
        self: SqlMatterStore, tenant: str, model_id: str, document_of: Mapping[str, str]
    ) -> Sequence[str]:
        found = await read(self, tenant, model_id, document_of)
        await meanwhile.begin()
        return found

    monkeypatch.setattr(SqlMatterStore, "unclaimed_chunks", unclaimed_chunks)
    return meanwhile


@pytest.fixture
def after_survey(monkeypatch: pytest.MonkeyPatch) -> Meanwhile:
    """Between the survey of a part of the index and what is made of it."""
    meanwhile = Meanwhile()
    survey = ChromaIndex.survey

    async def watched(self: ChromaIndex, part: str, vector: Vectors) -> Sequence[IndexedVector]:
        found = await survey(self, part, vector)
        if found:
            await meanwhile.begin()
        return found

    monkeypatch.setattr(ChromaIndex, "survey", watched)
    return meanwhile


async def delete(world: IndexWorld, index: MaintainedIndex, document: Document, rows_gone: asyncio.Event) -> None:
    """As the service does: rows first."""
    await world.store.delete_document(TENANT, document.matter_id, document.document_id)
    rows_gone.set()
    await index.delete_document(TENANT, document.matter_id, document.document_id)


async def held(index: MaintainedIndex) -> set[str]:
    current = index._index
    assert current is not None
    return {vector.chunk_id for part in current.parts for vector in await current.survey(part, QUERY)}


def chunks(*sizes: tuple[Document, int]) -> set[str]:
    return {f"{document.document_id}:{row}" for document, size in sizes for row in range(size)}


async def test_a_document_deleted_while_its_vectors_are_written_does_not_come_back(
    world: IndexWorld, matter: Matter, before_writing: Meanwhile, caplog: pytest.LogCaptureFixture
) -> None:
    async with world.running():
        pass
    kept = await world.ingested(None, matter, VECTORS[:10])
    deleted = await world.ingested(None, matter, VECTORS[10:20])
    async with world.starting() as index:
        before_writing.act = lambda: delete(world, index, deleted, before_writing.waits_for_caller)
        await index.until_whole()
        await before_writing.end()
        assert await held(index) == chunks((kept, 10))
    # Not even for a moment, to be removed again.
    assert "removed=0" in caplog.records[-1].getMessage()


async def test_a_document_ingested_after_the_database_was_read_is_not_removed(
    world: IndexWorld, matter: Matter, after_survey: Meanwhile
) -> None:
    async with world.running() as index:
        kept = await world.ingested(index, matter, VECTORS[:10])
        late = await world.begun(matter)
        await index.upsert(TENANT, records(late, VECTORS[10:20]))

    async with world.starting() as index:
        after_survey.act = lambda: world.committed(late, VECTORS[10:20])
        await index.until_whole()
        await after_survey.end()
        assert await held(index) == chunks((kept, 10), (late, 10))


async def test_a_failed_document_that_is_taken_up_again_keeps_its_new_vectors(
    world: IndexWorld, matter: Matter, before_removing: Meanwhile
) -> None:
    async with world.running() as index:
        kept = await world.ingested(index, matter, VECTORS[:10])
        again = await world.begun(matter)
        await index.upsert(TENANT, records(again, VECTORS[10:20]))
    failed = await world.store.set_status(again, DocumentStatus.FAILED, "It is encrypted.")

    async with world.starting() as index:

        async def ingest_again() -> None:
            document = await world.store.set_status(failed, DocumentStatus.PROCESSING)
            before_removing.waits_for_caller.set()
            await index.upsert(TENANT, records(document, VECTORS[20:30]))
            await world.committed(document, VECTORS[20:30])

        before_removing.act = ingest_again
        await index.until_whole()
        await before_removing.end()
        assert await held(index) == chunks((kept, 10), (again, 10))
        hits = await index.search(TENANT, matter.matter_id, VECTORS[20], 1)
        assert hits[0].chunk_id == f"{again.document_id}:0"


async def test_a_vector_with_other_values_is_written_again(world: IndexWorld, matter: Matter) -> None:
    async with world.running() as index:
        document = await world.begun(matter)
        await index.upsert(TENANT, records(document, VECTORS[20:30]))
        await world.committed(document, VECTORS[:10])

    async with world.running() as index:
        (hit, *_) = await index.search(TENANT, matter.matter_id, VECTORS[3], 10)
        assert hit.chunk_id == f"{document.document_id}:3"
        assert hit.similarity == pytest.approx(1.0, abs=1e-5)


async def test_a_deleted_matter_has_no_vectors(world: IndexWorld, matter: Matter) -> None:
    other = await world.matter()
    async with world.running() as index:
        await world.ingested(index, matter, VECTORS[:10])
        kept = await world.ingested(index, other, VECTORS[10:20])
    await world.store.delete_matter(TENANT, matter.matter_id)

    async with world.running() as index:
        assert await held(index) == chunks((kept, 10))
