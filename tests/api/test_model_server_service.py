"""The whole service on models of model servers, which stand-ins play on loopback."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import grpc
import pytest

from proviso_client.v1 import matters_pb2
from proviso_client.v1 import tools_pb2 as pb
from proviso_client.v1.errors_pb2 import FAILURE_CAUSE_NOT_ALLOWED
from proviso_service.wiring_resources import StartupError
from tests.api.serving import refusal
from tests.support.running import AGREEMENT, RunningService, running_service
from tests.support.scripted_model import text
from tests.support.tei_server import TeiServer, overloaded, tei_server, unhealthy

LEASE = "# Lease\n\n## 1. Rent\n\nThe tenant pays rent each month.\n\n## 2. Repairs\n\nThe tenant pays for repairs.\n"
SHA = "5c38ec7c405ec4b4"


@dataclass(frozen=True)
class World:
    """The servers of the three ports, and the service between them."""

    embedding: TeiServer
    reranking: TeiServer
    classifying: TeiServer
    folder: Path
    stack: AsyncExitStack

    async def service(self, **models: str) -> RunningService:
        """There is no folder of embedded models."""
        usual = {
            "embedder": self.embedding.address(),
            "reranker": self.reranking.address(),
            "classifier": self.classifying.address(),
        }
        started = running_service(
            self.folder / "data",
            self.folder / "nothing",
            text("Hello."),
            models=usual | models,
            model_server={"retries": 1, "retry_base_s": 0.001},
        )
        return await self.stack.enter_async_context(started)


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    prompts = {"query": "query: ", "document": "text: "}
    async with (
        tei_server(prompts=prompts) as embedding,
        tei_server("reranker") as reranking,
        tei_server("classifier", ("entailment", "not_entailment")) as classifying,
        AsyncExitStack() as stack,
    ):
        yield World(embedding, reranking, classifying, tmp_path, stack)


async def execute(service: RunningService, matter_id: str, query: str) -> pb.ExecuteIqlResponse:
    return await service.tools.ExecuteIql(pb.ExecuteIqlRequest(matter_id=matter_id, query=query))


async def search(service: RunningService, matter_id: str, query: str, **fields: Any) -> pb.SearchResponse:
    return await service.tools.Search(pb.SearchRequest(matter_id=matter_id, query=query, min_score=0.0, **fields))


async def test_documents_are_uploaded_searched_and_judged_by_the_servers_models(world: World) -> None:
    service = await world.service()
    matter_id = await service.create_matter(lease=LEASE, services=AGREEMENT)
    found = await search(service, matter_id, "Who maintains insurance?")
    assert found.reranked
    assert found.results[0].citation.heading == "2. Insurance"
    answer = await execute(service, matter_id, "{pays rent} OR {maintain insurance}")
    assert answer.model == f"tei/proviso/classifier/{SHA}/1"
    assert {(one.filename, one.score, one.match_count) for one in answer.document_results} == {
        ("lease.md", 1.0, 1),
        ("services.md", 1.0, 1),
    }
    asked = len(world.classifying.asked)
    await execute(service, matter_id, "NOT {maintain insurance}")
    assert len(world.classifying.asked) == asked
    assert "Who maintains insurance?" in world.embedding.asked_for("/embed")[-1].texts
    assert world.embedding.asked_for("/embed")[-1].prompt_name == "query"


async def test_a_server_of_openais_api_embeds(world: World) -> None:
    service = await world.service(embedder=world.embedding.address("/v1#proviso/embedding"), reranker="none")
    matter_id = await service.create_matter(lease=LEASE)
    found = await search(service, matter_id, "pays for repairs")
    assert found.results[0].citation.heading == "2. Repairs"
    assert {asked.path for asked in world.embedding.asked} == {"/v1/embeddings"}


async def test_a_busy_server_is_asked_again(world: World) -> None:
    service = await world.service()
    matter_id = await service.create_matter(lease=LEASE)
    world.embedding.then(overloaded())
    world.reranking.then(unhealthy())
    assert (await search(service, matter_id, "rent each month")).reranked


async def test_a_search_whose_reranker_is_away_is_answered_all_the_same(world: World) -> None:
    service = await world.service()
    matter_id = await service.create_matter(lease=LEASE)
    world.reranking.always("rerank", unhealthy())
    found = await search(service, matter_id, "rent each month")
    assert (found.reranked, found.results[0].citation.heading) == (False, "1. Rent")


async def test_a_classifier_that_stays_away_is_unavailable_with_the_time_to_come_again(world: World) -> None:
    service = await world.service()
    matter_id = await service.create_matter(lease=LEASE)
    world.classifying.always("predict", overloaded(retry_after="40"))
    refused = await refusal(execute(service, matter_id, "{pays rent}"))
    assert (refused.code, refused.reason) == (grpc.StatusCode.UNAVAILABLE, "MODEL_API_ERROR")
    assert refused.message.startswith("Model server API error: Too Many Requests (status 429)")
    assert refused.details["RetryInfo"].retry_delay.seconds == 40


async def test_vectors_of_another_model_are_never_stored(world: World) -> None:
    service = await world.service()
    world.embedding.model = "proviso/other"
    created = await service.matters.CreateMatter(matters_pb2.CreateMatterRequest(name="Leases"))
    await service.upload(created.matter.matter_id, "lease.md", LEASE.encode())
    watched = service.matters.WatchDocuments(matters_pb2.WatchDocumentsRequest(matter_id=created.matter.matter_id))
    last = [event async for event in watched][-1].document
    assert last.status == matters_pb2.DOCUMENT_STATUS_FAILED
    assert last.failure_cause == FAILURE_CAUSE_NOT_ALLOWED
    assert f"serves tei/proviso/other/{SHA} in place of tei/proviso/embedding/{SHA}" in last.failure_reason


async def test_after_a_change_of_the_model_documents_are_found_by_their_words(world: World) -> None:
    matter_id = await (await world.service()).create_matter(lease=LEASE)
    await world.stack.aclose()
    world.embedding.dimensions = 32
    service = await world.service()
    found = await search(service, matter_id, "rent each month")
    assert found.results[0].citation.heading == "1. Rent"


async def test_a_server_that_cannot_be_used_ends_the_start_in_one_line(world: World) -> None:
    with pytest.raises(StartupError) as caught:
        await world.service(classifier=world.embedding.address())
    url = f"http://127.0.0.1:{world.embedding.port}"
    assert str(caught.value) == (
        f"PROVISO_MODELS__CLASSIFIER: {url} cannot be used: Model server API error: "
        "proviso/embedding is neither a reranker nor has it a label entailment"
    )
