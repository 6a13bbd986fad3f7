"""The catalog in use is exchanged as a whole, or not at all."""

import asyncio
from pathlib import Path

import pytest

from proviso_service.context.catalog.catalog import Catalog, CatalogHolder, reload_when
from proviso_service.errors import CatalogInvalid
from tests.support.catalogs import RULE, load, write


async def test_a_fault_keeps_the_old_catalog_and_says_why(tmp_path: Path) -> None:
    async def read() -> Catalog:
        return Catalog(await load(tmp_path))

    write(tmp_path, rules__quoting_md=RULE)
    holder = CatalogHolder(read)
    assert len(holder.current) == 0
    first = await holder.reload()
    assert holder.current is first
    assert len(first) == 1

    write(tmp_path, rules__other_md="no fields", rules__third_md=RULE.replace("Quoting", "Third"))
    with pytest.raises(CatalogInvalid, match=r"rules/other\.md:1"):
        await holder.reload()
    assert holder.current is first

    (tmp_path / "rules/other.md").unlink()
    assert len(await holder.reload()) == 2
    assert len(first) == 1


async def test_a_failed_reload_does_not_end_the_waiting_for_the_next(tmp_path: Path) -> None:
    outcomes: list[Exception | None] = [CatalogInvalid([]), OSError("disk"), None]
    catalog = Catalog(await load(write(tmp_path, rules__quoting_md=RULE)))
    tried = asyncio.Event()

    async def read() -> Catalog:
        tried.set()
        if failure := outcomes.pop(0):
            raise failure
        return catalog

    holder, asked = CatalogHolder(read), asyncio.Event()
    waiting = asyncio.create_task(reload_when(asked, holder))
    while outcomes:
        tried.clear()
        asked.set()
        await asyncio.wait_for(tried.wait(), 10)
    waiting.cancel()
    await asyncio.wait([waiting])
    assert waiting.cancelled()
    assert holder.current is catalog
