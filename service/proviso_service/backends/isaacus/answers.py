"""The API's answers, as far as they are used, and their checks: a malformed answer is never a result."""

from collections.abc import Sequence
from typing import Annotated, Protocol, TypeVar

from pydantic import BaseModel, ConfigDict, Field

from proviso_service.backends.isaacus.failures import unreadable_answer

Fraction = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
Count = Annotated[int, Field(ge=0)]


class _Part(BaseModel):
    model_config = ConfigDict(strict=True, frozen=True)


class Usage(_Part):
    input_tokens: Count


class Answer(_Part):
    usage: Usage


class Scored(_Part):
    index: Count
    score: Fraction


class Classifications(Answer):
    """Of POST /classifications/universal."""

    classifications: tuple[Scored, ...]


class Rerankings(Answer):
    """Of POST /rerankings."""

    results: tuple[Scored, ...]


class Embedding(_Part):
    index: Count
    embedding: list[float]


class Embeddings(Answer):
    """Of POST /embeddings."""

    embeddings: tuple[Embedding, ...]


class Span(_Part):
    text: str
    start: Count
    end: Count
    score: Fraction


class Extraction(_Part):
    index: Count
    answers: tuple[Span, ...]
    inextractability_score: Fraction


class Extractions(Answer):
    """Of POST /extractions/qa."""

    extractions: tuple[Extraction, ...]


class _Indexed(Protocol):
    @property
    def index(self) -> int: ...


T = TypeVar("T", bound=_Indexed)


def by_index(results: Sequence[T], count: int) -> list[T]:
    """The results in the order of the texts, of which each has one. Raises ModelApiUnavailable."""
    ordered = sorted(results, key=lambda result: result.index)
    if [result.index for result in ordered] != list(range(count)):
        raise unreadable_answer("it has not one result for each text")
    return ordered
