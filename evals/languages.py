"""`python -m evals.languages --data DIR` measures how well questions in other languages find the English sentence that
answers them, by vectors alone: 120 natural questions about contracts that no model was tuned on, translated.

What other languages do to documents is measured over gRPC: `proviso evaluate evals/other_languages`."""

import argparse
import asyncio
import json
import sys
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from proviso_service.embedded import MiniLmEmbedder, ModelNotPrepared
from proviso_service.embedded.pieces import pieces_of
from proviso_service.models import Vectors
from proviso_service.reading import ReadingLimits, Span, read_document, readable

QUESTIONS = Path(__file__).parent / "other_languages" / "questions.jsonl"
_ENGLISH = Path(__file__).with_name("natural_questions.jsonl")
_DEPTHS = (1, 3)


@dataclass(frozen=True, slots=True)
class Asked:
    contract: str
    language: str
    text: str
    spans: tuple[Span, ...]


def questions() -> list[Asked]:
    """Returns the questions in all languages, and the English ones that they are translations of."""
    found = [_asked(one, one["language"]) for one in map(json.loads, QUESTIONS.read_text().splitlines())]
    places = {(one.contract, one.spans) for one in found}
    english = [_asked(one, "en") for one in map(json.loads, _ENGLISH.read_text().splitlines())]
    return [*(one for one in english if (one.contract, one.spans) in places), *found]


async def hits(model: MiniLmEmbedder, folder: Path) -> Mapping[str, list[tuple[bool, ...]]]:
    """Returns of each question, by its language, whether a sentence that answers it is the first of its contract, and
    among the first three."""
    found: dict[str, list[tuple[bool, ...]]] = defaultdict(list)
    places: dict[str, Sequence[Span]] = {}
    vectors: dict[str, Vectors] = {}
    for one in questions():
        if one.contract not in places:
            sentences = _sentences(folder / one.contract)
            places[one.contract] = [place for place, _ in sentences]
            vectors[one.contract] = await model.embed_documents([text for _, text in sentences])
        order = np.argsort(-(vectors[one.contract] @ await model.embed_query(one.text)))
        best = [places[one.contract][index] for index in order[: max(_DEPTHS)]]
        right = [any(place.start < span.end and span.start < place.end for span in one.spans) for place in best]
        found[one.language].append(tuple(any(right[:depth]) for depth in _DEPTHS))
    return found


def _asked(line: Mapping[str, Any], language: str) -> Asked:
    return Asked(line["contract"], language, line["question"], tuple(Span(*span) for span in line["evidence"]))


def _sentences(contract: Path) -> list[tuple[Span, str]]:
    return [
        (Span(chunk.start + piece.start, chunk.start + piece.end), readable(piece.text))
        for chunk in read_document("text/plain", contract.read_bytes(), ReadingLimits()).chunks
        for piece in pieces_of(chunk.text)
        if not piece.is_title
    ]


async def _run(data: Path, models_dir: Path) -> None:
    model = MiniLmEmbedder.load(models_dir)
    try:
        found = await hits(model, data / "contracts")
    finally:
        await model.close()
    print("| asked in | questions | first, % | among three, % |\n|---|---|---|---|")
    for language, answered in found.items():
        first, three = (100 * sum(one[depth] for one in answered) / len(answered) for depth in range(len(_DEPTHS)))
        print(f"| {language} | {len(answered)} | {first:.0f} | {three:.0f} |")


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m evals.languages", description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder of CUAD")
    parser.add_argument(
        "--models-dir", type=Path, default=Path(".proviso/models"), help="prepared models [.proviso/models]"
    )
    options = parser.parse_args()
    if not (options.data / "contracts").is_dir():
        print(f"{options.data} has no contracts", file=sys.stderr)
        return 1
    try:
        asyncio.run(_run(options.data, options.models_dir))
    except ModelNotPrepared as problem:
        print(problem, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
