"""Runs the agent's tools without an agent, through ToolService."""

from collections.abc import AsyncIterator, Sequence
from typing import TYPE_CHECKING, Unpack

from proviso_client._aio.calls import Calls
from proviso_client._requests import ClassifyFields, ExtractFields, IqlFields, PageFields, SearchFields, TextFields
from proviso_client.v1 import tools_pb2 as pb
from proviso_client.v1.tools_pb2_grpc import ToolServiceStub

if TYPE_CHECKING:  # exists for type checkers only
    from proviso_client.v1.tools_pb2_grpc import ToolServiceAsyncStub


class AsyncTools:
    """Every method raises ProvisoError when its call fails, and NotFound when the caller may not see the matter or the
    document."""

    def __init__(self, calls: Calls) -> None:
        self._calls = calls
        self._stub: ToolServiceAsyncStub = ToolServiceStub(calls.channel)

    async def search(
        self, matter_id: str, query: str, *, timeout_s: float | None = None, **fields: Unpack[SearchFields]
    ) -> pb.SearchResponse:
        """Returns passages of the matter's documents that match the query, best first."""
        request = pb.SearchRequest(matter_id=matter_id, query=query, **fields)
        return await self._calls.unary(self._stub.Search, request, timeout_s)

    async def extract(
        self, matter_id: str, question: str, *, timeout_s: float | None = None, **fields: Unpack[ExtractFields]
    ) -> pb.ExtractResponse:
        """Returns the passages of the documents, in their own words, that answer a question."""
        request = pb.ExtractRequest(matter_id=matter_id, question=question, **fields)
        return await self._calls.unary(self._stub.Extract, request, timeout_s)

    async def classify(
        self, matter_id: str, *, timeout_s: float | None = None, **fields: Unpack[ClassifyFields]
    ) -> pb.ClassifyResponse:
        """Returns the clauses of the requested types."""
        request = pb.ClassifyRequest(matter_id=matter_id, **fields)
        return await self._calls.unary(self._stub.Classify, request, timeout_s)

    async def execute_iql(
        self, matter_id: str, query: str, *, timeout_s: float | None = None, **fields: Unpack[IqlFields]
    ) -> pb.ExecuteIqlResponse:
        """Returns what an IQL query matches. Raises InvalidIql when the query is invalid."""
        request = pb.ExecuteIqlRequest(matter_id=matter_id, query=query, **fields)
        return await self._calls.unary(self._stub.ExecuteIql, request, timeout_s)

    def stream_iql(
        self, matter_id: str, query: str, *, timeout_s: float | None = None, **fields: Unpack[IqlFields]
    ) -> AsyncIterator[pb.StreamIqlResponse]:
        """Runs a query as `execute_iql` does, but yields the results of each document as they arrive, and then the
        summary. Raises InvalidIql when the query is invalid."""
        request = pb.StreamIqlRequest(query=pb.ExecuteIqlRequest(matter_id=matter_id, query=query, **fields))
        return self._calls.stream(self._stub.StreamIql, request, timeout_s)

    async def iql_templates(self, *, timeout_s: float | None = None) -> Sequence[pb.IqlTemplate]:
        """Returns the templates that queries may call."""
        request = pb.ListIqlTemplatesRequest(page_size=1_000)
        templates: list[pb.IqlTemplate] = []
        while True:
            answer = await self._calls.unary(self._stub.ListIqlTemplates, request, timeout_s)
            templates += answer.templates
            if not answer.next_page_token:
                return templates
            request.page_token = answer.next_page_token

    async def parse_iql(
        self, query: str, *, matter_id: str = "", timeout_s: float | None = None
    ) -> pb.ParseIqlResponse:
        """Returns how the service understands a query, or what is wrong with it. With a matter, also returns what the
        query would cost."""
        request = pb.ParseIqlRequest(query=query, matter_id=matter_id)
        return await self._calls.unary(self._stub.ParseIql, request, timeout_s)

    async def list_documents(
        self, matter_id: str, *, timeout_s: float | None = None, **fields: Unpack[PageFields]
    ) -> pb.ListMatterDocumentsResponse:
        """Returns a page of a matter's documents, with counts of all of them."""
        request = pb.ListMatterDocumentsRequest(matter_id=matter_id, **fields)
        return await self._calls.unary(self._stub.ListMatterDocuments, request, timeout_s)

    async def document_text(
        self, matter_id: str, *, timeout_s: float | None = None, **fields: Unpack[TextFields]
    ) -> pb.GetDocumentTextResponse:
        """Returns a part of a document's text."""
        request = pb.GetDocumentTextRequest(matter_id=matter_id, **fields)
        return await self._calls.unary(self._stub.GetDocumentText, request, timeout_s)

    async def documentation(
        self, query: str, *, timeout_s: float | None = None, **fields: Unpack[PageFields]
    ) -> pb.RetrieveDocumentationResponse:
        """Returns passages of the documentation that match the query."""
        request = pb.RetrieveDocumentationRequest(query=query, **fields)
        return await self._calls.unary(self._stub.RetrieveDocumentation, request, timeout_s)
