"""A thousand uploads and deletions leave nothing behind."""

import asyncio
import gc
import sqlite3
import sys
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from threading import active_count

import pytest

from proviso_service.matters.model import DocumentStatus
from tests.support.audit import COMMON_WORD, check_sound, inventory
from tests.support.matters_world import TENANT, MattersWorld, matters_world
from tests.support.word_embedder import WordEmbedder

DOCUMENTS_IN_A_CYCLE = 50
NAMES = range(DOCUMENTS_IN_A_CYCLE)
WARM_UP_CYCLES = 4
CYCLES = 20
LEAK_BLOCKS = 0.8
"""Of memory, for each document: an id that stays in some set is one block. What else the process of the tests keeps for
itself meanwhile has been half a block."""

UNDER_WAY = 10
"""Tasks and files that the end of a cycle may leave for a moment, where one that stays would come back in each."""

BYTES_OF_AN_EVENT = 1_000
"""At most, of an event of the audit with its places in the indexes."""

MOST_THREADS = 20
"""The pools are bounded, and take up to their bound the threads that they happen to need at once."""


@dataclass(frozen=True)
class Footprint:
    """What the process and its folder hold."""

    memory_blocks: int
    open_files: int
    threads: int
    tasks: int
    database_bytes: int


def footprint(folder: Path) -> Footprint:
    gc.collect()
    return Footprint(
        sys.getallocatedblocks(),
        len(list(Path("/proc/self/fd").iterdir())),
        active_count(),
        len(asyncio.all_tasks()),
        (folder / "state.sqlite3").stat().st_size,
    )


def events_kept(folder: Path) -> int:
    """The events of the audit, the one thing that is meant to stay."""
    with closing(sqlite3.connect(folder / "state.sqlite3")) as state:
        return int(state.execute("SELECT count(*) FROM audit_events").fetchone()[0])


async def cycle(world: MattersWorld, number: int) -> None:
    """Documents come into two matters at the same time; half of them go one by one, the others with their matter."""
    matters = [await world.matter(), await world.matter()]
    texts = {name: f"{COMMON_WORD} {number} {name}\n\n" + f"{COMMON_WORD} word{name} " * 80 for name in NAMES}
    await asyncio.gather(*(world.upload(matters[name % 2], text, f"{name}.txt") for name, text in texts.items()))
    for matter in matters:
        assert all(progress.document.status is DocumentStatus.READY for progress in await world.settled(matter))
    matter_id = matters[0].matter_id
    documents = await world.matters.all_documents(TENANT, matter_id)
    await asyncio.gather(*(world.matters.delete_document(TENANT, matter_id, d.document_id) for d in documents))
    for matter in matters:
        await world.matters.delete(TENANT, matter.matter_id)
    world.embedder.texts.clear()


@pytest.mark.timeout(300)  # on a busy machine; an idle one takes less than a minute
async def test_a_thousand_uploads_and_deletions_leave_nothing_behind(tmp_path: Path) -> None:
    async with matters_world(tmp_path, WordEmbedder()) as world, world.running():
        kept = await world.ingest(await world.matter(), {"kept.md": f"# Lease\n\nKept {COMMON_WORD}.\n"})
        for number in range(WARM_UP_CYCLES):
            await cycle(world, number)
        before, events_before = footprint(tmp_path), events_kept(tmp_path)
        for number in range(CYCLES):
            await cycle(world, number)
        after = footprint(tmp_path)
        audit_bytes = BYTES_OF_AN_EVENT * (events_kept(tmp_path) - events_before)
        found = await check_sound(world)
        assert found.documents == tuple(kept.values())
        assert found.rows["matters"] == 1
        assert (await inventory(world)).indexed == 1
    assert after.memory_blocks - before.memory_blocks < LEAK_BLOCKS * CYCLES * DOCUMENTS_IN_A_CYCLE
    assert after.open_files < before.open_files + UNDER_WAY
    assert after.tasks < before.tasks + UNDER_WAY
    assert after.threads <= MOST_THREADS
    assert after.database_bytes <= before.database_bytes * 1.1 + audit_bytes
