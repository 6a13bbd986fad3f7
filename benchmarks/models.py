"""What the embedded models take: texts a second, CPU time and memory, each in a process of its own: `python -m
benchmarks.models NAME MODELS` measures one and prints a line of JSON."""

import json
import os
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from benchmarks.processes import running
from benchmarks.report import MB, Figures, Place, resident_bytes, say, table
from benchmarks.synthetic import passages, vocabulary
from proviso_service.embedded.judge import Judge
from proviso_service.embedded.minilm import THREADS, MiniLmEncoder, runs_of_similar_length
from proviso_service.embedded.prepared import ENGLISH_FOLDER, LANGUAGES_FOLDER, ModelFolder

_TEXTS, _QUICK_TEXTS = 600, 100
_FIRST_TEXTS = 32
_TIMEOUT_S = 300.0


async def measure(place: Place) -> Figures:
    """A row for each model."""
    rows: Figures = []
    for name in MODELS:
        say(f"models: {name}")
        count = str(_QUICK_TEXTS if place.quick else _TEXTS)
        log = place.folder / "model.log"
        async with running(log, "benchmarks.models", name, str(place.models_dir), count) as child:
            rows.append({"model": name, **json.loads(await child.line(_TIMEOUT_S))})
    return rows


def tables(rows: Figures) -> str:
    """The rows as a Markdown table."""
    return table(
        ("model", "passages of 620 characters a second", "CPU ms a passage", "memory MB"),
        [(r["model"], f"{r['a_second']:.0f}", f"{r['cpu_ms']:.1f}", f"{r['memory_mb']:.0f}") for r in rows],
    )


def charts(rows: Figures) -> dict[str, str]:
    """There is nothing to draw."""
    return {}


Read = Callable[[Sequence[str]], object]
"""Has a model read texts."""


def _encoder(models_dir: Path, of: ModelFolder) -> Read:
    encoder = MiniLmEncoder.load(models_dir, THREADS, of)

    def read(texts: Sequence[str]) -> None:
        tokens = [encoder.tokens(text) for text in texts]
        for run in runs_of_similar_length([len(ids) for ids in tokens]):
            encoder.encode([tokens[index] for index in run])

    return read


def _judge(models_dir: Path) -> Read:
    judge = Judge(models_dir, THREADS)
    return lambda texts: judge.logits([("Which party may end the agreement early?", text) for text in texts])


MODELS: dict[str, Callable[[Path], Read]] = {
    "encoder": lambda models_dir: _encoder(models_dir, ENGLISH_FOLDER),
    "encoder of other languages": lambda models_dir: _encoder(models_dir, LANGUAGES_FOLDER),
    "judge": _judge,
}


def _measured(name: str, models_dir: Path, count: int) -> dict[str, Any]:
    """The figures of one model, with what it takes to load it left out of its speed. The memory is what loading it and
    reading adds to a process that has the libraries."""
    texts = passages(_FIRST_TEXTS + count, 1, vocabulary(models_dir)).texts
    _encoder(models_dir, ENGLISH_FOLDER)  # the libraries are loaded, and the memory of this goes
    before = resident_bytes(os.getpid())
    read = MODELS[name](models_dir)
    read(texts[:_FIRST_TEXTS])
    begun, begun_cpu = time.perf_counter(), time.process_time()
    read(texts[_FIRST_TEXTS:])
    elapsed, cpu = time.perf_counter() - begun, time.process_time() - begun_cpu
    memory = resident_bytes(os.getpid()) - before
    return {"a_second": count / elapsed, "cpu_ms": cpu / count * 1e3, "memory_mb": memory / MB}


if __name__ == "__main__":
    print(json.dumps(_measured(sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]))))
