# ruff: noqa: N802  methods have the names of the contract
"""ToolService: the agent's tools without the agent."""

from collections.abc import AsyncIterator
from contextlib import aclosing

from proviso_client.v1 import tools_pb2 as pb
from proviso_client.v1.tools_pb2_grpc import ToolServiceServicer
from proviso_service.api.convert.classification import classify_response
from proviso_service.api.convert.documentation import documentation_response
from proviso_service.api.convert.extraction import extract_response
from proviso_service.api.convert.iql import iql_progress, iql_response, iql_templates_response, parse_iql_response
from proviso_service.api.convert.matters import document_text, matter_documents
from proviso_service.api.convert.search import search_response
from proviso_service.api.domain import Domain
from proviso_service.api.identity import Context
from proviso_service.api.requests.base import parse
from proviso_service.api.requests.tools import (
    DEFAULT_RESULTS,
    ClassifyRequestModel,
    ExecuteIqlRequestModel,
    ExtractRequestModel,
    GetDocumentTextRequestModel,
    ListMatterDocumentsRequestModel,
    ParseIqlRequestModel,
    RetrieveDocumentationRequestModel,
    SearchRequestModel,
    StreamIqlRequestModel,
)


class ToolServicer(ToolServiceServicer):
    def __init__(self, domain: Domain) -> None:
        self._domain = domain

    async def Search(self, request: pb.SearchRequest, context: Context) -> pb.SearchResponse:
        asked = parse(SearchRequestModel, request)
        outcome = await self._domain.retriever.search(self._tenant(context), asked.to_domain())
        return search_response(outcome)

    async def ListMatterDocuments(
        self, request: pb.ListMatterDocumentsRequest, context: Context
    ) -> pb.ListMatterDocumentsResponse:
        asked = parse(ListMatterDocumentsRequestModel, request)
        documents = await self._domain.matters.all_documents(self._tenant(context), asked.matter_id)
        return matter_documents(asked.matter_id, documents)

    async def GetDocumentText(self, request: pb.GetDocumentTextRequest, context: Context) -> pb.GetDocumentTextResponse:
        asked = parse(GetDocumentTextRequestModel, request)
        part = await self._domain.matters.document_text(
            self._tenant(context),
            asked.matter_id,
            document_id=asked.document_id,
            filename="" if asked.document_id else asked.filename,
            part=asked.part(),
        )
        return document_text(part)

    async def ExecuteIql(self, request: pb.ExecuteIqlRequest, context: Context) -> pb.ExecuteIqlResponse:
        asked = parse(ExecuteIqlRequestModel, request)
        outcome = await self._domain.analysis.execute(self._tenant(context), asked.to_domain())
        return iql_response(outcome)

    async def StreamIql(self, request: pb.StreamIqlRequest, context: Context) -> AsyncIterator[pb.StreamIqlResponse]:
        asked = parse(StreamIqlRequestModel, request)
        stream = self._domain.analysis.stream(self._tenant(context), asked.query.to_domain())
        async with aclosing(stream) as steps:
            async for progress in steps:
                yield iql_progress(progress)

    async def ParseIql(self, request: pb.ParseIqlRequest, context: Context) -> pb.ParseIqlResponse:
        asked = parse(ParseIqlRequestModel, request)
        inspection = await self._domain.analysis.inspect(self._tenant(context), asked.query, asked.matter_id)
        return parse_iql_response(inspection)

    async def ListIqlTemplates(
        self, request: pb.ListIqlTemplatesRequest, context: Context
    ) -> pb.ListIqlTemplatesResponse:
        return iql_templates_response(self._domain.analysis.templates)

    async def Extract(self, request: pb.ExtractRequest, context: Context) -> pb.ExtractResponse:
        asked = parse(ExtractRequestModel, request)
        outcome = await self._domain.extraction.extract(self._tenant(context), asked.to_domain())
        return extract_response(outcome)

    async def Classify(self, request: pb.ClassifyRequest, context: Context) -> pb.ClassifyResponse:
        asked = parse(ClassifyRequestModel, request)
        outcome = await self._domain.classification.classify(self._tenant(context), asked.to_domain())
        return classify_response(outcome)

    async def RetrieveDocumentation(
        self, request: pb.RetrieveDocumentationRequest, context: Context
    ) -> pb.RetrieveDocumentationResponse:
        asked = parse(RetrieveDocumentationRequestModel, request)
        outcome = await self._domain.documentation.search(
            self._tenant(context), asked.query, asked.max_results or DEFAULT_RESULTS
        )
        return documentation_response(outcome, self._domain.limits.turns.tool_result_chars)

    def _tenant(self, context: Context) -> str:
        return self._domain.identify(context, "").tenant
