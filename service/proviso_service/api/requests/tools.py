"""Requests of ToolService."""

from collections.abc import Iterable, Mapping
from typing import Annotated, Any

from pydantic import Field

from proviso_client.v1 import tools_pb2
from proviso_service.analysis.classification import DEFAULT_MAX_CLAUSES, ClassifyQuery
from proviso_service.analysis.extraction import DEFAULT_MAX_ALTERNATIVES, ExtractQuery
from proviso_service.analysis.model import DEFAULT_MAX_MATCHES, IqlQuery
from proviso_service.api.requests.base import (
    DocumentIds,
    Fraction,
    MatterId,
    MatterIdOrDocumentation,
    OptionalDocumentId,
    OptionalMatterId,
    RequestModel,
    at_most,
    known,
)
from proviso_service.errors import FieldViolation
from proviso_service.iql import ComparisonMode
from proviso_service.matters import (
    DEFAULT_SEMANTIC_WEIGHT,
    DEFAULT_THRESHOLD,
    SearchQuery,
    TextPart,
    conflicting_fields,
)

DEFAULT_RESULTS = 5
DEFAULT_TEXT_LENGTH = 50_000

_COMPARISONS = {
    tools_pb2.IQL_COMPARISON_UNSPECIFIED: None,
    tools_pb2.IQL_COMPARISON_CONTRACT: ComparisonMode.CONTRACT,
    tools_pb2.IQL_COMPARISON_VENDOR: ComparisonMode.VENDOR,
}

IqlText = Annotated[str, Field(max_length=100_000)]
Question = Annotated[str, Field(min_length=1, max_length=2_000)]
ClauseType = Annotated[str, Field(min_length=1, max_length=200)]
MaxResults = Annotated[int, Field(ge=0, le=20)]


class ExecuteIqlRequestModel(RequestModel):
    proto = tools_pb2.ExecuteIqlRequest

    matter_id: MatterId
    query: IqlText
    document_ids: DocumentIds
    model: Annotated[str, Field(max_length=128)]
    min_score: Fraction | None
    comparison: Annotated[ComparisonMode | None, known(_COMPARISONS)]
    max_matches: Annotated[int, Field(ge=0, le=1_000)]
    explain: bool

    def to_domain(self) -> IqlQuery:
        return IqlQuery(
            matter_id=self.matter_id,
            query=self.query,
            document_ids=self.document_ids,
            model=self.model,
            min_score=self.min_score,
            comparison=self.comparison,
            max_matches=self.max_matches or DEFAULT_MAX_MATCHES,
            explain=self.explain,
        )


class StreamIqlRequestModel(RequestModel):
    proto = tools_pb2.StreamIqlRequest

    query: ExecuteIqlRequestModel


class ParseIqlRequestModel(RequestModel):
    proto = tools_pb2.ParseIqlRequest

    query: IqlText
    matter_id: OptionalMatterId


class SearchRequestModel(RequestModel):
    proto = tools_pb2.SearchRequest

    matter_id: MatterId
    query: Question
    max_results: MaxResults
    threshold: Fraction | None
    semantic_weight: Fraction | None
    include_context: bool
    document_ids: DocumentIds

    def to_domain(self) -> SearchQuery:
        return SearchQuery(
            matter_id=self.matter_id,
            query=self.query,
            max_results=self.max_results or DEFAULT_RESULTS,
            threshold=DEFAULT_THRESHOLD if self.threshold is None else self.threshold,
            semantic_weight=DEFAULT_SEMANTIC_WEIGHT if self.semantic_weight is None else self.semantic_weight,
            include_context=self.include_context,
            document_ids=self.document_ids,
        )


class ExtractRequestModel(RequestModel):
    proto = tools_pb2.ExtractRequest

    matter_id: MatterId
    question: Question
    document_ids: DocumentIds
    min_confidence: Fraction | None
    max_alternatives: Annotated[int, Field(ge=0, le=20)] | None

    def to_domain(self) -> ExtractQuery:
        return ExtractQuery(
            matter_id=self.matter_id,
            question=self.question,
            document_ids=self.document_ids,
            min_confidence=self.min_confidence,
            max_alternatives=DEFAULT_MAX_ALTERNATIVES if self.max_alternatives is None else self.max_alternatives,
        )


class ClassifyRequestModel(RequestModel):
    proto = tools_pb2.ClassifyRequest

    matter_id: MatterId
    clause_types: Annotated[tuple[ClauseType, ...], at_most(50)]
    document_ids: DocumentIds
    min_confidence: Fraction | None
    max_clauses: Annotated[int, Field(ge=0, le=1_000)]

    def to_domain(self) -> ClassifyQuery:
        return ClassifyQuery(
            matter_id=self.matter_id,
            clause_types=self.clause_types,
            document_ids=self.document_ids,
            min_confidence=self.min_confidence,
            max_clauses=self.max_clauses or DEFAULT_MAX_CLAUSES,
        )


class ListMatterDocumentsRequestModel(RequestModel):
    proto = tools_pb2.ListMatterDocumentsRequest

    matter_id: MatterId


class GetDocumentTextRequestModel(RequestModel):
    """Where both document_id and filename are given, the id decides."""

    proto = tools_pb2.GetDocumentTextRequest

    matter_id: MatterIdOrDocumentation
    document_id: OptionalDocumentId
    filename: Annotated[str, Field(max_length=255)]
    max_length: Annotated[int, Field(ge=0, le=700_000)]
    start: Annotated[int, Field(ge=0, le=2_147_483_647)]
    page: Annotated[int, Field(ge=0, le=2_147_483_647)]
    heading: Annotated[str, Field(max_length=512)]

    def part(self) -> TextPart:
        return TextPart(self.start, self.page, self.heading, self.max_length or DEFAULT_TEXT_LENGTH)

    @classmethod
    def conflicts(cls, values: Mapping[str, Any]) -> Iterable[FieldViolation]:
        if not values["document_id"] and not values["filename"]:
            yield FieldViolation("document_id", "document_id or filename is required")
        yield from conflicting_fields(values["start"], values["page"], values["heading"])


class RetrieveDocumentationRequestModel(RequestModel):
    proto = tools_pb2.RetrieveDocumentationRequest

    query: Question
    max_results: MaxResults
