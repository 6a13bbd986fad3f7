"""The data and models from which fitting the classifier starts."""

import argparse
import asyncio
import json
import tempfile
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from evals.cache import CachedEmbedder
from evals.corpus import Corpus, read_corpus
from evals.data import DataProblem, load
from evals.phrasings import phrasings
from proviso_service.embedded import Judge, MiniLmEmbedder
from proviso_service.embedded.minilm import THREADS
from proviso_service.reading import ReadingLimits

FORMAL_CATEGORIES = frozenset(("Document Name", "Parties", "Agreement Date", "Effective Date", "Expiration Date"))
"""Categories that are left out: they are marked wherever the contract is named or dated, which says nothing about
clauses."""


@dataclass(frozen=True, slots=True)
class Inputs:
    """`statements` are by category; `folder` is the folder that the data was read from."""

    folder: Path
    corpus: Corpus
    statements: Mapping[str, Sequence[str]]
    embedder: CachedEmbedder
    judge: Judge


def arguments(program: str, description: str) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog=program, description=description)
    parser.add_argument("--data", type=Path, required=True, help="folder of contracts, questions and spans")
    parser.add_argument("--contracts", type=int, default=1_000, metavar="N", help="contracts to read [all]")
    parser.add_argument("--chunk-chars", type=int, default=ReadingLimits().chunk_chars, help="longest passage")
    parser.add_argument("--cache", type=Path, metavar="DIR", help="keep vectors here for the next run")
    parser.add_argument(
        "--models-dir", type=Path, default=Path(".proviso/models"), help="prepared models [.proviso/models]"
    )
    return parser


@asynccontextmanager
async def opened_inputs(options: argparse.Namespace) -> AsyncIterator[Inputs]:
    """Opens the data and the models. Raises DataProblem and ModelNotPrepared."""
    model = MiniLmEmbedder.load(options.models_dir)
    with tempfile.TemporaryDirectory(prefix="proviso-evals-") as scratch:
        cache: Path = options.cache or Path(scratch)
        await asyncio.to_thread(cache.mkdir, parents=True, exist_ok=True)
        embedder = CachedEmbedder(model, cache / "vectors.sqlite3")
        try:
            corpus = await read_corpus(load(options.data, options.contracts), embedder, options.chunk_chars)
            questions = _questions(options.data)
            statements = {name: phrasings(name, question) for name, question in questions.items()}
            yield Inputs(options.data, corpus, statements, embedder, Judge(options.models_dir, THREADS))
        finally:
            embedder.close()
            await model.close()


def _questions(folder: Path) -> dict[str, str]:
    try:
        found: dict[str, str] = json.loads((folder / "categories.json").read_text())
    except (OSError, ValueError) as error:
        raise DataProblem(f"{folder} cannot be read: {error}") from error
    return {name: question for name, question in found.items() if name not in FORMAL_CATEGORIES}
