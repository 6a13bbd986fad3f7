"""`python -m evals --data DIR [--contracts N] [--json FILE] [--cache DIR]` measures the recall of search."""

import argparse
import asyncio
import sys
import tempfile
from pathlib import Path

from evals.cache import CachedEmbedder
from evals.data import Data, DataProblem, load
from evals.figures import answer
from evals.library import library
from evals.rankings import RANKINGS
from evals.report import Report
from proviso_service.embedded import MiniLmEmbedder, ModelNotPrepared
from proviso_service.reading import ReadingLimits


async def measure(data: Data, cache: Path, models_dir: Path, chunk_chars: int) -> Report:
    """The answers of every ranking to every question. Raises ModelNotPrepared."""
    model = MiniLmEmbedder.load(models_dir)
    embedder = CachedEmbedder(model, cache / "vectors.sqlite3")
    try:
        with tempfile.TemporaryDirectory(prefix="proviso-evals-") as folder:
            async with library(data, Path(folder), embedder, chunk_chars) as books:
                answers = {
                    ranking.name: [answer(question, await ranking.rank(books, question)) for question in data.questions]
                    for ranking in RANKINGS
                }
                return Report(len(data.contracts), books.chunk_count, chunk_chars, answers)
    finally:
        embedder.close()
        await model.close()


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m evals", description="Measures how well search finds what is marked."
    )
    parser.add_argument("--data", type=Path, required=True, help="folder of contracts, questions and spans")
    parser.add_argument("--contracts", type=int, default=40, metavar="N", help="contracts to search in [40]")
    parser.add_argument("--chunk-chars", type=int, default=ReadingLimits().chunk_chars, help="longest passage")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures to this file too")
    parser.add_argument("--cache", type=Path, metavar="DIR", help="keep vectors here for the next run")
    parser.add_argument(
        "--models-dir", type=Path, default=Path(".proviso/models"), help="prepared models [.proviso/models]"
    )
    options = parser.parse_args()
    try:
        with tempfile.TemporaryDirectory(prefix="proviso-evals-") as scratch:
            cache = options.cache or Path(scratch)
            cache.mkdir(parents=True, exist_ok=True)
            data = load(options.data, options.contracts)
            report = asyncio.run(measure(data, cache, options.models_dir, options.chunk_chars))
    except (DataProblem, ModelNotPrepared) as problem:
        print(problem, file=sys.stderr)
        return 1
    print(report.text())
    if options.json:
        options.json.write_text(report.json())
    return 0


if __name__ == "__main__":
    sys.exit(main())
