"""The questions that are put to contracts, each with the passages that the service's search finds for it."""

import json
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

from evals.data import Data, unquoted
from evals.library import TENANT, Library
from proviso_service.matters.model import SearchQuery
from proviso_service.models import ModelPassage
from proviso_service.reading import Span

MAX_PASSAGES = 40
"""The number of passages that the service reads for an answer."""


NATURAL_QUESTIONS = Path(__file__).with_name("natural_questions.jsonl")
_NATURAL = "natural: "
_NATURAL_WEIGHT = 3.0


@dataclass(frozen=True, slots=True)
class Found:
    """A passage, and the offset at which it starts in its contract."""

    start: int
    passage: ModelPassage


@dataclass(frozen=True, slots=True)
class Asked:
    """A question about a category, put to one contract. `spans` are its marked answers; there are none where nothing is
    marked. `found` has the passages, best first."""

    contract: str
    category: str
    text: str
    spans: tuple[Span, ...]
    found: tuple[Found, ...]
    weight: float = 1.0
    """How much the question counts where weights are fitted."""


async def natural(library: Library) -> list[Asked]:
    """Puts the questions that were written from contracts as people ask them, with the places of their answers, each to
    its contract. Each contract is a category."""
    put = []
    for one in natural_lines():
        contract, text = one["contract"], one["question"]
        if contract not in library.document_ids:
            continue
        spans = tuple(Span(start, end) for start, end in one["evidence"])
        found = await _search(library, contract, text)
        put.append(Asked(contract, f"{_NATURAL}{contract}", text, spans, found, _NATURAL_WEIGHT))
    return put


def natural_lines() -> list[dict[str, Any]]:
    """The natural questions as they are written: `contract`, `question` and `evidence`, pairs of places."""
    return [json.loads(line) for line in NATURAL_QUESTIONS.read_text(encoding="utf-8").splitlines()]


def plain_questions() -> dict[str, tuple[str, str]]:
    """Two questions in everyday words for each category: one to fit on and one to measure with."""
    written = tomllib.loads(resources.files("evals").joinpath("questions.toml").read_text())
    return {category: (first, second) for category, (first, second) in written.items()}


async def asked(data: Data, library: Library, questions: Mapping[str, str]) -> list[Asked]:
    """Puts the question of every category, and the plain one that is fitted on, to every contract, also to those in
    which nothing is marked."""
    marked = {(question.contract, question.category): question.spans for question in data.questions}
    written = plain_questions()
    put = []
    for contract in data.contracts:
        for category, question in questions.items():
            spans = marked.get((contract, category), ())
            for text in (unquoted(question), written[category][0]):
                found = await _search(library, contract, text)
                put.append(Asked(contract, category, text, spans, found))
    return put


async def _search(library: Library, contract: str, text: str) -> tuple[Found, ...]:
    query = SearchQuery(
        library.matter.matter_id,
        text,
        max_results=MAX_PASSAGES,
        threshold=0,
        document_ids=(library.document_ids[contract],),
    )
    outcome = await library.retriever.search(TENANT, query)
    chunks = (hit.stored.chunk for hit in outcome.hits)
    return tuple(Found(chunk.start, ModelPassage(chunk.text, chunk.section_path)) for chunk in chunks)
