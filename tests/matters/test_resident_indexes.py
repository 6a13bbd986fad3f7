"""The indexes of matters in memory follow what the database says."""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proviso_service.backends.sql.database import Database
from proviso_service.backends.sql.matters import SqlMatterStore
from proviso_service.errors import Draining, IndexRebuilding, MatterNotFound, Unavailable
from proviso_service.matters import resident_indexes
from proviso_service.matters.model import Document, Matter
from proviso_service.matters.packing import PackedDocument
from proviso_service.matters.resident_indexes import NearestPassages, ResidentIndexes
from proviso_service.matters.search_index import IndexQuery, MatterIndex, Rows
from proviso_service.models import Vectors
from proviso_service.notices import About
from tests.support.indexed import answer_to, worded
from tests.support.migrated import state_in
from tests.support.noted import Noted
from tests.support.stored import DIMENSIONS, MODEL, ingested

LARGE = 2**30


class CountingStore(SqlMatterStore):
    """Counts the reads of matters, and can hold them up or fail."""

    def __init__(self, database: Database) -> None:
        super().__init__(database)
        self.reads: list[set[str]] = []
        self.failures: list[Exception] = []
        self.may_read = asyncio.Event()
        self.may_read.set()
        self.has_read = asyncio.Event()

    async def packed_documents(
        self, tenant: str, matter_id: str, model_id: str, known: Mapping[str, PackedDocument]
    ) -> tuple[int, Sequence[PackedDocument]]:
        found = await super().packed_documents(tenant, matter_id, model_id, known)
        self.reads.append({one.document_id for one in found[1]} - set(known))
        self.has_read.set()
        await self.may_read.wait()
        if self.failures:
            raise self.failures.pop()
        return found


@dataclass
class World:
    store: CountingStore
    indexes: ResidentIndexes

    async def matter(self, name: str = "Lease") -> Matter:
        return await self.store.create_matter("acme", name)

    async def at(self, matter: Matter) -> MatterIndex:
        """The index at the matter's version, as a search asks for it."""
        now = await self.store.get_matter("acme", matter.matter_id)
        return await self.indexes.at("acme", matter.matter_id, now.index_version)

    async def delete(self, document: Document) -> None:
        await self.store.delete_document("acme", document.matter_id, document.document_id)

    async def followed(self) -> None:
        """Waits until the indexes are as they were told to be."""
        await asyncio.gather(*self.indexes._following.values())

    def kept(self, matter: Matter) -> bool:
        return ("acme", matter.matter_id) in self.indexes


@pytest.fixture
async def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[World]:
    monkeypatch.setattr(resident_indexes, "PAUSE", 0)
    database = Database(state_in(tmp_path))
    store = CountingStore(database)
    indexes = ResidentIndexes(store, MODEL, DIMENSIONS, LARGE)
    yield World(store, indexes)
    await indexes.close()
    await database.close()


def assert_same(one: MatterIndex, other: MatterIndex) -> None:
    assert [d.document_id for d in one.documents] == [d.document_id for d in other.documents]
    assert np.array_equal(one.vectors, other.vectors)
    assert one.terms.keys() == other.terms.keys()
    for term, number in one.terms.items():
        mine, theirs = one.ranking.get_scores_from_ids([number]), other.ranking.get_scores_from_ids([other.terms[term]])
        assert np.array_equal(mine, theirs)


async def test_an_index_is_loaded_once_for_all_who_ask(world: World) -> None:
    matter = await world.matter()
    await ingested(world.store, matter, "Rent is due.")
    world.store.may_read.clear()
    asked = [asyncio.create_task(world.at(matter)) for _ in range(8)]
    await world.store.has_read.wait()
    asked[0].cancel()
    world.store.may_read.set()
    first, *others = await asyncio.gather(*asked[1:])
    assert all(index is first for index in others)
    assert len(world.store.reads) == 1
    assert await world.at(matter) is first


