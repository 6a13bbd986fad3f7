"""The clock of the system is set while the service runs: durations are measured by another, and nothing is closed,
refused or put into another order."""

import asyncio
import time
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import pytest
from limits.aio.storage import memory

from proviso_client import AsyncClient
from proviso_client.v1 import chat_pb2, matters_pb2
from proviso_service.access import quotas, verify
from proviso_service.backends.sql.audit import SqlAuditStore
from proviso_service.backends.sql.database import Database, utc_now
from proviso_service.backends.sql.turns import SqlTurnStore
from proviso_service.turns import ExitReason, TurnRecord
from tests.support.running import RunningService, final_of, reason_of, running_service
from tests.support.scripted_model import Step

DAY = timedelta(days=1)
LEASE_S = 0.3


class Clock:
    """The clock of the system, as the service sees it."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.ahead = timedelta()
        # Not that of the whole process: gRPC's client measures its deadlines with it.
        for module in (quotas, memory):
            monkeypatch.setattr(module, "time", SimpleNamespace(time=self.seconds))
        defaults = Database.__init__.__kwdefaults__
        assert defaults is not None
        monkeypatch.setitem(defaults, "now", self.now)

    def now(self) -> datetime:
        return utc_now() + self.ahead

    def seconds(self) -> float:
        return time.time() + self.ahead.total_seconds()


class Looks:
    """Counts how often the service has looked for turns whose lease has run out. `before` is called before it looks,
    when leases were just renewed."""

    before: Callable[[], None] | None = None

    def __init__(self) -> None:
        self._looked = asyncio.Condition()
        self._times = 0

    def patched(self) -> Callable[..., object]:
        take_over = SqlTurnStore.take_over

        async def counted(store: SqlTurnStore, *args: Any, **options: Any) -> Sequence[TurnRecord]:
            if self.before is not None:
                self.before()
            taken = await take_over(store, *args, **options)
            async with self._looked:
                self._times += 1
                self._looked.notify_all()
            return taken

        return counted

    async def again(self, times: int) -> None:
        async with asyncio.timeout(60), self._looked:
            until = self._times + times
            await self._looked.wait_for(lambda: self._times >= until)


@pytest.mark.parametrize("jump", [DAY, -DAY, timedelta(minutes=5)], ids=str)
async def test_a_turn_goes_on_and_has_its_own_time(
    tmp_path: Path, models_dir: Path, monkeypatch: pytest.MonkeyPatch, jump: timedelta
) -> None:
    clock, held, closings = Clock(monkeypatch), asyncio.Event(), Looks()

    def set_clock() -> None:
        clock.ahead += jump

    limits = {"lease_s": LEASE_S, "time_limit_s": 120}
    with patch.object(SqlTurnStore, "take_over", closings.patched()):
        async with running_service(tmp_path, models_dir, Step(["Which", " one?"], hold=held), turns=limits) as service:
            reading = asyncio.create_task(service.ask("Hi", await service.create_matter(memo="# Memo")))
            await closings.again(1)
            closings.before = set_clock
            await closings.again(3)
            assert not reading.done()
            held.set()
            events = await reading
            kept = await service.chat.GetTurn(chat_pb2.GetTurnRequest(turn_id=events[0].turn_id))
    final = final_of(events)
    assert kept.final_state.exit_reason == final.exit_reason
    assert reason_of(final) is ExitReason.COMPLETED
    assert 0 < final.duration.ToTimedelta().total_seconds() < 120


async def test_the_audit_keeps_its_order_and_quotas_let_calls_in(
    tmp_path: Path, models_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = Clock(monkeypatch)
    limits = {"requests_per_minute": 20}
    async with running_service(tmp_path, models_dir, limits=limits) as service:
        made = []
        for jump in (timedelta(), DAY, -2 * DAY, DAY / 2):
            clock.ahead += jump
            made += [await created(service) for _ in range(4)]
        async with AsyncClient(f"127.0.0.1:{service.app.port}") as client:
            events = [event async for event in client.audit_events()]
    acts = [event for event in reversed(events) if event.action == "create"]
    assert [event.resource_id for event in acts] == made
    times = [event.time.ToDatetime() for event in acts]
    assert times != sorted(times)
    database = Database(f"sqlite:///{tmp_path / 'state.sqlite3'}")
    found = await SqlAuditStore(database).walk(verify)
    await database.close()
    assert not found.fault


async def created(service: RunningService) -> str:
    return (await service.matters.CreateMatter(matters_pb2.CreateMatterRequest(name="M"))).matter.matter_id
