"""Passages of the documentation."""

from itertools import count

from proviso_client.v1 import tools_pb2 as pb
from proviso_service.api.convert.search import search_result
from proviso_service.matters import SearchOutcome
from proviso_service.tools.retriever import DocumentationResult


def documentation_response(outcome: SearchOutcome, max_output_chars: int) -> pb.RetrieveDocumentationResponse:
    """The passages, and the text that the agent's tool makes of them, where the nth passage has the number n."""
    numbers = count(1)
    output = DocumentationResult(outcome).render(lambda _: next(numbers), max_output_chars)
    results = [search_result(hit) for hit in outcome.hits]
    return pb.RetrieveDocumentationResponse(results=results, output=output.text)
