from pathlib import Path

import pytest

from proviso_service.cli.discovery import discover
from proviso_service.cli.problems import UsageProblem


def write(folder: Path, *names: str) -> None:
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)


def test_walks_folders_in_order_and_lists_what_it_skips(tmp_path: Path) -> None:
    write(tmp_path, "b.md", "a.TXT", "sub/c.markdown", "sub/d.text", "scan.pdf", "sub/noext")
    found = discover([tmp_path])
    assert [path.relative_to(tmp_path).as_posix() for path in found.files] == [
        *("a.TXT", "b.md"),
        *("sub/c.markdown", "sub/d.text"),
    ]
    assert [path.name for path in found.skipped] == ["scan.pdf", "noext"]


def test_hidden_files_and_folders_are_not_entered(tmp_path: Path) -> None:
    write(tmp_path, ".git/a.md", ".hidden.md", "a.md")
    found = discover([tmp_path])
    assert [path.name for path in found.files] == ["a.md"]
    assert found.skipped == ()


def test_links_to_folders_are_not_followed(tmp_path: Path) -> None:
    write(tmp_path, "a.md")
    (tmp_path / "loop").symlink_to(tmp_path)
    assert len(discover([tmp_path]).files) == 1


def test_a_file_named_twice_is_taken_once(tmp_path: Path) -> None:
    write(tmp_path, "a.md")
    assert discover([tmp_path / "a.md", tmp_path]).files == (tmp_path / "a.md",)


def test_named_file_of_another_type_is_skipped(tmp_path: Path) -> None:
    write(tmp_path, "a.pdf")
    assert discover([tmp_path / "a.pdf"]).skipped == (tmp_path / "a.pdf",)


def test_missing_path_is_a_usage_problem(tmp_path: Path) -> None:
    with pytest.raises(UsageProblem, match=r"no file or folder .*absent"):
        discover([tmp_path / "absent"])
