"""The requests that Isaacus's API takes, with every field and range that it knows; anything else is refused."""

from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

MAX_QUERY_CHARS = 10_000_000


def _not_blank(text: str) -> str:
    if not text.strip():
        raise ValueError("holds no character but white space")
    return text


Text = Annotated[str, AfterValidator(_not_blank)]
Query = Annotated[str, Field(max_length=MAX_QUERY_CHARS), AfterValidator(_not_blank)]
Texts = Annotated[list[Text], Field(min_length=1)]
ScoringMethod = Literal["auto", "chunk_max", "chunk_avg", "chunk_min"]


class Strict(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid")


class ChunkingOptions(Strict):
    size: Annotated[int, Field(ge=1)] | None = None
    overlap_ratio: Annotated[float, Field(ge=0, lt=1)] | None = None
    overlap_tokens: Annotated[int, Field(ge=0)] | None = None

    @model_validator(mode="after")
    def _one_overlap(self) -> "ChunkingOptions":
        if self.overlap_ratio is not None and self.overlap_tokens is not None:
            raise ValueError("both overlaps are set")
        return self


class ClassificationRequest(Strict):
    model: Literal["kanon-universal-classifier"]
    query: Query
    texts: Texts
    is_iql: bool = True
    scoring_method: ScoringMethod = "auto"
    chunking_options: ChunkingOptions | None = ChunkingOptions()


class RerankingRequest(Strict):
    model: Literal["kanon-2-reranker", "kanon-universal-classifier"]
    query: Query
    texts: Texts
    top_n: Annotated[int, Field(ge=1)] | None = None
    is_iql: bool = False
    scoring_method: ScoringMethod = "auto"
    chunking_options: ChunkingOptions | None = ChunkingOptions()


class ExtractionRequest(Strict):
    model: Literal["kanon-answer-extractor"]
    query: Query
    texts: Texts
    ignore_inextractability: bool = False
    top_k: Annotated[int, Field(ge=1)] = 1
    chunking_options: ChunkingOptions | None = ChunkingOptions()


class EmbeddingRequest(Strict):
    model: Literal["kanon-2-embedder"]
    texts: Annotated[list[Text], Field(min_length=1, max_length=128)]
    task: Literal["retrieval/query", "retrieval/document"] | None = None
    overflow_strategy: Literal["drop_end"] | None = "drop_end"
    dimensions: Annotated[int, Field(ge=1, le=1_792)] | None = None


Request = ClassificationRequest | RerankingRequest | ExtractionRequest | EmbeddingRequest

REQUESTS: dict[str, type[Request]] = {
    "/v1/classifications/universal": ClassificationRequest,
    "/v1/rerankings": RerankingRequest,
    "/v1/extractions/qa": ExtractionRequest,
    "/v1/embeddings": EmbeddingRequest,
}
