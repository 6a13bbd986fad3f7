# ruff: noqa: N802  methods have the names of the contract
"""ToolService: the tools of the agent, called directly."""

import asyncio
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import aclosing, asynccontextmanager
from typing import Annotated, Any, Protocol, TypeVar

from pydantic import Field

from proviso_client.v1 import tools_pb2 as pb
from proviso_client.v1.tools_pb2_grpc import ToolServiceServicer
from proviso_service.admission import Admission
from proviso_service.analysis.classification import DEFAULT_MAX_CLAUSES, Classification, ClassifyQuery
from proviso_service.analysis.extraction import DEFAULT_MAX_ALTERNATIVES, Extraction, ExtractQuery
from proviso_service.analysis.model import DEFAULT_MAX_MATCHES, IqlQuery
from proviso_service.analysis.service import IqlAnalysis
from proviso_service.api.convert.analysis import classify_response, extract_response
from proviso_service.api.convert.iql import iql_progress, iql_response, iql_templates_response, parse_iql_response
from proviso_service.api.convert.matters import document_text, matter_documents
from proviso_service.api.convert.search import documentation_response, search_response
from proviso_service.api.request_models import (
    Context,
    DocumentId,
    DocumentIds,
    Fraction,
    Identify,
    MatterId,
    MatterIdOrDocumentation,
    OptionalMatterId,
    PagedRequest,
    RequestModel,
    acting_caller,
    at_most,
    known,
    parse,
)
from proviso_service.errors import FieldViolation
from proviso_service.iql import ComparisonMode
from proviso_service.matters import (
    DEFAULT_SEMANTIC_WEIGHT,
    DEFAULT_THRESHOLD,
    Documentation,
    Matters,
    Retriever,
    SearchQuery,
    TextPart,
)

DEFAULT_RESULTS = 5
MAX_RESULTS = 50
DEFAULT_TEXT_LENGTH = 50_000
MAX_TEXT_LENGTH = 700_000
MAX_DOCUMENTS_ASKED = 200
MAX_ALTERNATIVES = 20

_COMPARISONS = {
    pb.IQL_COMPARISON_UNSPECIFIED: None,
    pb.IQL_COMPARISON_CONTRACT: ComparisonMode.CONTRACT,
    pb.IQL_COMPARISON_VENDOR: ComparisonMode.VENDOR,
}

IqlText = Annotated[str, Field(max_length=100_000)]
Question = Annotated[str, Field(min_length=1, max_length=2_000)]
ClauseType = Annotated[str, Field(min_length=1, max_length=200)]


class ExecuteIqlRequestModel(PagedRequest):
    proto = pb.ExecuteIqlRequest
    usual_size = DEFAULT_MAX_MATCHES
    largest_size = 1_000

    matter_id: MatterId
    query: IqlText
    document_ids: DocumentIds
    model: Annotated[str, Field(max_length=128)]
    min_score: Fraction | None
    comparison: Annotated[ComparisonMode | None, known(_COMPARISONS)]
    explain: bool

    def to_domain(self) -> IqlQuery:
        return IqlQuery(
            matter_id=self.matter_id,
            query=self.query,
            document_ids=self.document_ids,
            model=self.model,
            min_score=self.min_score,
            comparison=self.comparison,
            max_matches=self.page.size,
            page_token=self.page.token,
            explain=self.explain,
        )


class StreamIqlRequestModel(RequestModel):
    proto = pb.StreamIqlRequest

    query: ExecuteIqlRequestModel


class ParseIqlRequestModel(RequestModel):
    proto = pb.ParseIqlRequest

    query: IqlText
    matter_id: OptionalMatterId


class SearchRequestModel(PagedRequest):
    proto = pb.SearchRequest
    usual_size = DEFAULT_RESULTS
    largest_size = MAX_RESULTS

    matter_id: MatterId
    query: Question
    min_score: Fraction | None
    semantic_weight: Fraction | None
    include_context: bool
    document_ids: DocumentIds

    def to_domain(self) -> SearchQuery:
        return SearchQuery(
            matter_id=self.matter_id,
            query=self.query,
            max_results=self.page.size,
            page_token=self.page.token,
            threshold=DEFAULT_THRESHOLD if self.min_score is None else self.min_score,
            semantic_weight=DEFAULT_SEMANTIC_WEIGHT if self.semantic_weight is None else self.semantic_weight,
            include_context=self.include_context,
            document_ids=self.document_ids,
        )