async def test_a_changed_matter_is_read_for_what_is_new_alone(world: World) -> None:
    matter = await world.matter()
    old = [await ingested(world.store, matter, f"Rent {n} is due.") for n in range(3)]
    before = await world.at(matter)
    new = await ingested(world.store, matter, "The deposit is paid.")
    await world.delete(old[0])
    after = await world.at(matter)
    assert world.store.reads == [{d.document_id for d in old}, {new.document_id}]
    assert [d.document_id for d in after.documents] == [old[1].document_id, old[2].document_id, new.document_id]
    assert len(before.documents) == 3, "a search that has begun goes on in the value that it has"
    assert worded(answer_to(before, "rent")) != worded(answer_to(after, "rent"))


STEPS = st.lists(
    st.tuples(
        st.sampled_from(["add", "delete", "look"]), st.lists(st.sampled_from(["rent", "due", "law"]), max_size=5)
    ),
    max_size=10,
)


@settings(max_examples=25, deadline=None)
@given(steps=STEPS)
def test_what_was_built_step_by_step_equals_what_is_built_from_scratch(
    tmp_path_factory: pytest.TempPathFactory, steps: Sequence[tuple[str, Sequence[str]]]
) -> None:
    async def check() -> None:
        database = Database(state_in(tmp_path_factory.mktemp("state")))
        store = CountingStore(database)
        world = World(store, ResidentIndexes(store, MODEL, DIMENSIONS, LARGE))
        matter = await world.matter()
        for step, words in steps:
            if step == "add":
                await ingested(store, matter, *words)
            elif step == "look":
                await world.at(matter)
            elif documents := await store.all_documents("acme", matter.matter_id):
                await world.delete(documents[len(words) % len(documents)])
        fresh = ResidentIndexes(store, MODEL, DIMENSIONS, LARGE)
        assert_same(await world.at(matter), await World(store, fresh).at(matter))
        for indexes in (world.indexes, fresh):
            await indexes.close()
        await database.close()

    asyncio.run(check())


async def test_nothing_outside_a_matter_moves_its_statistics(world: World) -> None:
    matter, other = await world.matter(), await world.matter("Other")
    await ingested(world.store, matter, "Rent is due.", "The law of Oregon.", "A deposit.")
    before = await world.at(matter)
    for number in range(5):
        await ingested(world.store, other, f"Rent rent law {number}.", "Rent and deposit.")
    await world.at(other)
    world.indexes._by_use.clear()
    assert_same(before, await world.at(matter))


async def test_the_matters_used_last_are_kept_within_the_bound(world: World) -> None:
    matters = [await world.matter(str(n)) for n in range(3)]
    for matter in matters:
        await ingested(world.store, matter, "Rent is due.")
    size = (await world.at(matters[0])).size_bytes
    world.indexes._max_bytes = int(size * 2.5)
    await world.at(matters[1])
    await world.at(matters[0])
    await world.at(matters[2])
    assert [world.kept(matter) for matter in matters] == [True, False, True]
    assert world.indexes.held_bytes <= size * 2.5
    assert len((await world.at(matters[1])).documents) == 1


async def test_a_matter_that_is_larger_than_the_bound_is_kept_alone(world: World) -> None:
    first, second = await world.matter("1"), await world.matter("2")
    for matter in (first, second):
        await ingested(world.store, matter, "Rent is due.")
    world.indexes._max_bytes = 1
    assert await world.at(first) is await world.at(first)
    await world.at(second)
    assert [world.kept(first), world.kept(second)] == [False, True]


async def test_what_ingestion_has_written_is_ready_before_anybody_asks(world: World) -> None:
    matter = await world.matter()
    await ingested(world.store, matter, "Rent is due.")
    world.indexes.follow("acme", matter.matter_id)
    await world.followed()
    reads = len(world.store.reads)
    assert len((await world.at(matter)).documents) == 1
    assert len(world.store.reads) == reads


async def test_changes_during_a_load_are_one_more_load(world: World) -> None:
    matter = await world.matter()
    world.store.may_read.clear()
    for number in range(6):
        await ingested(world.store, matter, f"Rent {number}.")
        world.indexes.follow("acme", matter.matter_id)
        await world.store.has_read.wait()
    world.store.may_read.set()
    assert len((await world.at(matter)).documents) == 6
    await world.followed()
    assert len(world.store.reads) <= 3


