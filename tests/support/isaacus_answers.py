"""What the stand-in for Isaacus's models answers: plausible scores that follow from words."""

import hashlib
import re
from collections.abc import Sequence
from functools import singledispatch
from typing import Any

from tests.support.isaacus_wire import (
    ClassificationRequest,
    EmbeddingRequest,
    ExtractionRequest,
    Request,
    RerankingRequest,
)
from tests.support.word_classifier import stems

Json = dict[str, Any]

DIMENSIONS = 1_792
_SENTENCE = re.compile(r"[^.\n]*[^.\s][^.\n]*\.?")


def answer_to(request: Request) -> Json:
    """The body of the answer, with its usage."""
    query = getattr(request, "query", "")
    tokens = sum(len(text.split()) for text in (query, *request.texts))
    return _results(request) | {"usage": {"input_tokens": tokens}}


def score(query: str, text: str) -> float:
    """The share of the query's words that the text holds."""
    wanted = stems(query)
    return len(wanted & stems(text)) / max(1, len(wanted))


def embedding(text: str, dimensions: int) -> list[float]:
    """Not of unit length; equal texts have equal ones, and texts that share words are near."""
    vector = [0.0] * dimensions
    for word in stems(text) or {""}:
        vector[int.from_bytes(hashlib.sha256(word.encode()).digest()[:4], "big") % dimensions] += 3.0
    return vector


@singledispatch
def _results(request: Request) -> Json:
    raise NotImplementedError(type(request))


@_results.register
def _(request: ClassificationRequest) -> Json:
    scored = _sorted([{"index": i, "score": score(request.query, text)} for i, text in enumerate(request.texts)])
    return {"classifications": [one | {"chunks": None} for one in scored]}


@_results.register
def _(request: RerankingRequest) -> Json:
    scored = _sorted([{"index": i, "score": score(request.query, text)} for i, text in enumerate(request.texts)])
    return {"results": scored[: request.top_n]}


@_results.register
def _(request: ExtractionRequest) -> Json:
    found = [_extraction(request, index, text) for index, text in enumerate(request.texts)]
    return {"extractions": sorted(found, key=lambda one: -max((a["score"] for a in one["answers"]), default=0.0))}


@_results.register
def _(request: EmbeddingRequest) -> Json:
    dimensions = request.dimensions or DIMENSIONS
    return {
        "embeddings": [
            {"index": index, "embedding": embedding(text, dimensions)} for index, text in enumerate(request.texts)
        ]
    }


def _extraction(request: ExtractionRequest, index: int, text: str) -> Json:
    answers = _sorted(
        [
            {"text": match[0], "start": match.start(), "end": match.end(), "score": score(request.query, match[0])}
            for match in _SENTENCE.finditer(text)
        ]
    )
    inextractability = 1 - max((answer["score"] for answer in answers), default=0.0)
    is_answered = answers and answers[0]["score"] >= inextractability
    kept = answers[: request.top_k] if is_answered or request.ignore_inextractability else []
    return {"index": index, "answers": kept, "inextractability_score": inextractability}


def _sorted(scored: Sequence[Json]) -> list[Json]:
    return sorted(scored, key=lambda one: -one["score"])
