import os
import subprocess
import sys
from pathlib import Path

import pytest

from proviso_service.backends.folder_lock import LOCK_FILE, FolderInUse, FolderLock, FolderUnusable, StateLock

HOLDER = """
import sys
from pathlib import Path
from proviso_service.backends.folder_lock import FolderLock

FolderLock(Path(sys.argv[1])).acquire()
print("held", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "deep" / "data"


def test_a_folder_has_one_owner_and_the_refusal_names_it(folder: Path) -> None:
    with FolderLock(folder), pytest.raises(FolderInUse, match=f"in use by process {os.getpid()}") as refusal:
        FolderLock(folder).acquire()
    assert refusal.value.pid == os.getpid()
    assert str(folder) in str(refusal.value)


def test_a_released_folder_can_be_taken_again(folder: Path) -> None:
    for _ in range(2):
        with FolderLock(folder):
            assert (folder / LOCK_FILE).read_text() == str(os.getpid())


def test_releasing_twice_changes_nothing(folder: Path) -> None:
    first = FolderLock(folder)
    first.acquire()
    first.release()
    with FolderLock(folder):
        first.release()
        with pytest.raises(FolderInUse):
            FolderLock(folder).acquire()


def test_a_holder_that_has_not_said_its_id_yet_is_another_process(folder: Path) -> None:
    with FolderLock(folder):
        (folder / LOCK_FILE).write_text("")
        with pytest.raises(FolderInUse, match="in use by another process") as refusal:
            FolderLock(folder).acquire()
    assert refusal.value.pid is None


def test_a_killed_process_holds_nothing(folder: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(folder)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        with pytest.raises(FolderInUse) as refusal:
            FolderLock(folder).acquire()
        assert refusal.value.pid == holder.pid
        holder.kill()
        holder.wait()
        with FolderLock(folder):
            assert (folder / LOCK_FILE).read_text() == str(os.getpid())


def test_a_folder_that_cannot_be_made_is_a_failure_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(FolderUnusable, match="cannot be used: Not a directory"):
        FolderLock(tmp_path / "file" / "data").acquire()
    with pytest.raises(FolderUnusable, match="cannot be used: File exists"):
        FolderLock(tmp_path / "file").acquire()


def test_a_folder_that_cannot_be_written_is_a_failure_of_its_own(folder: Path) -> None:
    (folder / LOCK_FILE).mkdir(parents=True)
    with pytest.raises(FolderUnusable, match="cannot be used: Is a directory"):
        FolderLock(folder).acquire()


def test_only_the_owner_may_look_into_a_new_folder(folder: Path) -> None:
    with FolderLock(folder):
        assert folder.stat().st_mode & 0o077 == 0


def test_a_state_has_one_owner_by_whatever_path_it_is_named(tmp_path: Path) -> None:
    state = tmp_path / "state.sqlite3"
    state.write_bytes(b"")
    (tmp_path / "link").symlink_to(state)
    (tmp_path / "folder").symlink_to(tmp_path)
    with StateLock(state):
        for path in (state, tmp_path / "link", tmp_path / "folder" / "state.sqlite3"):
            with pytest.raises(FolderInUse, match=f"The state {path} is in use by process {os.getpid()}"):
                StateLock(path).acquire()


def test_the_folder_of_a_state_is_not_made(tmp_path: Path) -> None:
    with pytest.raises(FolderUnusable, match="cannot be used: No such file or directory"):
        StateLock(tmp_path / "disk that is not there" / "state.sqlite3").acquire()
    assert list(tmp_path.iterdir()) == []
