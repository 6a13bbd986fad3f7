"""What the service has acknowledged is there after `kill -9`, nothing half, each act with its event in the audit."""

import os
import random
from functools import partial
from pathlib import Path

import pytest

from proviso_service.access import verify
from proviso_service.backends.sql.access import SqlApiKeyStore
from proviso_service.backends.sql.audit import SqlAuditStore
from proviso_service.backends.sql.database import Database
from tests.support.ledger import Client, Ledger, halves, missing
from tests.support.migrated import state_in
from tests.support.running import running_service
from tests.support.served import served

KILLS = 12 * int(os.environ["CHAOS_ROUNDS"]) if "CHAOS_ROUNDS" in os.environ else 2


@pytest.mark.timeout(300 + 30 * KILLS)  # starts the service as often as it is killed
async def test_what_was_acknowledged_outlives_the_process(tmp_path: Path, models_dir: Path) -> None:
    ledger, chance = Ledger(), random.Random(7)  # noqa: S311
    heads: list[str] = []
    database = Database(state_in(tmp_path))
    keys, audit = SqlApiKeyStore(database), SqlAuditStore(database)
    for _ in range(KILLS):
        async with served(tmp_path, models_dir) as service:
            assert await missing(ledger, service, keys) == []
            await Client(ledger, service, keys, chance).work_until(chance.randint(10, 30), service.process.kill)
            await service.kill()
        assert halves(tmp_path / "state.sqlite3") == []
        found = await audit.walk(partial(verify, known_heads=list(heads)))
        assert not found.fault
        heads += found.heads.values()
    async with running_service(tmp_path, models_dir) as restarted:
        assert await missing(ledger, restarted, keys) == []
    assert halves(tmp_path / "state.sqlite3") == []
    await database.close()
    assert ledger.acknowledged >= 10 * KILLS
    assert ledger.matters
    assert ledger.turns
    print(f"counted {KILLS} kills, {ledger.acknowledged} acknowledged acts")
