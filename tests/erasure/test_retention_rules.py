"""Which times a file of retention gives to whom, and what one run asks for and deletes."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from proviso_service.erasure import Retention, UnreadableRetention
from proviso_service.errors import UnderLegalHold

NOW = datetime(2026, 1, 1, tzinfo=UTC)
RULES = """
[default]
conversation_days = 700
turn_days = 30

[tenants.smith]
conversation_days = 7
document_days = 3650

[tenants.jones]
conversation_days = 0
turn_days = 0
"""


class Old:
    """An ExpiryStore with `count` old things of each kind for each tenant, until they are deleted."""

    def __init__(self, count: int) -> None:
        self.left = dict.fromkeys(("acme", "jones", "smith"), count)
        self.asked: list[tuple[str, str, int]] = []
        self.told: list[Sequence[str]] = []
        self.refused = False

    async def tenants(self) -> Sequence[str]:
        return sorted(self.left)

    async def old_sessions(self, tenant: str, before: datetime, limit: int) -> Sequence[tuple[str, str]]:
        self.asked.append((tenant, "sessions", (NOW - before).days))
        return [("ada", "s")] * min(limit, self.left[tenant])

    async def old_documents(self, tenant: str, before: datetime, limit: int) -> Sequence[tuple[str, str]]:
        self.asked.append((tenant, "documents", (NOW - before).days))
        return []

    async def delete_old_turns(self, tenant: str, before: datetime, limit: int) -> Sequence[str]:
        self.asked.append((tenant, "turns", (NOW - before) // timedelta(days=1)))
        return []

    async def delete(self, tenant: str, *_ids: str) -> None:
        if self.refused:
            raise UnderLegalHold("sessions/s")
        self.left[tenant] -= 1


def retention(file: Path, old: Old) -> Retention:
    return Retention(file, old, old.delete, old.delete, old.told.append, lambda: NOW)


async def test_a_tenant_has_the_times_of_all_but_those_of_its_own(tmp_path: Path) -> None:
    file, old = tmp_path / "retention.toml", Old(0)
    file.write_text(RULES)
    await retention(file, old).run()
    assert old.asked == [
        ("acme", "sessions", 700),
        ("acme", "turns", 30),
        ("smith", "sessions", 7),
        ("smith", "documents", 3650),
        ("smith", "turns", 30),
    ]


async def test_everything_old_is_deleted_slice_by_slice(tmp_path: Path) -> None:
    file, old = tmp_path / "retention.toml", Old(250)
    file.write_text(RULES)
    await retention(file, old).run()
    assert old.left == {"acme": 0, "jones": 250, "smith": 0}


async def test_what_cannot_be_deleted_now_is_left_to_the_next_run(tmp_path: Path) -> None:
    file, old = tmp_path / "retention.toml", Old(250)
    file.write_text(RULES)
    old.refused = True
    await retention(file, old).run()
    assert old.left["smith"] == 250
    old.refused = False
    await retention(file, old).run()
    assert old.left["smith"] == 0


async def test_without_a_file_nothing_is_deleted(tmp_path: Path) -> None:
    old = Old(250)
    await retention(tmp_path / "retention.toml", old).run()
    assert not old.asked


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("[default]\nturn_days = -1", "default.turn_days"),
        ("[all]\nturn_days = 1", "all"),
        ("turn_days", "cannot be read"),
    ],
)
async def test_a_damaged_file_is_named_and_deletes_nothing(tmp_path: Path, text: str, named: str) -> None:
    file, old = tmp_path / "retention.toml", Old(250)
    file.write_text(text)
    for use in (retention(file, old).run, retention(file, old).open):
        with pytest.raises(UnreadableRetention, match=named):
            await use()
    assert not old.asked