class ExtractRequestModel(RequestModel):
    proto = pb.ExtractRequest

    matter_id: MatterId
    question: Question
    document_ids: DocumentIds
    min_score: Fraction | None
    max_alternatives: Annotated[int, Field(ge=0, le=1_000_000)]
    each_document: bool

    def to_domain(self) -> ExtractQuery:
        asked = self.max_alternatives or (MAX_DOCUMENTS_ASKED if self.each_document else DEFAULT_MAX_ALTERNATIVES)
        return ExtractQuery(
            matter_id=self.matter_id,
            question=self.question,
            document_ids=self.document_ids,
            min_confidence=self.min_score,
            max_alternatives=min(asked, MAX_DOCUMENTS_ASKED if self.each_document else MAX_ALTERNATIVES),
            each_document=self.each_document,
        )


class ClassifyRequestModel(PagedRequest):
    proto = pb.ClassifyRequest
    usual_size = DEFAULT_MAX_CLAUSES
    largest_size = 1_000

    matter_id: MatterId
    clause_types: Annotated[tuple[ClauseType, ...], at_most(50)]
    document_ids: DocumentIds
    min_score: Fraction | None

    def to_domain(self) -> ClassifyQuery:
        return ClassifyQuery(
            matter_id=self.matter_id,
            clause_types=self.clause_types,
            document_ids=self.document_ids,
            min_confidence=self.min_score,
            max_clauses=self.page.size,
            page_token=self.page.token,
        )


class ListIqlTemplatesRequestModel(PagedRequest):
    proto = pb.ListIqlTemplatesRequest
    usual_size = 100
    largest_size = 1_000


class ListMatterDocumentsRequestModel(PagedRequest):
    proto = pb.ListMatterDocumentsRequest

    matter_id: MatterId


class GetDocumentTextRequestModel(RequestModel):
    proto = pb.GetDocumentTextRequest

    matter_id: MatterIdOrDocumentation
    document_id: DocumentId | None
    filename: Annotated[str, Field(min_length=1, max_length=255)] | None
    start: Annotated[int, Field(ge=0, le=2_147_483_647)] | None
    page: Annotated[int, Field(ge=1, le=2_147_483_647)] | None
    heading: Annotated[str, Field(min_length=1, max_length=512)] | None
    max_chars: Annotated[int, Field(ge=0, le=1_000_000)]

    def part(self) -> TextPart:
        max_chars = min(self.max_chars or DEFAULT_TEXT_LENGTH, MAX_TEXT_LENGTH)
        return TextPart(self.start or 0, self.page or 0, self.heading or "", max_chars)

    @classmethod
    def conflicts(cls, values: Mapping[str, Any]) -> Iterable[FieldViolation]:
        if values["document_id"] is None and values["filename"] is None:
            yield FieldViolation("document_id", "document_id or filename is required")


class RetrieveDocumentationRequestModel(PagedRequest):
    proto = pb.RetrieveDocumentationRequest
    usual_size = DEFAULT_RESULTS
    largest_size = MAX_RESULTS

    query: Question


CALLS_AT_ONCE = 64
"""Calls that search, score or extract at the same time."""

MAX_CALLS_WAITING, CALL_WAIT_S = 1_024, 5.0
"""How many more may wait, and for how long: they take milliseconds, and nobody sits before an empty answer."""


_Answer = TypeVar("_Answer", pb.SearchResponse, pb.ExecuteIqlResponse, pb.ExtractResponse, pb.ClassifyResponse)


class _AboutDocuments(Protocol):
    @property
    def matter_id(self) -> str: ...

    @property
    def document_ids(self) -> Sequence[str]: ...


