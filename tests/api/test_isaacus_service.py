"""The whole service on Isaacus's models, which a stand-in plays on loopback."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import grpc
import pytest

from proviso_client.v1 import matters_pb2
from proviso_client.v1 import tools_pb2 as pb
from proviso_client.v1.errors_pb2 import FAILURE_CAUSE_NOT_ALLOWED
from tests.api.serving import refusal
from tests.support.isaacus_server import KEY, IsaacusServer, isaacus_server, problem
from tests.support.running import AGREEMENT, RunningService, running_service
from tests.support.scripted_model import text

LEASE = "# Lease\n\n## 1. Rent\n\nThe tenant pays rent each month.\n\n## 2. Repairs\n\nThe tenant pays for repairs.\n"


@asynccontextmanager
async def hosted_service(
    isaacus: IsaacusServer, folder: Path, models_dir: Path, **changes: Any
) -> AsyncIterator[RunningService]:
    """With a chat model that says nothing of note, so that no model but Isaacus's is needed."""
    values = {
        "ISAACUS_API_KEY": KEY,
        "ISAACUS_BASE_URL": isaacus.base_url,
        "models": {"embedder": "isaacus"},
        "isaacus": {"dimensions": 64, "retries": 0},
    }
    async with running_service(folder / "data", models_dir, text("Hello."), **(values | changes)) as running:
        yield running


@pytest.fixture
async def isaacus() -> AsyncIterator[IsaacusServer]:
    async with isaacus_server() as server:
        yield server


@pytest.fixture
async def service(isaacus: IsaacusServer, tmp_path: Path) -> AsyncIterator[RunningService]:
    """Every port is on Isaacus; there is no folder of embedded models."""
    async with hosted_service(isaacus, tmp_path, tmp_path / "nothing") as running:
        yield running


async def execute(service: RunningService, matter_id: str, query: str) -> pb.ExecuteIqlResponse:
    return await service.tools.ExecuteIql(pb.ExecuteIqlRequest(matter_id=matter_id, query=query))


async def search(service: RunningService, matter_id: str, query: str, **fields: Any) -> pb.SearchResponse:
    request = pb.SearchRequest(matter_id=matter_id, query=query, min_score=0.0, **fields)
    return await service.tools.Search(request)


async def test_every_port_is_served_by_isaacus(service: RunningService, isaacus: IsaacusServer) -> None:
    matter_id = await service.create_matter(lease=LEASE, services=AGREEMENT)
    found = await search(service, matter_id, "Who maintains insurance?")
    assert found.reranked
    assert found.results[0].citation.heading == "2. Insurance"
    assert [one.rerank_score for one in found.results] == sorted((r.rerank_score for r in found.results), reverse=True)
    answer = await execute(service, matter_id, "{pays rent} OR {maintain insurance}")
    assert answer.model == "isaacus/kanon-universal-classifier/1"
    assert {(one.filename, one.score, one.match_count) for one in answer.document_results} == {
        ("lease.md", 1.0, 1),
        ("services.md", 1.0, 1),
    }
    extracted = await service.tools.Extract(pb.ExtractRequest(matter_id=matter_id, question="Who pays for repairs?"))
    assert extracted.answer == "The tenant pays for repairs."
    assert extracted.model == "isaacus/kanon-answer-extractor/1"
    assert {asked.path.removeprefix("/v1/") for asked in isaacus.asked} == {
        "embeddings",
        "rerankings",
        "classifications/universal",
        "extractions/qa",
    }


async def test_what_is_known_is_not_asked_again(service: RunningService, isaacus: IsaacusServer) -> None:
    matter_id = await service.create_matter(lease=LEASE)
    await execute(service, matter_id, "{pays rent} AND {repairs}")
    asked = isaacus.attempts
    await execute(service, matter_id, "NOT {repairs} OR {pays rent}")
    assert isaacus.attempts == asked


@pytest.mark.parametrize("model", ["kanon-universal-classifier", "kanon-universal-classifier-mini"])
async def test_the_vendors_names_of_models_mean_the_one_that_serves(service: RunningService, model: str) -> None:
    matter_id = await service.create_matter(lease=LEASE)
    request = pb.ExecuteIqlRequest(matter_id=matter_id, query="{pays rent}", model=model)
    answer = await service.tools.ExecuteIql(request)
    assert answer.model == "isaacus/kanon-universal-classifier/1"
    assert bool(answer.warnings) == model.endswith("-mini")


