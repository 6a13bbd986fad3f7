import random
from pathlib import Path

import pytest

from proviso_service.backends.folder_lock import FolderInUse, StateLock
from proviso_service.backends.sql.integrity import UnusableState, damage_of
from proviso_service.backends.sql.matters import SqlMatterStore
from proviso_service.backends.sql.snapshot import remove_forgotten_snapshot, snapshot_of
from proviso_service.matters.model import Matter
from tests.support.damage import compacted, overwrite_page
from tests.support.stored import ingested

PHRASE = "Periwinkle Antelope Holdings"


def files_beside(state: Path) -> set[str]:
    return {path.name for path in state.parent.iterdir() if "snapshot" in path.name and path.suffix != ".lock"}


async def test_a_snapshot_is_whole_and_is_gone_afterwards(
    matters: SqlMatterStore, matter: Matter, state_file: Path
) -> None:
    await ingested(matters, matter, PHRASE)
    with snapshot_of(state_file) as copy:
        assert damage_of(copy) == ""
        assert PHRASE.encode() in copy.read_bytes()
    assert files_beside(state_file) == set()


async def test_a_text_that_was_deleted_is_not_in_a_snapshot(
    matters: SqlMatterStore, matter: Matter, state_file: Path
) -> None:
    document = await ingested(matters, matter, PHRASE)
    await matters.delete_document("acme", matter.matter_id, document.document_id)
    with snapshot_of(state_file) as copy:
        assert PHRASE.encode() not in copy.read_bytes()


async def test_no_snapshot_is_made_of_a_damaged_state(state_file: Path) -> None:
    compacted(state_file)
    overwrite_page(state_file, 1, random.Random(1))  # noqa: S311
    with pytest.raises(UnusableState, match="is damaged"), snapshot_of(state_file):
        pass
    assert files_beside(state_file) == set()


def test_a_snapshot_that_a_killed_process_has_left_is_removed_and_one_in_use_is_not(state_file: Path) -> None:
    left = state_file.with_name(f"{state_file.name}.snapshot")
    left.write_text("left")
    with StateLock(left):
        remove_forgotten_snapshot(state_file)
        assert files_beside(state_file) == {left.name}
        with pytest.raises(FolderInUse), snapshot_of(state_file):
            pass
    remove_forgotten_snapshot(state_file)
    assert files_beside(state_file) == set()
