import asyncio
import random
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import structlog
from hypothesis import given
from hypothesis import strategies as st

from proviso_service.backends import storage
from proviso_service.backends.storage import NIGHT_HOUR, StorageKeeper, next_night
from proviso_service.backends.storage_health import StorageFault, StorageHealth
from proviso_service.retrying import Backoff
from tests.support.damage import compacted, overwrite_page
from tests.support.matters_world import TENANT, MattersWorld, matters_world
from tests.support.word_embedder import WordEmbedder


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[MattersWorld]:
    async with matters_world(tmp_path, WordEmbedder()) as world, world.running():
        await world.ingest(await world.matter(), {f"{number}.md": f"Clause {number}." for number in range(3)})
        yield world


@pytest.fixture
def health(tmp_path: Path) -> StorageHealth:
    return StorageHealth.beside(tmp_path / "state.sqlite3")


@pytest.fixture
def keeper(world: MattersWorld, health: StorageHealth) -> StorageKeeper:
    state = world.folder / "state.sqlite3"
    return StorageKeeper(state, world.database, world.store, world.blobs, health)


def errors_of(logged: Any) -> list[dict[str, Any]]:
    return [line for line in logged if line["log_level"] == "error"]


async def test_a_check_of_sound_storage_finds_nothing(keeper: StorageKeeper, health: StorageHealth) -> None:
    with structlog.testing.capture_logs() as logged:
        await keeper.check()
    assert [(line["event"], line["originals"]) for line in logged] == [("storage_checked", 3)]
    assert health.faults == set()


async def test_lost_originals_are_told_in_one_line(keeper: StorageKeeper, world: MattersWorld) -> None:
    first, second, _ = sorted((world.folder / "blobs" / TENANT).iterdir())
    first.unlink()
    second.write_bytes(second.read_bytes()[:-1])
    with structlog.testing.capture_logs() as logged:
        await keeper.check()
    (line,) = errors_of(logged)
    assert (line["event"], line["damaged"], line["checked"]) == ("originals_damaged", 2, 3)
    assert line["first"] == {first.name: "missing", second.name: "cut short"}


async def test_damage_of_the_state_is_a_fault_that_is_told_once(
    keeper: StorageKeeper, world: MattersWorld, health: StorageHealth
) -> None:
    state = world.folder / "state.sqlite3"
    compacted(state)
    sound = state.read_bytes()
    overwrite_page(state, 3, random.Random(3))  # noqa: S311
    with structlog.testing.capture_logs() as logged:
        await keeper.check()
        await keeper.check()
    assert [line["event"] for line in errors_of(logged)] == ["storage_damaged"]
    assert health.faults == {StorageFault.DAMAGED}
    state.write_bytes(sound)


def watching(keeper: StorageKeeper, told: "asyncio.Queue[bool]") -> AbstractAsyncContextManager[None]:
    return keeper.keeping(told.put)


async def test_a_fault_is_over_when_the_storage_can_be_written_again(
    keeper: StorageKeeper, health: StorageHealth, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(storage, "PROBES", Backoff(0.001, 0.001))
    told: asyncio.Queue[bool] = asyncio.Queue()
    async with watching(keeper, told):
        assert await told.get()
        for fault in StorageFault:
            health.found(fault)
        async with asyncio.timeout(30):
            while not await told.get():
                pass
    assert health.faults == set()


async def test_what_is_reserved_is_given_back_at_the_end(keeper: StorageKeeper, world: MattersWorld) -> None:
    told: asyncio.Queue[bool] = asyncio.Queue()
    async with watching(keeper, told):
        assert (world.folder / "state.sqlite3.reserve").stat().st_blocks * 512 >= 32 * 1024 * 1024
    assert not (world.folder / "state.sqlite3.reserve").exists()


async def test_the_checks_run_when_the_clock_comes_to_the_hour(
    keeper: StorageKeeper, monkeypatch: pytest.MonkeyPatch
) -> None:
    checked = asyncio.Event()
    now = datetime(2026, 1, 1, NIGHT_HOUR, tzinfo=UTC) - timedelta(seconds=2)

    def ticking() -> datetime:
        nonlocal now
        now += timedelta(seconds=1)
        return now

    async def check(_: StorageKeeper) -> None:
        checked.set()

    monkeypatch.setattr(storage, "_now", ticking)
    monkeypatch.setattr(storage, "LONGEST_SLEEP_S", 0.001)
    monkeypatch.setattr(StorageKeeper, "check", check)
    async with watching(keeper, asyncio.Queue()), asyncio.timeout(30):
        await checked.wait()


@given(st.datetimes(timezones=st.just(UTC), max_value=datetime(9000, 1, 1)))  # noqa: DTZ001 - hypothesis wants it so
def test_the_next_night_is_within_a_day_and_at_its_hour(now: datetime) -> None:
    night = next_night(now)
    assert timedelta() < night - now <= timedelta(days=1)
    assert (night.hour, night.minute, night.second) == (NIGHT_HOUR, 0, 0)
