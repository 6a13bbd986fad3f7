"""`python -m evals.fit_extractor --data DIR [--contracts N] [--cache DIR]` writes the weights that the embedded answer
extractor ships."""

import argparse
import asyncio
import json
import sys
import tempfile
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from importlib import resources
from pathlib import Path

from evals.cache import CachedEmbedder
from evals.data import Data, DataProblem, is_fitted, load, part
from evals.extraction_data import Asked, asked, natural
from evals.extraction_fitting import fit_head
from evals.library import library
from proviso_service.embedded import Judge, MiniLmEmbedder, ModelNotPrepared, classifier, extractor
from proviso_service.embedded.classifier.fitted import from_bytes
from proviso_service.embedded.extractor.model import head_to_json
from proviso_service.embedded.minilm import THREADS
from proviso_service.models import Embedder
from proviso_service.reading import ReadingLimits

_TARGET = Path(extractor.__file__).with_name("fitted.json")


async def questions(data: Data, folder: Path, embedder: Embedder) -> list[Asked]:
    """Puts every category's question, a plain one, and the natural questions to the service's search."""
    with tempfile.TemporaryDirectory(prefix="proviso-evals-") as scratch:
        async with library(data, Path(scratch), embedder, ReadingLimits().chunk_chars) as books:
            return [*await asked(data, books, _categories(folder)), *await natural(books)]


def shipped_head(put: Sequence[Asked], judge: Judge) -> bytes:
    """The weights to ship, fitted with the word statistics that are shipped."""
    words = from_bytes(resources.files(classifier).joinpath("fitted.npz").read_bytes()).words
    return head_to_json(fit_head(words, put, judge))


@asynccontextmanager
async def opened(options: argparse.Namespace) -> AsyncIterator[tuple[Embedder, Judge]]:
    """Opens the models. Raises ModelNotPrepared."""
    model = MiniLmEmbedder.load(options.models_dir)
    with tempfile.TemporaryDirectory(prefix="proviso-evals-") as scratch:
        cache: Path = options.cache or Path(scratch)
        await asyncio.to_thread(cache.mkdir, parents=True, exist_ok=True)
        embedder = CachedEmbedder(model, cache / "vectors.sqlite3")
        judge = Judge(options.models_dir, THREADS)
        try:
            yield embedder, judge
        finally:
            embedder.close()
            await model.close()


def _categories(folder: Path) -> dict[str, str]:
    try:
        found: dict[str, str] = json.loads((folder / "categories.json").read_text())
    except (OSError, ValueError) as error:
        raise DataProblem(f"{folder} cannot be read: {error}") from error
    return found


async def _run(options: argparse.Namespace) -> None:
    data = part(load(options.data, options.contracts), is_fitted)
    async with opened(options) as (embedder, judge):
        content = shipped_head(await questions(data, options.data, embedder), judge)
    await asyncio.to_thread(_TARGET.write_bytes, content)
    print(f"{_TARGET}: {len(content):,} bytes")


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m evals.fit_extractor", description="Fits the embedded extractor.")
    parser.add_argument("--data", type=Path, required=True, help="folder of contracts, questions and spans")
    parser.add_argument("--contracts", type=int, default=1_000, metavar="N", help="contracts to read [all]")
    parser.add_argument("--cache", type=Path, metavar="DIR", help="keep vectors here for the next run")
    parser.add_argument(
        "--models-dir", type=Path, default=Path(".proviso/models"), help="prepared models [.proviso/models]"
    )
    try:
        asyncio.run(_run(parser.parse_args()))
    except (DataProblem, ModelNotPrepared) as problem:
        print(problem, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
