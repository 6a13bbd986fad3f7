"""`python -m evals.floor --data DIR [--contracts N] [--cache DIR]` measures what the floor of a search costs: the
recall of questions that contracts answer, and the share of off-topic queries that find something all the same."""

import argparse
import asyncio
import sys
import tempfile
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib import resources
from pathlib import Path
from unittest.mock import patch

import numpy as np

from evals.cache import CachedEmbedder
from evals.data import Data, DataProblem, Question, is_held_out, load
from evals.extraction_data import plain_questions
from evals.figures import DEPTHS, answer
from evals.library import TENANT, Library, library
from proviso_service.embedded import MiniLmEmbedder, ModelNotPrepared
from proviso_service.matters import retrieval
from proviso_service.matters.model import SearchOutcome, SearchQuery
from proviso_service.reading import ReadingLimits, Span

FLOORS = ((0.0, 0.0), (0.25, 0.36), (0.28, 0.36), (0.3, 0.33), (0.3, 0.36), (0.3, 0.42), (0.33, 0.38), (0.4, 0.4))
"""Pairs of the floor and of that for queries of which the matter holds no word; the first is a search without."""


def off_topic() -> Mapping[str, Sequence[str]]:
    """The queries that no contract answers, by their kinds."""
    kinds: Mapping[str, Sequence[str]] = tomllib.loads(resources.files("evals").joinpath("off_topic.toml").read_text())
    return kinds


async def row(books: Library, data: Data) -> list[str]:
    """Of the questions of the categories and of those in everyday words, the recall at 5 and 10; of each kind of
    off-topic queries, the share that finds anything in all contracts. Each for all and for the held-out half."""
    plain = plain_questions()
    everyday = [replace(one, text=text) for one in data.questions for text in plain[one.category]]
    cells: list[str] = []
    for questions in (data.questions, everyday):
        answers = [answer(one, await _spans(books, one)) for one in questions]
        held_out = [one for one in answers if one.question.contract_is_held_out]
        for part in (answers, held_out):
            recall = np.mean([one.recall for one in part], axis=0)
            cells.append(" / ".join(f"{100 * one:.1f}" for one in recall[1:]))
    for queries in off_topic().values():
        found = {text: bool((await _search(books, text)).hits) for text in queries}
        parts = (list(found.values()), [hit for text, hit in found.items() if is_held_out("query", text)])
        cells += (f"{100 * sum(part) / len(part):.0f}" for part in parts)
    return cells


async def _spans(books: Library, question: Question) -> list[Span]:
    outcome = await _search(books, question.text, books.document_ids[question.contract])
    return [Span(hit.stored.chunk.start, hit.stored.chunk.end) for hit in outcome.hits]


async def _search(books: Library, text: str, *documents: str) -> SearchOutcome:
    query = SearchQuery(books.matter.matter_id, text, max(DEPTHS), document_ids=documents)
    return await books.retriever.search(TENANT, query)


async def measure(data: Data, cache: Path, models_dir: Path) -> list[str]:
    """The lines of the table. Raises ModelNotPrepared."""
    model = MiniLmEmbedder.load(models_dir)
    embedder = CachedEmbedder(model, cache / "vectors.sqlite3")
    heads = ["floor", "without words", "categories", "held out", "everyday", "held out"]
    heads += [head for kind in off_topic() for head in (f"{kind}, %", "held out")]
    lines = [f"| {' | '.join(heads)} |", "|---" * len(heads) + "|"]
    try:
        with tempfile.TemporaryDirectory(prefix="proviso-evals-") as folder:
            async with library(data, Path(folder), embedder, ReadingLimits().chunk_chars) as books:
                for floor, without in FLOORS:
                    with patch.multiple(retrieval, FLOOR=floor, FLOOR_OF_UNKNOWN_WORDS=without):
                        cells = [str(floor), str(without), *await row(books, data)]
                    lines.append(f"| {' | '.join(cells)} |")
    finally:
        embedder.close()
        await model.close()
    return lines


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m evals.floor", description="Measures what the floor costs.")
    parser.add_argument("--data", type=Path, required=True, help="folder of contracts, questions and spans")
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
            lines = asyncio.run(measure(load(options.data, options.contracts), cache, options.models_dir))
    except (DataProblem, ModelNotPrepared) as problem:
        print(problem, file=sys.stderr)
        return 1
    print("\n".join(lines))
    return 0


if __name__ == "__main__":
    sys.exit(main())