async def test_documents_that_come_in_one_after_another_do_not_each_load_their_matter(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those who search, and a deletion, do not wait for the pause."""
    monkeypatch.setattr(resident_indexes, "PAUSE", 1e6)
    matter = await world.matter()
    for number in range(6):
        document = await ingested(world.store, matter, f"Rent {number}.")
        world.indexes.follow("acme", matter.matter_id)
        await world.store.has_read.wait()
        await asyncio.gather(*world.indexes._loading.values())
    assert len(world.store.reads) == 1
    assert len((await world.at(matter)).documents) == 6
    await world.delete(document)
    async with asyncio.timeout(30):
        await world.indexes.catch_up("acme", matter.matter_id)
    assert len(world.indexes._by_use["acme", matter.matter_id].documents) == 5


@pytest.mark.parametrize("is_told", [True, False])
async def test_what_another_process_changes_is_brought_up_to_date_where_it_is_held(world: World, is_told: bool) -> None:
    matter, unused = await world.matter(), await world.matter("Other")
    first = await ingested(world.store, matter, "Rent is due.")
    notices = Noted()
    world = World(world.store, ResidentIndexes(world.store, MODEL, DIMENSIONS, LARGE, notices=notices))
    await world.at(matter)
    await ingested(world.store, matter, "The deposit is paid.")
    await ingested(world.store, unused, "The law of Oregon.")
    for changed in (matter, unused) if is_told else ():
        await notices.hears(About.MATTER, tenant="acme", matter_id=changed.matter_id)
    if not is_told:
        await notices.misses()
    await world.followed()
    assert not world.kept(unused)
    assert len(world.indexes._by_use["acme", matter.matter_id].documents) == 2
    await world.delete(first)
    await notices.hears(About.MATTER, tenant="acme", matter_id=matter.matter_id, deleted=True)
    assert len(world.indexes._by_use["acme", matter.matter_id].documents) == 1
    assert not notices.told
    await world.indexes.close()


async def test_other_processes_are_told_of_changes_and_deletions(world: World) -> None:
    matter = await world.matter()
    this = {"tenant": "acme", "matter_id": matter.matter_id}
    notices = Noted()
    indexes = ResidentIndexes(world.store, MODEL, DIMENSIONS, LARGE, notices=notices)
    indexes.follow(**this)
    await indexes.catch_up(**this)
    await indexes.forget(**this)
    await indexes.close()
    deleted = About.MATTER, this | {"deleted": True}
    assert notices.told == [(About.MATTER, this), deleted, deleted]


async def test_a_load_that_fails_fails_those_who_wait_and_no_one_later(world: World) -> None:
    matter = await world.matter()
    await ingested(world.store, matter, "Rent is due.")
    world.store.failures.append(Unavailable("away"))
    with pytest.raises(Unavailable):
        await world.at(matter)
    assert len((await world.at(matter)).documents) == 1


async def test_a_deleted_document_leaves_the_memory(world: World) -> None:
    matter = await world.matter()
    document = await ingested(world.store, matter, "Unrepeatable.")
    await world.at(matter)
    await world.delete(document)
    await world.indexes.catch_up("acme", matter.matter_id)
    assert world.indexes._by_use["acme", matter.matter_id].terms == {}


async def test_a_deleted_matter_is_forgotten_and_not_found(world: World) -> None:
    matter = await world.matter()
    await ingested(world.store, matter, "Rent is due.")
    await world.at(matter)
    await world.store.delete_matter("acme", matter.matter_id)
    await world.indexes.forget("acme", matter.matter_id)
    assert not world.kept(matter)
    with pytest.raises(MatterNotFound):
        await world.indexes.at("acme", matter.matter_id, 1)


async def test_a_deletion_waits_for_a_load_under_way(world: World) -> None:
    matter = await world.matter()
    await ingested(world.store, matter, "Rent is due.")
    world.store.may_read.clear()
    load = asyncio.create_task(world.at(matter))
    await world.store.has_read.wait()
    await world.store.delete_matter("acme", matter.matter_id)
    forgotten = asyncio.create_task(world.indexes.forget("acme", matter.matter_id))
    await asyncio.sleep(0)
    world.store.may_read.set()
    await asyncio.gather(load, forgotten)
    assert not world.kept(matter)


async def test_matters_of_tenants_are_apart(world: World) -> None:
    matter = await world.matter()
    await ingested(world.store, matter, "Rent is due.")
    await world.at(matter)
    with pytest.raises(MatterNotFound):
        await world.indexes.at("other", matter.matter_id, 1)


async def test_rebuilding_packs_all_documents_again_while_searches_go_on(world: World) -> None:
    matters = [await world.matter(), await world.matter("Other")]
    for matter in matters:
        await ingested(world.store, matter, "Rent is due.", "And more.")
    before = await world.at(matters[0])
    states = [state async for state in world.indexes.rebuild()]
    assert (states[-1].done, states[-1].total) == (4, 4)
    after = await world.at(matters[0])
    assert after is not before
    assert_same(before, after)


async def test_a_second_rebuilding_is_refused_and_the_first_goes_on_without_its_watcher(world: World) -> None:
    await ingested(world.store, await world.matter(), "Rent is due.")
    states = world.indexes.rebuild()
    await anext(states)
    with pytest.raises(IndexRebuilding):
        await anext(world.indexes.rebuild())
    await states.aclose()
    assert world.indexes._rebuild
    await world.indexes._rebuild
    assert [state async for state in world.indexes.rebuild()][-1].done == 1


async def test_a_rebuilding_that_fails_says_so(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    await ingested(world.store, await world.matter(), "Rent is due.")

    async def broken(*_: str) -> None:
        raise RuntimeError("secret detail")

    monkeypatch.setattr(world.store, "pack_again", broken)
    with pytest.raises(Unavailable, match="could not be rebuilt"):
        _ = [state async for state in world.indexes.rebuild()]


async def test_closed_indexes_load_nothing(world: World) -> None:
    matter = await world.matter()
    await ingested(world.store, matter, "Rent is due.")
    await world.indexes.close()
    world.indexes.follow("acme", matter.matter_id)
    with pytest.raises(Draining):
        await world.at(matter)
    with pytest.raises(Draining):
        await anext(world.indexes.rebuild())


@dataclass
class Approximate:
    """Notes what it is told, and answers with what a test says."""

    followed: list[int] = field(default_factory=list)
    forgotten: list[str] = field(default_factory=list)
    near: Rows | None = None

    def follow(self, _tenant: str, _matter_id: str, index: MatterIndex) -> None:
        self.followed.append(index.version)

    async def nearest(self, *_: object) -> Rows | None:
        return self.near

    async def forget(self, _tenant: str, matter_id: str) -> None:
        self.forgotten.append(matter_id)

    async def close(self) -> None: ...


async def test_an_approximate_index_follows_large_matters_and_answers_for_the_whole_of_them(world: World) -> None:
    approximate = Approximate()
    port: NearestPassages = approximate
    world.indexes._approximate, world.indexes._large = port, 2
    small, matter = await world.matter("Small"), await world.matter()
    await ingested(world.store, small, "Rent.", "Due.")
    await world.at(small)
    document = await ingested(world.store, matter, "Rent.", "Due.", "Law.")
    index = await world.at(matter)
    await world.at(matter)
    assert approximate.followed == [1]

    async def nearest(vector: Vectors) -> list[int]:
        query = _query(vector, None)
        return [one.ordinal for one in (await world.indexes.search("acme", matter.matter_id, index, query)).found]

    exact = await nearest(index.vectors[2])
    approximate.near = np.array([1])
    assert (exact[0], len(exact), await nearest(index.vectors[2])) == (2, 3, [1])
    inside = _query(index.vectors[2], np.array([0, 2]))
    found = (await world.indexes.search("acme", matter.matter_id, index, inside)).found
    assert [one.ordinal for one in found] == [2, 0], "what is limited to documents is compared exactly"
    await world.delete(document)
    await world.indexes.catch_up("acme", matter.matter_id)
    assert approximate.forgotten == [matter.matter_id], "the vectors of a deleted document are in no index"


def _query(vector: Vectors, inside: Rows | None) -> IndexQuery:
    return IndexQuery(vector, (), (), (), 10, 10, inside)
