"""A state that is damaged, newer, foreign or in use is refused by `proviso serve` in one line, and named by the
doctor."""

import asyncio
import os
import random
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from proviso_service.cli.doctor import Level, examine
from tests.support.damage import compacted, overwrite_page
from tests.support.migrated import state_in
from tests.support.running import AGREEMENT, running_service
from tests.support.served import proviso, served

DAMAGED_PAGES = 20 * int(os.environ.get("CHAOS_ROUNDS", "1"))


async def refusal(data_dir: Path, models_dir: Path, **settings: str) -> str:
    """The one line by which `proviso serve` ends."""
    code, out, err = await proviso("serve", "--port", 0, "--data-dir", data_dir, "--models-dir", models_dir, **settings)
    assert (code, out, err.count("\n")) == (2, "", 1), err
    return err


async def state_finding(data_dir: Path, models_dir: Path) -> tuple[Level, str]:
    """What the doctor says about the state."""
    findings = {finding.subject: finding for finding in await examine(data_dir, models_dir)}
    return findings["State database"].level, findings["State database"].message


@pytest.fixture
async def used_state(tmp_path: Path, models_dir: Path) -> Path:
    """The state of a service that has read a document and answered, in one file without free pages."""
    async with running_service(tmp_path / "used", models_dir) as service:
        text = "\n\n".join(AGREEMENT.replace("Agreement", f"Agreement {number}") for number in range(20))
        await service.ask("Which law governs?", await service.create_matter(agreement=text), session_id="s")
    compacted(tmp_path / "used" / "state.sqlite3")
    return tmp_path / "used" / "state.sqlite3"


async def test_each_of_many_random_damaged_pages_is_found(used_state: Path, tmp_path: Path, models_dir: Path) -> None:
    chance = random.Random(18)  # noqa: S311
    pages = [1, *chance.choices(range(2, compacted(used_state) + 1), k=DAMAGED_PAGES - 1)]
    data_dir = tmp_path / "damaged"
    data_dir.mkdir()
    for number in pages:
        shutil.copy(used_state, data_dir / "state.sqlite3")
        overwrite_page(data_dir / "state.sqlite3", number, chance)
        level, found = await state_finding(data_dir, models_dir)
        assert (level, "is damaged: " in found) == (Level.FAIL, True), (number, found)
    shutil.copy(used_state, data_dir / "state.sqlite3")
    assert (await state_finding(data_dir, models_dir))[0] is Level.OK


@pytest.mark.parametrize("number", [1, 2])
async def test_a_damaged_page_ends_the_start_in_one_line(
    used_state: Path, tmp_path: Path, models_dir: Path, number: int
) -> None:
    overwrite_page(used_state, number, random.Random(1))  # noqa: S311
    line = await refusal(used_state.parent, models_dir)
    assert f"The state {used_state} is damaged" in line
    assert "restore it from a backup" in line


async def test_a_state_of_a_newer_version_is_refused_in_one_line(tmp_path: Path, models_dir: Path) -> None:
    state_in(tmp_path)
    with closing(sqlite3.connect(tmp_path / "state.sqlite3")) as connection, connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
    assert "newer version" in await refusal(tmp_path, models_dir)


async def test_a_database_of_another_program_is_refused_in_one_line(tmp_path: Path, models_dir: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "state.sqlite3")) as connection, connection:
        connection.execute("CREATE TABLE moz_places (id INTEGER)")
    assert "belongs to another program" in await refusal(tmp_path, models_dir)
    level, found = await state_finding(tmp_path, models_dir)
    assert (level, "belongs to another program" in found) == (Level.FAIL, True)


async def test_a_url_of_another_database_is_refused_in_one_line_without_its_password(
    tmp_path: Path, models_dir: Path
) -> None:
    line = await refusal(tmp_path / "data", models_dir, STORAGE__STATE_URL="mysql://proviso:geheim@db/state")
    assert "is not supported: use sqlite:///path/to/file or postgresql://" in line
    assert "geheim" not in line
    assert not (tmp_path / "data").exists()


async def test_a_server_that_does_not_answer_is_named_in_one_line_without_the_password(
    tmp_path: Path, models_dir: Path
) -> None:
    url = "postgresql://proviso:geheim@127.0.0.1:9/state"
    line = await refusal(tmp_path / "data", models_dir, STORAGE__STATE_URL=url)
    assert "PostgreSQL at 127.0.0.1:9/state cannot be used: " in line
    assert "geheim" not in line


async def test_two_services_cannot_share_a_state_from_folders_of_their_own(tmp_path: Path, models_dir: Path) -> None:
    state_in(tmp_path)
    (tmp_path / "link.sqlite3").symlink_to(tmp_path / "state.sqlite3")
    async with served(
        tmp_path / "one", models_dir, STORAGE__STATE_URL=f"sqlite:///{tmp_path / 'state.sqlite3'}"
    ) as first:
        lines = await asyncio.gather(
            *(
                refusal(tmp_path / "two" / name, models_dir, STORAGE__STATE_URL=f"sqlite:///{tmp_path / name}")
                for name in ("state.sqlite3", "link.sqlite3")
            )
        )
        assert all(f"is in use by process {first.process.pid}" in line for line in lines)