class ToolServicer(ToolServiceServicer):
    """`max_output_chars` bounds the text that RetrieveDocumentation makes of its passages."""

    def __init__(
        self,
        matters: Matters,
        retriever: Retriever,
        documentation: Documentation,
        analysis: IqlAnalysis,
        classification: Classification,
        extraction: Extraction,
        max_output_chars: int,
        identify: Identify = acting_caller,
    ) -> None:
        self._matters = matters
        self._retriever = retriever
        self._documentation = documentation
        self._analysis = analysis
        self._classification = classification
        self._extraction = extraction
        self._max_output_chars = max_output_chars
        self.admission = Admission(
            "tool calls", CALLS_AT_ONCE, max_waiting=MAX_CALLS_WAITING, wait_s=CALL_WAIT_S, on_loop=False
        )
        self._identify = identify

    async def Search(self, request: pb.SearchRequest, context: Context) -> pb.SearchResponse:
        asked = parse(SearchRequestModel, request)
        async with self._begun(context) as tenant:
            outcome = await self._retriever.search(tenant, asked.to_domain())
            return await self._warned(search_response(outcome), tenant, asked, asked.query)

    async def ListMatterDocuments(
        self, request: pb.ListMatterDocumentsRequest, context: Context
    ) -> pb.ListMatterDocumentsResponse:
        asked = parse(ListMatterDocumentsRequestModel, request)
        page = await self._matters.list_documents(self._tenant(context), asked.matter_id, asked.page)
        documents = page.items
        if len(documents) < page.total_size:
            documents = await self._matters.all_documents(self._tenant(context), asked.matter_id)
        return matter_documents(asked.matter_id, page, documents)

    async def GetDocumentText(self, request: pb.GetDocumentTextRequest, context: Context) -> pb.GetDocumentTextResponse:
        asked = parse(GetDocumentTextRequestModel, request)
        part = await self._matters.document_text(
            self._tenant(context),
            asked.matter_id,
            document_id=asked.document_id or "",
            filename=asked.filename or "",
            part=asked.part(),
        )
        return document_text(part)

    async def ExecuteIql(self, request: pb.ExecuteIqlRequest, context: Context) -> pb.ExecuteIqlResponse:
        asked = parse(ExecuteIqlRequestModel, request)
        async with self._begun(context) as tenant:
            outcome = await self._analysis.execute(tenant, asked.to_domain())
            answer = await asyncio.to_thread(iql_response, outcome)  # its messages may be thousands
            return await self._warned(answer, tenant, asked, asked.query)

    async def StreamIql(self, request: pb.StreamIqlRequest, context: Context) -> AsyncIterator[pb.StreamIqlResponse]:
        asked = parse(StreamIqlRequestModel, request)
        async with (
            self._begun(context) as tenant,
            aclosing(self._analysis.stream(tenant, asked.query.to_domain())) as steps,
        ):
            async for progress in steps:
                message = iql_progress(progress)
                if message.HasField("summary"):
                    await self._warned(message.summary, tenant, asked.query, asked.query.query)
                yield message

    async def ParseIql(self, request: pb.ParseIqlRequest, context: Context) -> pb.ParseIqlResponse:
        asked = parse(ParseIqlRequestModel, request)
        inspection = await self._analysis.inspect(self._tenant(context), asked.query, asked.matter_id)
        return parse_iql_response(inspection)

    async def ListIqlTemplates(
        self, request: pb.ListIqlTemplatesRequest, context: Context
    ) -> pb.ListIqlTemplatesResponse:
        asked = parse(ListIqlTemplatesRequestModel, request)
        return iql_templates_response(tuple(self._analysis.templates), asked.page)

    async def Extract(self, request: pb.ExtractRequest, context: Context) -> pb.ExtractResponse:
        asked = parse(ExtractRequestModel, request)
        async with self._begun(context) as tenant:
            outcome = await self._extraction.extract(tenant, asked.to_domain())
            return await self._warned(extract_response(outcome), tenant, asked, asked.question)

    async def Classify(self, request: pb.ClassifyRequest, context: Context) -> pb.ClassifyResponse:
        asked = parse(ClassifyRequestModel, request)
        async with self._begun(context) as tenant:
            outcome = await self._classification.classify(tenant, asked.to_domain())
            return await self._warned(classify_response(outcome), tenant, asked, *asked.clause_types)

    async def RetrieveDocumentation(
        self, request: pb.RetrieveDocumentationRequest, context: Context
    ) -> pb.RetrieveDocumentationResponse:
        asked = parse(RetrieveDocumentationRequestModel, request)
        async with self._begun(context) as tenant:
            outcome = await self._documentation.search(tenant, asked.query, asked.page.size, asked.page.token)
            outlines = await self._documentation.outlines(tenant, outcome)
        return documentation_response(outcome, outlines, self._max_output_chars)

    async def _warned(self, answer: _Answer, tenant: str, asked: _AboutDocuments, *texts: str) -> _Answer:
        """Adds to an answer what to know of languages that the models do not read."""
        ids = asked.document_ids
        answer.warnings.extend(await self._matters.language_warnings(tenant, asked.matter_id, ids, texts))
        return answer

    def _tenant(self, context: Context) -> str:
        return self._identify(context, "").tenant

    @asynccontextmanager
    async def _begun(self, context: Context) -> AsyncIterator[str]:
        """Waits until a call that computes may begin, and yields its tenant. Raises Overloaded."""
        caller = self._identify(context, "")
        async with self.admission.one(caller):
            yield caller.tenant
