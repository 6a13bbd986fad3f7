from pathlib import Path

import pytest

from proviso_service.cli.discovery import discover, discover_matters
from proviso_service.cli.output import UsageProblem


def write(folder: Path, *names: str) -> None:
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)


def test_walks_folders_in_order_and_lists_what_it_skips(tmp_path: Path) -> None:
    write(tmp_path, "b.md", "a.TXT", "sub/c.markdown", "sub/d.text", "photo.png", "sub/noext")
    found = discover([tmp_path], "M")
    assert [path.relative_to(tmp_path).as_posix() for path in found.all_files] == [
        *("a.TXT", "b.md"),
        *("sub/c.markdown", "sub/d.text"),
    ]
    assert [path.name for path in found.skipped] == ["photo.png", "noext"]


def test_hidden_files_and_folders_are_not_entered(tmp_path: Path) -> None:
    write(tmp_path, ".git/a.md", ".hidden.md", "a.md")
    found = discover([tmp_path], "M")
    assert [path.name for path in found.all_files] == ["a.md"]
    assert found.skipped == ()


def test_links_to_folders_are_not_followed(tmp_path: Path) -> None:
    write(tmp_path, "a.md")
    (tmp_path / "loop").symlink_to(tmp_path)
    assert len(discover([tmp_path], "M").all_files) == 1


def test_a_file_named_twice_is_taken_once(tmp_path: Path) -> None:
    write(tmp_path, "a.md")
    assert discover([tmp_path / "a.md", tmp_path], "M").all_files == (tmp_path / "a.md",)


def test_named_file_of_another_type_is_skipped(tmp_path: Path) -> None:
    write(tmp_path, "a.doc")
    assert discover([tmp_path / "a.doc"], "M").skipped == (tmp_path / "a.doc",)


def test_missing_path_is_a_usage_problem(tmp_path: Path) -> None:
    with pytest.raises(UsageProblem, match=r"no file or folder .*absent"):
        discover([tmp_path / "absent"], "M")


def test_each_sub_folder_is_a_matter(tmp_path: Path) -> None:
    write(tmp_path, "one/Smith/a.md", "one/Smith/deep/b.md", "one/Jones/c.PDF", "one/loose.md", "two/Smith/d.docx")
    found = discover_matters([tmp_path / "one", tmp_path / "two"])
    files = {matter: [path.relative_to(tmp_path).as_posix() for path in paths] for matter, paths in found.files.items()}
    assert files == {
        "Jones": ["one/Jones/c.PDF"],
        "Smith": ["one/Smith/a.md", "one/Smith/deep/b.md", "two/Smith/d.docx"],
    }
    assert [path.name for path in found.skipped] == ["loose.md"]


def test_matters_are_sought_in_folders_only(tmp_path: Path) -> None:
    write(tmp_path, "a.md")
    with pytest.raises(UsageProblem, match="must be a folder"):
        discover_matters([tmp_path / "a.md"])
