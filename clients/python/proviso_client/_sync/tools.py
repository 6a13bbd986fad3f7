"""ToolService: what the agent's tools do, without an agent."""

from collections.abc import Iterator, Sequence
from typing import Unpack

from proviso_client._requests import ClassifyFields, ExtractFields, IqlFields, SearchFields, TextFields
from proviso_client._sync.calls import Calls
from proviso_client.v1 import tools_pb2 as pb
from proviso_client.v1.tools_pb2_grpc import ToolServiceStub


class Tools:
    """Every method raises ProvisoError; NotFound for a matter or document that the caller may not see."""

    def __init__(self, calls: Calls) -> None:
        self._calls = calls
        self._stub = ToolServiceStub(calls.channel)

    def search(
        self, matter_id: str, query: str, *, timeout_s: float | None = None, **fields: Unpack[SearchFields]
    ) -> pb.SearchResponse:
        """Passages of the matter's documents, best first."""
        request = pb.SearchRequest(matter_id=matter_id, query=query, **fields)
        return self._calls.unary(self._stub.Search, request, timeout_s)

    def extract(
        self, matter_id: str, question: str, *, timeout_s: float | None = None, **fields: Unpack[ExtractFields]
    ) -> pb.ExtractResponse:
        """The words of the documents that answer a question."""
        request = pb.ExtractRequest(matter_id=matter_id, question=question, **fields)
        return self._calls.unary(self._stub.Extract, request, timeout_s)

    def classify(
        self, matter_id: str, *, timeout_s: float | None = None, **fields: Unpack[ClassifyFields]
    ) -> pb.ClassifyResponse:
        """Clauses of the types asked for."""
        request = pb.ClassifyRequest(matter_id=matter_id, **fields)
        return self._calls.unary(self._stub.Classify, request, timeout_s)

    def execute_iql(
        self, matter_id: str, query: str, *, timeout_s: float | None = None, **fields: Unpack[IqlFields]
    ) -> pb.ExecuteIqlResponse:
        """What an IQL query matches. Raises InvalidIql."""
        request = pb.ExecuteIqlRequest(matter_id=matter_id, query=query, **fields)
        return self._calls.unary(self._stub.ExecuteIql, request, timeout_s)

    def stream_iql(
        self, matter_id: str, query: str, *, timeout_s: float | None = None, **fields: Unpack[IqlFields]
    ) -> Iterator[pb.StreamIqlResponse]:
        """As `execute_iql`, document by document as they come, then the summary. Raises InvalidIql."""
        request = pb.StreamIqlRequest(query=pb.ExecuteIqlRequest(matter_id=matter_id, query=query, **fields))
        return self._calls.stream(self._stub.StreamIql, request, timeout_s)

    def iql_templates(self, *, timeout_s: float | None = None) -> Sequence[pb.IqlTemplate]:
        """The templates that queries may call."""
        answer = self._calls.unary(self._stub.ListIqlTemplates, pb.ListIqlTemplatesRequest(), timeout_s)
        return answer.templates

    def parse_iql(self, query: str, *, matter_id: str = "", timeout_s: float | None = None) -> pb.ParseIqlResponse:
        """How a query is read, or what is wrong with it; with a matter also what it would cost."""
        request = pb.ParseIqlRequest(query=query, matter_id=matter_id)
        return self._calls.unary(self._stub.ParseIql, request, timeout_s)

    def list_documents(self, matter_id: str, *, timeout_s: float | None = None) -> pb.ListMatterDocumentsResponse:
        """What is in a matter, as the agent sees it."""
        request = pb.ListMatterDocumentsRequest(matter_id=matter_id)
        return self._calls.unary(self._stub.ListMatterDocuments, request, timeout_s)

    def document_text(
        self, matter_id: str, *, timeout_s: float | None = None, **fields: Unpack[TextFields]
    ) -> pb.GetDocumentTextResponse:
        """A part of a document's text."""
        request = pb.GetDocumentTextRequest(matter_id=matter_id, **fields)
        return self._calls.unary(self._stub.GetDocumentText, request, timeout_s)

    def documentation(
        self, query: str, *, max_results: int = 0, timeout_s: float | None = None
    ) -> pb.RetrieveDocumentationResponse:
        """Passages of the documentation."""
        request = pb.RetrieveDocumentationRequest(query=query, max_results=max_results)
        return self._calls.unary(self._stub.RetrieveDocumentation, request, timeout_s)
