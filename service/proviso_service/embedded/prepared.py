"""The prepared models on disk, each folder with a manifest, by which a damaged or incomplete one is recognised: the
sentence encoder and the judge in one, and in another, which may be left out, the encoder of other languages."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

MODEL_ID = "proviso-encoder-int8-4"
"""The last number is raised when the same weights give other vectors; stored vectors are then computed again."""
JUDGE_ID = "proviso-judge-int8-5"
"""The last number is raised when the judge judges otherwise."""
LANGUAGES_ID = "proviso-languages-int8-4"
"""As MODEL_ID, of the encoder of other languages, whose vectors are of the same space."""
DIMENSIONS = 384
MAX_TOKENS = 256

MODEL_FILE = "model.onnx"
JUDGE_FILE = "judge.onnx"
TOKENIZER_FILE = "tokenizer.json"
MANIFEST_FILE = "manifest.json"
NOTICE_FILE = "NOTICE"


@dataclass(frozen=True, slots=True)
class ModelFolder:
    """A folder of prepared models: its name, the ids of the encoder and of the judge, if it has one, and its files."""

    name: str
    model_id: str
    judge_id: str
    files: tuple[str, ...]


ENGLISH_FOLDER = ModelFolder(
    "minilm-int8", MODEL_ID, JUDGE_ID, (MODEL_FILE, JUDGE_FILE, TOKENIZER_FILE, "LICENSE", NOTICE_FILE)
)
LANGUAGES_FOLDER = ModelFolder("e5-int8", LANGUAGES_ID, "", (MODEL_FILE, TOKENIZER_FILE, NOTICE_FILE))


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


def find_prepared(models_dir: Path, of: ModelFolder = ENGLISH_FOLDER) -> Path:
    """Returns the folder after a check of the manifest and of the sizes of the files. Raises ModelNotPrepared."""
    folder = models_dir / of.name
    for name, record in _read_manifest(folder, of).files.items():
        path = folder / name
        if not path.is_file():
            raise ModelNotPrepared(folder, f"lacks {name}")
        if path.stat().st_size != record.size_bytes:
            raise ModelNotPrepared(folder, f"is damaged: {name} has the wrong size")
    return folder


def verify_prepared(models_dir: Path, of: ModelFolder = ENGLISH_FOLDER) -> Path:
    """Returns the folder after a check of every file by its hash. Raises ModelNotPrepared."""
    folder = find_prepared(models_dir, of)
    for name, record in _read_manifest(folder, of).files.items():
        if sha256_of(folder / name) != record.sha256:
            raise ModelNotPrepared(folder, f"is damaged: {name} has changed")
    return folder


def has_languages(models_dir: Path) -> bool:
    """Tells whether the encoder of other languages is prepared."""
    return (models_dir / LANGUAGES_FOLDER.name).is_dir()


def encoder_id(*, with_languages: bool) -> str:
    """Returns the id of the vectors of the encoders, with the one of other languages or without."""
    return f"{MODEL_ID}+{LANGUAGES_ID}" if with_languages else MODEL_ID


def sha256_of(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _read_manifest(folder: Path, of: ModelFolder) -> Manifest:
    try:
        manifest = Manifest.model_validate_json((folder / MANIFEST_FILE).read_bytes())
    except FileNotFoundError:
        raise ModelNotPrepared(folder, "is not prepared") from None
    except (OSError, ValidationError):
        raise ModelNotPrepared(folder, "is damaged: the manifest cannot be read") from None
    if manifest.model_id != of.model_id:
        raise ModelNotPrepared(folder, f"is {manifest.model_id!r}, not {of.model_id!r}")
    if manifest.judge_id != of.judge_id:
        raise ModelNotPrepared(folder, f"has the judge {manifest.judge_id!r}, not {of.judge_id!r}")
    if set(manifest.files) != set(of.files):
        raise ModelNotPrepared(folder, "is damaged: the manifest names other files")
    return manifest
