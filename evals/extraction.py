"""`python -m evals.extraction --data DIR [--contracts N] [--json FILE] [--cache DIR]`

Fits the extractor on one half of the contracts and one half of the categories at a time, and measures it on the other
half of the contracts, with the categories that it was fitted on and with those that it was not.
"""

import argparse
import asyncio
import json
import sys
import tempfile
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from evals.cache import CachedEmbedder
from evals.corpus import read_corpus
from evals.data import Data, DataProblem, is_held_out, is_untuned, load, untuned
from evals.extraction_data import Asked, asked, natural, natural_contracts
from evals.extraction_figures import DEPTHS, Judgement, as_dict, by_category, judged, report
from evals.extraction_fitting import fit_head
from evals.extraction_ways import by_extractor, by_meaning, by_search, by_words, whole_sentences
from evals.fitting import word_statistics
from evals.library import library
from proviso_service.embedded import EmbeddedExtractor, Judge, MiniLmEmbedder, ModelNotPrepared
from proviso_service.embedded.classifier.fitted import WordStatistics
from proviso_service.embedded.classifier.words import Stemmer
from proviso_service.embedded.extractor.answers import AnswerFinder
from proviso_service.embedded.minilm import THREADS
from proviso_service.models import Embedder
from proviso_service.reading import ReadingLimits

EXTRACTOR, SENTENCES = "extractor", "its sentences"
FIRST_HIT, BM25, COSINE = "first sentence of the first passage", "best sentence by BM25", "best sentence by cosine"


@dataclass(frozen=True, slots=True)
class Questions:
    """`fitted` questions are put to one half of the contracts, `measured` ones to the other, and the `natural` ones to
    contracts of their own; `words` are the word statistics of the first half."""

    texts: Mapping[str, str]
    words: WordStatistics
    fitted: Sequence[Asked]
    measured: Sequence[Asked]
    natural: Sequence[Asked]


async def questions(
    data: Data, folder: Path, embedder: Embedder, categories: Mapping[str, str], natural_ones: Mapping[str, Path]
) -> Questions:
    """Puts the questions to the service's search."""
    chunk_chars = ReadingLimits().chunk_chars
    corpus = await read_corpus(data, embedder, chunk_chars)
    words = word_statistics(corpus.part(~corpus.held_out()), Stemmer())
    (folder / "natural").mkdir()
    async with library(Data(dict(natural_ones), ()), folder / "natural", embedder, chunk_chars) as books:
        asked_naturally = await natural(books) if natural_ones else []
    async with library(data, folder, embedder, chunk_chars) as books:
        return Questions(
            {name: path.read_text() for name, path in {**natural_ones, **data.contracts}.items()},
            words,
            await asked(data, books, categories, lambda name: not is_held_out("contract", name), 0),
            await asked(data, books, categories, lambda name: is_held_out("contract", name), 1),
            asked_naturally,
        )


async def measure(put: Questions, embedder: Embedder, judge: Judge) -> dict[str, dict[str, list[Judgement]]]:
    """The agreement by slice of the questions and by way of answering."""
    halves = {
        half: [*(one for one in put.fitted if one.category_is_held_out is half), *_of_half(put.natural, True)]
        for half in (False, True)
    }
    finders = {half: AnswerFinder(put.words, fit_head(put.words, of, judge)) for half, of in halves.items()}
    extractors = {half: EmbeddedExtractor(partial(_same, finder), judge, "") for half, finder in finders.items()}
    found: dict[str, dict[str, list[Judgement]]] = {}
    for one in [*put.measured, *_of_half(put.natural, False)]:
        pieces = finders[False].judge(one.text, [found.passage for found in one.found])
        baselines = {
            FIRST_HIT: by_search(one, pieces),
            BM25: by_words(one, pieces),
            COSINE: await by_meaning(one, pieces, embedder),
        }
        for half, extractor in extractors.items():
            given = await by_extractor(extractor, one)
            ways = {EXTRACTOR: given, SENTENCES: whole_sentences(one, pieces, given[: max(DEPTHS)])} | baselines
            slice_ = found.setdefault(_slice(one, half), {})
            for way, answers in ways.items():
                slice_.setdefault(way, []).append(judged(one, put.texts[one.contract], answers))
    for extractor in extractors.values():
        await extractor.close()
    return dict(sorted(found.items()))


def _same(finder: AnswerFinder) -> AnswerFinder:
    return finder


def _of_half(put: Sequence[Asked], fitted: bool) -> list[Asked]:
    return [one for one in put if one.contract_is_held_out is not fitted]


def _slice(put: Asked, fitted_half: bool) -> str:
    if put.is_natural:
        return "Natural questions" if fitted_half else "Natural questions, the other fitted half"
    kind = "Fitted" if put.category_is_held_out is fitted_half else "Held-out"
    return f"{kind} categories, {'plain questions' if put.is_plain else 'their own questions'}"


def arguments(program: str, description: str) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog=program, description=description)
    parser.add_argument("--data", type=Path, required=True, help="folder of contracts, questions and spans")
    parser.add_argument(
        "--contracts", type=int, default=1_000, metavar="N", help="contracts that no model was tuned on to read [all]"
    )
    parser.add_argument("--cache", type=Path, metavar="DIR", help="keep vectors here for the next run")
    parser.add_argument(
        "--models-dir", type=Path, default=Path(".proviso/models"), help="prepared models [.proviso/models]"
    )
    return parser


@asynccontextmanager
async def opened(options: argparse.Namespace) -> AsyncIterator[tuple[Questions, Embedder, Judge]]:
    """Opens the data and the models. Raises DataProblem and ModelNotPrepared."""
    data, categories = untuned(load(options.data, 1_000), options.contracts), _categories(options.data)
    model = MiniLmEmbedder.load(options.models_dir)
    with tempfile.TemporaryDirectory(prefix="proviso-evals-") as scratch:
        cache: Path = options.cache or Path(scratch)
        await asyncio.to_thread(cache.mkdir, parents=True, exist_ok=True)
        embedder = CachedEmbedder(model, cache / "vectors.sqlite3")
        try:
            of_natural = {name: path for name, path in natural_contracts(options.data).items() if is_untuned(name)}
            judge = Judge(options.models_dir, THREADS)
            yield await questions(data, Path(scratch), embedder, categories, of_natural), embedder, judge
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
    async with opened(options) as (put, embedder, judge):
        slices = await measure(put, embedder, judge)
    for name, ways in slices.items():
        print("\n".join((*report(name, ways), *by_category(ways))))
    if options.json:
        content = {name: {way: as_dict(found) for way, found in ways.items()} for name, ways in slices.items()}
        await asyncio.to_thread(options.json.write_text, json.dumps(content, indent=1))


def main() -> int:
    parser = arguments("python -m evals.extraction", "Measures the embedded answer extractor.")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures to this file too")
    try:
        asyncio.run(_run(parser.parse_args()))
    except (DataProblem, ModelNotPrepared) as problem:
        print(problem, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
