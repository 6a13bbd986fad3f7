"""The documentation over a channel: how it is filled and searched, and what does not reach it."""

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import grpc
import pytest

from proviso_client.v1 import matters_pb2 as pb
from proviso_client.v1 import tools_pb2
from proviso_client.v1.matters_pb2_grpc import MatterServiceStub
from proviso_client.v1.tools_pb2_grpc import ToolServiceStub
from proviso_service.api.request_models import Context
from proviso_service.embedded import MiniLmEmbedder
from proviso_service.identity import Caller
from proviso_service.matters.retrieval import Documentation, Retriever
from tests.api.serving import NO_DOMAIN, refusal, served
from tests.support.matters_world import matters_world

DOCUMENTATION = "documentation"
SENTINEL = "DOCUMENTATION_SEARCH_RESULT: EMPTY"
HANDBOOK = b"# Handbook\n\n## Holidays\n\nEveryone has thirty days of annual leave.\n"


def caller_of(context: Context, user_id: str) -> Caller:
    """Of the tenant that the call's metadata name."""
    metadata: Any = context.invocation_metadata()
    return Caller(dict(metadata)["tenant"], user_id)


class Tenant:
    """Calls on behalf of one tenant."""

    def __init__(self, channel: grpc.aio.Channel, name: str) -> None:
        self.matters: Any = MatterServiceStub(channel)
        self.tools: Any = ToolServiceStub(channel)
        self.metadata = (("tenant", name),)

    async def upload(self, content: bytes, filename: str = "handbook.md") -> pb.Document:
        """A document of the documentation, once it is READY."""
        header = pb.UploadHeader(matter_id=DOCUMENTATION, filename=filename)
        messages = [
            pb.UploadDocumentRequest(header=header),
            pb.UploadDocumentRequest(data=content),
            pb.UploadDocumentRequest(end=pb.UploadEnd()),
        ]
        stored: pb.Document = (await self.matters.UploadDocument(iter(messages), metadata=self.metadata)).document
        watched = pb.WatchDocumentsRequest(matter_id=DOCUMENTATION, document_ids=[stored.document_id])
        async for state in self.matters.WatchDocuments(watched, metadata=self.metadata):
            stored = state.document
        assert stored.status == pb.DOCUMENT_STATUS_READY
        return stored

    async def retrieve(self, query: str, max_results: int = 0) -> tools_pb2.RetrieveDocumentationResponse:
        request = tools_pb2.RetrieveDocumentationRequest(query=query, page_size=max_results)
        answer: tools_pb2.RetrieveDocumentationResponse
        answer = await self.tools.RetrieveDocumentation(request, metadata=self.metadata)
        return answer

    async def documents(self) -> list[pb.Document]:
        request = pb.ListDocumentsRequest(matter_id=DOCUMENTATION)
        return list((await self.matters.ListDocuments(request, metadata=self.metadata)).documents)


@pytest.fixture
async def channel(tmp_path: Path, embedder: MiniLmEmbedder) -> AsyncIterator[grpc.aio.Channel]:
    async with matters_world(tmp_path, embedder) as world, world.running() as matters:
        retriever = Retriever(world.store, world.indexes, world.embedder)
        domain = replace(
            NO_DOMAIN,
            matters=matters,
            retriever=retriever,
            documentation=Documentation(world.store, retriever),
            identify=caller_of,
        )
        async with served(domain) as server:
            yield server.channel


@pytest.fixture
def acme(channel: grpc.aio.Channel) -> Tenant:
    return Tenant(channel, "acme")


async def test_passages_come_as_results_and_as_the_model_reads_them(acme: Tenant) -> None:
    document = await acme.upload(HANDBOOK)
    assert document.matter_id == DOCUMENTATION
    found = await acme.retrieve("How many days of annual leave are there?")
    [result] = found.results
    assert (result.document_id, result.filename) == (document.document_id, "handbook.md")
    assert result.citation.heading == "Holidays"
    assert found.output.startswith("[1] handbook.md, Holidays:\n    ")
    assert "    Everyone has thirty days of annual leave." in found.output


async def test_without_documentation_nothing_is_found(acme: Tenant) -> None:
    found = await acme.retrieve("How many days of annual leave are there?")
    assert (list(found.results), found.output) == ([], SENTINEL)
    assert await acme.documents() == []


