"""The prepared models on disk, the sentence encoder and the judge: one folder with a manifest, by which a damaged or
incomplete one is recognised."""

import hashlib
from collections.abc import Mapping
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

FOLDER = "minilm-int8"
MODEL_ID = "proviso-encoder-int8-1"
"""The last number is raised when the same weights give other vectors; stored vectors are then computed again."""
JUDGE_ID = "proviso-judge-int8-2"
"""The last number is raised when the judge judges otherwise."""
DIMENSIONS = 384
MAX_TOKENS = 256

MODEL_FILE = "model.onnx"
JUDGE_FILE = "judge.onnx"
TOKENIZER_FILE = "tokenizer.json"
MANIFEST_FILE = "manifest.json"
NOTICE_FILE = "NOTICE"
FILES = (MODEL_FILE, JUDGE_FILE, TOKENIZER_FILE, "LICENSE", NOTICE_FILE)


class ModelNotPrepared(Exception):
    """The embedding model is absent or damaged; the message says how to prepare it."""

    def __init__(self, folder: Path, problem: str) -> None:
        super().__init__(f"The embedding model in {folder} {problem}; run `proviso prepare`")


class FileRecord(BaseModel):
    model_config = ConfigDict(frozen=True)

    size_bytes: int
    sha256: str


class Manifest(BaseModel):
    """Which models were written, from which versions of which packages, and the size and hash of each file."""

    model_config = ConfigDict(frozen=True)

    model_id: str
    judge_id: str
    sources: Mapping[str, str]
    files: Mapping[str, FileRecord]


def find_prepared(models_dir: Path) -> Path:
    """Returns the model's folder after a check of the manifest and of the sizes of the files. Raises
    ModelNotPrepared."""
    folder = models_dir / FOLDER
    for name, record in _read_manifest(folder).files.items():
        path = folder / name
        if not path.is_file():
            raise ModelNotPrepared(folder, f"lacks {name}")
        if path.stat().st_size != record.size_bytes:
            raise ModelNotPrepared(folder, f"is damaged: {name} has the wrong size")
    return folder


def verify_prepared(models_dir: Path) -> Path:
    """Returns the model's folder after a check of every file by its hash. Raises ModelNotPrepared."""
    folder = find_prepared(models_dir)
    for name, record in _read_manifest(folder).files.items():
        if sha256_of(folder / name) != record.sha256:
            raise ModelNotPrepared(folder, f"is damaged: {name} has changed")
    return folder


def sha256_of(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _read_manifest(folder: Path) -> Manifest:
    try:
        manifest = Manifest.model_validate_json((folder / MANIFEST_FILE).read_bytes())
    except FileNotFoundError:
        raise ModelNotPrepared(folder, "is not prepared") from None
    except (OSError, ValidationError):
        raise ModelNotPrepared(folder, "is damaged: the manifest cannot be read") from None
    if manifest.model_id != MODEL_ID:
        raise ModelNotPrepared(folder, f"is {manifest.model_id!r}, not {MODEL_ID!r}")
    if manifest.judge_id != JUDGE_ID:
        raise ModelNotPrepared(folder, f"has the judge {manifest.judge_id!r}, not {JUDGE_ID!r}")
    if set(manifest.files) != set(FILES):
        raise ModelNotPrepared(folder, "is damaged: the manifest names other files")
    return manifest
