"""`python -m evals.databases --data DIR --state-url URL [--contracts N] [--cache DIR]` compares what search returns
from SQLite with what it returns from a database of PostgreSQL that holds nothing else."""

import argparse
import asyncio
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from evals.cache import CachedEmbedder
from evals.data import Data, DataProblem, Question, load
from evals.figures import DEPTHS
from evals.library import TENANT, Library, library
from proviso_service.embedded import MiniLmEmbedder, ModelNotPrepared
from proviso_service.matters.model import SearchQuery
from proviso_service.models import Embedder
from proviso_service.reading import ReadingLimits

Found = list[tuple[str, int, int, float]]
"""The passages of one search, best first: file, start, end and score."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """How many searches there were, with how many passages, and in how many of them ranks and scores differ."""

    searches: int
    passages: int
    other_ranks: int
    other_scores: int


async def compare(data: Data, state_url: str, cache: Path, models_dir: Path) -> Comparison:
    """Puts each question to its contract, and to all of them. Raises ModelNotPrepared."""
    model = MiniLmEmbedder.load(models_dir)
    embedder = CachedEmbedder(model, cache / "vectors.sqlite3")
    try:
        with tempfile.TemporaryDirectory(prefix="proviso-evals-") as folder:
            here = await _searched(data, Path(folder), embedder)
        there = await _searched(data, state_url, embedder)
    finally:
        embedder.close()
        await model.close()
    ranks = [[[place for *place, _ in found] for found in searches] for searches in (here, there)]
    return Comparison(
        len(here),
        sum(map(len, here)),
        sum(one != other for one, other in zip(*ranks, strict=True)),
        sum(one != other for one, other in zip(here, there, strict=True)),
    )


async def _searched(data: Data, state: Path | str, embedder: Embedder) -> list[Found]:
    async with library(data, state, embedder, ReadingLimits().chunk_chars) as books:
        return [
            await _search(books, question, in_contract) for question in data.questions for in_contract in (True, False)
        ]


async def _search(books: Library, question: Question, in_contract: bool) -> Found:
    documents = (books.document_ids[question.contract],) if in_contract else ()
    query = SearchQuery(books.matter.matter_id, question.text, max_results=max(DEPTHS), document_ids=documents)
    hits = (await books.retriever.search(TENANT, query)).hits
    return [(hit.stored.filename, hit.stored.chunk.start, hit.stored.chunk.end, hit.score) for hit in hits]


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m evals.databases", description="Compares what search returns from SQLite and from PostgreSQL."
    )
    parser.add_argument("--data", type=Path, required=True, help="folder of contracts, questions and spans")
    parser.add_argument("--state-url", required=True, help="an empty database of PostgreSQL")
    parser.add_argument("--contracts", type=int, default=40, metavar="N", help="contracts to search in [40]")
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
            found = asyncio.run(compare(data, options.state_url, cache, options.models_dir))
    except (DataProblem, ModelNotPrepared) as problem:
        print(problem, file=sys.stderr)
        return 1
    print(
        f"{found.searches} searches, {found.passages} passages: ranks differ in {found.other_ranks} searches, "
        f"scores in {found.other_scores}"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