async def test_a_key_alone_leaves_the_vectors_embedded(
    isaacus: IsaacusServer, tmp_path: Path, models_dir: Path
) -> None:
    async with hosted_service(isaacus, tmp_path, models_dir, models={}) as service:
        matter_id = await service.create_matter(lease=LEASE)
        assert (await search(service, matter_id, "rent each month")).reranked
        assert (await execute(service, matter_id, "{pays rent}")).model.startswith("isaacus/")
    assert isaacus.texts_of("embeddings") == []


async def test_the_embedded_classifier_judges_beside_a_hosted_embedder(
    isaacus: IsaacusServer, tmp_path: Path, models_dir: Path
) -> None:
    backends = {"embedder": "isaacus", "classifier": "embedded", "reranker": "none"}
    async with hosted_service(isaacus, tmp_path, models_dir, models=backends) as service:
        matter_id = await service.create_matter(lease=LEASE)
        assert not (await search(service, matter_id, "rent each month")).reranked
        answer = await execute(service, matter_id, "{The tenant pays rent every month.}")
        assert not answer.model.startswith("isaacus/")
        assert answer.document_results[0].score > 0
    assert {asked.path for asked in isaacus.asked} == {"/v1/embeddings"}


async def test_a_search_whose_reranker_fails_is_answered_all_the_same(
    service: RunningService, isaacus: IsaacusServer
) -> None:
    matter_id = await service.create_matter(lease=LEASE)
    isaacus.always("rerankings", problem(500, "Internal server error"))
    found = await search(service, matter_id, "rent each month")
    assert not found.reranked
    assert found.results[0].citation.heading == "1. Rent"
    assert not found.results[0].HasField("rerank_score")


async def test_a_document_that_the_api_refuses_has_its_error_and_spoils_no_other(
    service: RunningService, isaacus: IsaacusServer
) -> None:
    matter_id = await service.create_matter(lease=LEASE, services=AGREEMENT)
    isaacus.on_word("insurance", problem(400, "Query too long error", "The tokens of the query exceed the limit"))
    lease, services = (await execute(service, matter_id, "{pays rent}")).document_results
    assert (lease.score, lease.error) == (1.0, "")
    assert services.error == (
        "Isaacus API error: Query too long error: The tokens of the query exceed the limit (status 400)"
    )


@pytest.mark.parametrize(
    ("status", "code"), [(401, grpc.StatusCode.FAILED_PRECONDITION), (429, grpc.StatusCode.UNAVAILABLE)]
)
async def test_when_every_document_fails_so_does_the_call(
    service: RunningService, isaacus: IsaacusServer, status: int, code: grpc.StatusCode
) -> None:
    matter_id = await service.create_matter(lease=LEASE, services=AGREEMENT)
    isaacus.always("classifications/universal", problem(status, "Told error", retry_after="17"))
    refused = await refusal(execute(service, matter_id, "{pays rent}"))
    assert (refused.code, refused.reason) == (code, "MODEL_API_ERROR")
    assert refused.message.startswith(f"Isaacus API error: Told error (status {status})")
    if code is grpc.StatusCode.UNAVAILABLE:
        assert refused.details["RetryInfo"].retry_delay.seconds == 17


async def test_a_document_that_cannot_be_embedded_says_why(service: RunningService, isaacus: IsaacusServer) -> None:
    created = await service.matters.CreateMatter(matters_pb2.CreateMatterRequest(name="Leases"))
    isaacus.always("embeddings", problem(402, "Insufficient credit error"))
    await service.upload(created.matter.matter_id, "lease.md", LEASE.encode())
    watched = service.matters.WatchDocuments(matters_pb2.WatchDocumentsRequest(matter_id=created.matter.matter_id))
    last = [event async for event in watched][-1].document
    assert last.status == matters_pb2.DOCUMENT_STATUS_FAILED
    assert last.failure_cause == FAILURE_CAUSE_NOT_ALLOWED
    assert last.failure_reason == (
        "Isaacus API error: Insufficient credit error (status 402); check the account's balance. "
        "Upload the document again to retry."
    )
