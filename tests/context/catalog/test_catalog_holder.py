"""How the catalog is exchanged, and how those who ask for that at once are answered."""

import asyncio

import pytest

from proviso_service.context.catalog.catalog import Catalog, CatalogHolder
from proviso_service.context.model import ItemRef, ItemType
from proviso_service.errors import CatalogInvalid, FileFault
from tests.support.catalogs import a_catalog, an_item

FAULT = FileFault("agent.yaml", 1, "name", "is missing")


class Folder:
    """Read when it `may_be_read`; it holds as many rules as it has been read times, or a fault."""

    def __init__(self) -> None:
        self.read = 0
        self.is_faulty = False
        self.begun = asyncio.Event()
        self.may_be_read = asyncio.Event()

    async def load(self) -> Catalog:
        self.read += 1
        self.begun.set()
        await self.may_be_read.wait()
        if self.is_faulty:
            raise CatalogInvalid([FAULT])
        return a_catalog(*(an_item(ItemRef(ItemType.RULE, str(number))) for number in range(self.read)))


async def under_way(folder: Folder, holder: CatalogHolder, others: int) -> list[asyncio.Task[Catalog]]:
    """One who reads, and others who have asked meanwhile."""
    tasks = [asyncio.create_task(holder.reload())]
    await folder.begun.wait()
    tasks += [asyncio.create_task(holder.reload()) for _ in range(others)]
    await asyncio.sleep(0)
    return tasks


async def test_all_who_ask_while_it_is_being_read_share_the_next_reading() -> None:
    folder = Folder()
    holder = CatalogHolder(folder.load)
    tasks = await under_way(folder, holder, 20)
    folder.may_be_read.set()
    first, *others = await asyncio.gather(*tasks)
    assert folder.read == 2
    assert len(first) == 1
    assert {len(catalog) for catalog in others} == {2}
    assert holder.current is others[0]


async def test_a_fault_is_told_to_all_who_share_the_reading_and_to_nobody_after_it() -> None:
    folder = Folder()
    holder = CatalogHolder(folder.load)
    folder.is_faulty = True
    tasks = await under_way(folder, holder, 3)
    folder.may_be_read.set()
    results = await asyncio.gather(*tasks, return_exceptions=True)
    assert [type(result) for result in results] == [CatalogInvalid] * 4
    assert (folder.read, len(holder.current)) == (2, 0)
    folder.is_faulty = False
    assert len(await holder.reload()) == 3


async def test_who_gives_up_leaves_the_reading_to_the_next() -> None:
    folder = Folder()
    holder = CatalogHolder(folder.load)
    reader, waiting = await under_way(folder, holder, 1)
    reader.cancel()
    folder.may_be_read.set()
    assert len(await waiting) == 2
    with pytest.raises(asyncio.CancelledError):
        await reader