async def test_at_most_so_many_results_as_were_asked_for(acme: Tenant) -> None:
    for number in range(6):
        await acme.upload(
            f"# Leave {number}\n\nAnnual leave in year {number} is thirty days.\n".encode(), f"{number}.md"
        )
    assert len((await acme.retrieve("annual leave days")).results) == 5
    assert len((await acme.retrieve("annual leave days", 2)).results) == 2


@pytest.mark.parametrize("query", ["", " ", "x" * 2_001])
async def test_a_query_without_content_or_bounds_is_refused(acme: Tenant, query: str) -> None:
    refused = await refusal(acme.retrieve(query))
    assert (refused.code, refused.reason) == (grpc.StatusCode.INVALID_ARGUMENT, "INVALID_REQUEST")
    assert set(refused.violations) == {"query"}


async def test_a_document_is_read_replaced_and_deleted_like_one_of_a_matter(acme: Tenant) -> None:
    first = await acme.upload(HANDBOOK)
    request = tools_pb2.GetDocumentTextRequest(matter_id=DOCUMENTATION, document_id=first.document_id)
    assert (await acme.tools.GetDocumentText(request, metadata=acme.metadata)).text.startswith("# Handbook")
    second = await acme.upload(HANDBOOK.replace(b"thirty", b"forty"))
    assert second.replaces_document_id == first.document_id
    named = pb.DeleteDocumentRequest(matter_id=DOCUMENTATION, document_id=first.document_id)
    await acme.matters.DeleteDocument(named, metadata=acme.metadata)
    assert [one.document_id for one in await acme.documents()] == [second.document_id]
    assert "forty days" in (await acme.retrieve("annual leave days")).output


async def test_another_tenant_neither_finds_nor_names_it(acme: Tenant, channel: grpc.aio.Channel) -> None:
    document = await acme.upload(HANDBOOK)
    other = Tenant(channel, "other")
    assert (await other.retrieve("How many days of annual leave are there?")).output == SENTINEL
    assert await other.documents() == []
    named = pb.GetDocumentRequest(matter_id=DOCUMENTATION, document_id=document.document_id)
    refused = await refusal(other.matters.GetDocument(named, metadata=other.metadata))
    assert (refused.code, refused.reason) == (grpc.StatusCode.NOT_FOUND, "DOCUMENT_NOT_FOUND")


async def test_no_list_of_matters_shows_it(acme: Tenant) -> None:
    await acme.upload(HANDBOOK)
    for name in ("", DOCUMENTATION):
        listed = await acme.matters.ListMatters(pb.ListMattersRequest(name=name), metadata=acme.metadata)
        assert list(listed.matters) == []


@pytest.mark.parametrize(
    ("service", "method", "request_type"),
    [
        ("matters", "GetMatter", pb.GetMatterRequest),
        ("matters", "DeleteMatter", pb.DeleteMatterRequest),
        ("tools", "Search", tools_pb2.SearchRequest),
        ("tools", "Extract", tools_pb2.ExtractRequest),
        ("tools", "Classify", tools_pb2.ClassifyRequest),
        ("tools", "ExecuteIql", tools_pb2.ExecuteIqlRequest),
        ("tools", "ParseIql", tools_pb2.ParseIqlRequest),
        ("tools", "ListMatterDocuments", tools_pb2.ListMatterDocumentsRequest),
    ],
)
async def test_methods_that_ask_for_a_matter_do_not_reach_it(
    acme: Tenant, service: str, method: str, request_type: Any
) -> None:
    await acme.upload(HANDBOOK)
    call = getattr(getattr(acme, service), method)
    refused = await refusal(call(request_type(matter_id=DOCUMENTATION), metadata=acme.metadata))
    assert refused.code is grpc.StatusCode.INVALID_ARGUMENT
    assert refused.violations["matter_id"] == "Invalid matter ID format"
    assert len(await acme.documents()) == 1


@pytest.mark.parametrize("matter_id", ["Documentation", "documentation ", "doc"])
async def test_only_the_very_word_stands_for_it(acme: Tenant, matter_id: str) -> None:
    refused = await refusal(
        acme.matters.ListDocuments(pb.ListDocumentsRequest(matter_id=matter_id), metadata=acme.metadata)
    )
    assert refused.violations["matter_id"] == "Invalid matter ID format"
