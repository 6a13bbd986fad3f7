"""`proviso audit verify` and `proviso audit export` on a state that somebody has written to."""

import asyncio
import json
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path

import pytest

from proviso_service.backends.sql.database import Database
from proviso_service.backends.sql.matters import SqlMatterStore
from tests.cli.scripted_server import Finished
from tests.support.migrated import state_in

Proviso = Callable[..., Finished]
SOUND = "8 events, none changed, removed or put into another order"


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A state with six events of `acme` and two of `other`."""
    folder = tmp_path / "data"
    asyncio.run(_create_matters(state_in(folder)))
    return folder


async def _create_matters(url: str) -> None:
    database = Database(url)
    store = SqlMatterStore(database)
    for tenant in ("acme",) * 6 + ("other",) * 2:
        await store.create_matter(tenant, "Secret")
    await database.close()


def forge(data: Path, *statements: str) -> None:
    """Does what whoever can write the file can do: the triggers are gone first."""
    with closing(sqlite3.connect(data / "state.sqlite3")) as connection, connection:
        for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
            if name.startswith("audit_events"):
                connection.execute(f"DROP TRIGGER {name}")
        for statement in statements:
            connection.execute(statement)


def verified(proviso: Proviso, data: Path, *heads: str) -> Finished:
    return proviso("audit", "verify", "--data-dir", str(data), *(part for head in heads for part in ("--head", head)))


def exported(proviso: Proviso, data: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in proviso("audit", "export", "--data-dir", str(data)).out.splitlines()]


def test_an_audit_that_nobody_touched(proviso: Proviso, data: Path) -> None:
    events = exported(proviso, data)
    assert [(event["tenant"], event["sequence"]) for event in events] == [
        *(("acme", number) for number in range(1, 7)),
        *(("other", number) for number in (1, 2)),
    ]
    heads = [str(event["hash"]) for event in (events[5], events[7])]
    found = verified(proviso, data, *heads)
    assert (found.exit_code, found.err) == (0, "")
    assert found.out.splitlines() == [f"head of acme: {heads[0]}", f"head of other: {heads[1]}", SOUND]


def test_the_heads_of_an_export_are_apart_from_its_events(proviso: Proviso, data: Path) -> None:
    found = proviso("audit", "export", "--data-dir", str(data))
    assert found.exit_code == 0
    assert found.err.splitlines()[-1] == SOUND
    assert found.err.startswith("head of acme: ")
    assert "Secret" not in found.out


SWAPPED = (
    "UPDATE audit_events SET sequence = 100 WHERE tenant = 'acme' AND sequence = 4",
    "UPDATE audit_events SET sequence = 4 WHERE tenant = 'acme' AND sequence = 5",
    "UPDATE audit_events SET sequence = 5 WHERE tenant = 'acme' AND sequence = 100",
)
INSERTED = """
INSERT INTO audit_events SELECT tenant, 7, time, 'mallory', key, method, action, resource, resource_id, matter_id,
    outcome, peer, request_id, hash, hash FROM audit_events WHERE tenant = 'acme' AND sequence = 6
"""


@pytest.mark.parametrize(
    ("statements", "event", "tenant"),
    [
        (["UPDATE audit_events SET user_id = 'mallory' WHERE tenant = 'acme' AND sequence = 3"], 3, "acme"),
        (["UPDATE audit_events SET hash = substr(hash, 2) || 'f' WHERE tenant = 'other' AND sequence = 1"], 1, "other"),
        (["DELETE FROM audit_events WHERE tenant = 'acme' AND sequence = 3"], 4, "acme"),
        (["DELETE FROM audit_events WHERE tenant = 'other' AND sequence = 1"], 2, "other"),
        ([INSERTED], 7, "acme"),
        (["UPDATE audit_events SET tenant = 'acme', sequence = 7 WHERE tenant = 'other' AND sequence = 2"], 7, "acme"),
        (SWAPPED, 4, "acme"),
    ],
)
def test_whatever_is_changed_removed_inserted_or_reordered_is_found(
    proviso: Proviso, data: Path, statements: Sequence[str], event: int, tenant: str
) -> None:
    forge(data, *statements)
    for found in (verified(proviso, data), proviso("audit", "export", "--data-dir", str(data))):
        assert found.exit_code == 1
        assert f"The audit is broken: event {event} of tenant {tenant!r} " in found.err


def test_events_that_were_removed_at_the_end_are_found_by_an_earlier_head_alone(proviso: Proviso, data: Path) -> None:
    head = str(exported(proviso, data)[5]["hash"])
    forge(data, "DELETE FROM audit_events WHERE tenant = 'acme' AND sequence > 4")
    assert verified(proviso, data).exit_code == 0
    found = verified(proviso, data, head)
    assert found.exit_code == 1
    assert f"no event has the hash {head}" in found.err


def test_a_head_of_an_earlier_day_is_an_event_still(proviso: Proviso, data: Path) -> None:
    head = str(exported(proviso, data)[2]["hash"])
    assert verified(proviso, data, head).exit_code == 0
    found = verified(proviso, data, "0" * 64)
    assert found.exit_code == 1


def test_without_a_state_there_is_no_audit(proviso: Proviso, tmp_path: Path) -> None:
    found = proviso("audit", "verify", "--data-dir", str(tmp_path))
    assert (found.exit_code, found.out) == (2, "")
    assert "There is no audit in" in found.err
    assert not (tmp_path / "state.sqlite3").exists()
