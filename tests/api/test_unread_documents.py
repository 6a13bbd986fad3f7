"""Just after an upload: what the tools say of documents that are still being processed, that have failed, or that are
not there."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch
from uuid import uuid4

import grpc
import pytest

from proviso_client.errors import error_from
from proviso_client.v1 import matters_pb2, turns_pb2
from proviso_client.v1 import tools_pb2 as pb
from proviso_client.v1.errors_pb2 import FailureCause
from proviso_service.matters.pipeline import Pipeline
from tests.support.running import AGREEMENT, RunningService, final_of, running_service
from tests.support.scripted_model import Call, Step, calls, text

SLOW = "slow.md is still being processed; try again shortly"
BROKEN = "broken.md could not be read: "


@asynccontextmanager
async def held_service(tmp_path: Path, models_dir: Path, *script: Step) -> AsyncIterator[RunningService]:
    """A service in which documents named slow.md stay under way until the end."""
    over, ingest = asyncio.Event(), Pipeline.ingest

    async def held(pipeline: Pipeline, document: Any, report: Any) -> None:
        if document.filename == "slow.md":
            await over.wait()
        await ingest(pipeline, document, report)

    with patch.object(Pipeline, "ingest", held):
        async with running_service(tmp_path, models_dir, *script) as service:
            try:
                yield service
            finally:
                over.set()


async def matter_of(service: RunningService, *, ready: bool) -> tuple[str, str, str]:
    """A matter with a document that is under way, one that has failed and perhaps one that is READY, and the ids of the
    first two."""
    matter_id = await service.create_matter(**({"Services_Agreement": AGREEMENT} if ready else {}))
    broken = await service.upload(matter_id, "broken.md", b"\xff\xff")
    watched = matters_pb2.WatchDocumentsRequest(matter_id=matter_id, document_ids=[broken.document_id])
    async for _ in service.matters.WatchDocuments(watched):
        pass
    slow = await service.upload(matter_id, "slow.md", b"The fee is due in May.")
    return matter_id, slow.document_id, broken.document_id


Tool = Callable[[RunningService, str, list[str]], Awaitable[Any]]


async def iql(service: RunningService, matter_id: str, ids: list[str]) -> Any:
    request = pb.ExecuteIqlRequest(matter_id=matter_id, query="{the fee is due}", document_ids=ids)
    return (await service.tools.ExecuteIql(request)).document_results


async def stream(service: RunningService, matter_id: str, ids: list[str]) -> Any:
    query = pb.ExecuteIqlRequest(matter_id=matter_id, query="{the fee is due}", document_ids=ids)
    answers = [answer async for answer in service.tools.StreamIql(pb.StreamIqlRequest(query=query))]
    found = [answer.document_result for answer in answers if answer.WhichOneof("result") == "document_result"]
    return sorted(found, key=lambda one: ids.index(one.document_id))


async def extract(service: RunningService, matter_id: str, ids: list[str]) -> Any:
    request = pb.ExtractRequest(matter_id=matter_id, question="When is the fee due?", document_ids=ids)
    return (await service.tools.Extract(request)).document_errors


async def classify(service: RunningService, matter_id: str, ids: list[str]) -> Any:
    return (await service.tools.Classify(pb.ClassifyRequest(matter_id=matter_id, document_ids=ids))).document_errors


async def search(service: RunningService, matter_id: str, ids: list[str]) -> Any:
    answer = await service.tools.Search(pb.SearchRequest(matter_id=matter_id, query="fee", document_ids=ids))
    assert answer.documents_not_searched == len(answer.document_errors)
    return answer.document_errors


def failed(error: grpc.aio.AioRpcError) -> tuple[str, dict[str, str], bool]:
    """The reason, the metadata, and whether there is a time to wait."""
    details = error_from(error).details
    return details.reason, dict(details.metadata), details.retry_after_s is not None


@pytest.mark.parametrize("tool", [iql, stream, extract, classify, search])
@pytest.mark.parametrize("ready", [True, False])
async def test_each_document_that_was_asked_for_and_cannot_be_read_has_an_error_of_its_own(
    tmp_path: Path, models_dir: Path, tool: Tool, ready: bool
) -> None:
    absent = str(uuid4())
    async with held_service(tmp_path, models_dir) as service:
        matter_id, slow, broken = await matter_of(service, ready=ready)
        found = await tool(service, matter_id, [slow, broken, absent])
        assert [(one.document_id, one.filename) for one in found] == [
            (slow, "slow.md"), (broken, "broken.md"), (absent, ""),
        ]  # fmt: skip
        assert found[0].error == SLOW
        assert found[1].error.startswith(BROKEN)
        assert found[2].error == "There is no such document in this matter"
        assert [FailureCause.Name(one.failure_cause).removeprefix("FAILURE_CAUSE_") for one in found] == [
            "PROCESSING", "FAILED", "NOT_FOUND",
        ]  # fmt: skip


@pytest.mark.parametrize("tool", [iql, stream, extract, classify])
async def test_a_matter_that_is_still_being_processed_is_told_with_counts_and_a_time_to_wait(
    tmp_path: Path, models_dir: Path, tool: Tool
) -> None:
    async with held_service(tmp_path, models_dir) as service:
        matter_id, _, _ = await matter_of(service, ready=False)
        with pytest.raises(grpc.aio.AioRpcError) as raised:
            await tool(service, matter_id, [])
        reason, metadata, has_wait = failed(raised.value)
        assert (raised.value.code(), reason) == (grpc.StatusCode.FAILED_PRECONDITION, "NO_READY_DOCUMENTS")
        assert (metadata, has_wait) == ({"ready": "0", "processing": "1", "failed": "1"}, True)
        assert "still being processed, and some could not be read" in str(raised.value.details())


async def test_a_search_in_the_matter_names_what_it_left_out(tmp_path: Path, models_dir: Path) -> None:
    async with held_service(tmp_path, models_dir) as service:
        matter_id, slow, broken = await matter_of(service, ready=True)
        for query in ("insurance", "zebra"):
            answer = await service.tools.Search(pb.SearchRequest(matter_id=matter_id, query=query))
            assert [one.document_id for one in answer.document_errors] == [broken, slow]


async def test_a_text_that_cannot_be_read_yet_says_in_which_state_it_is(tmp_path: Path, models_dir: Path) -> None:
    async with held_service(tmp_path, models_dir) as service:
        matter_id, slow, broken = await matter_of(service, ready=False)
        for document_id, expected, waits in ((slow, "DOCUMENT_PROCESSING", True), (broken, "DOCUMENT_FAILED", False)):
            request = pb.GetDocumentTextRequest(matter_id=matter_id, document_id=document_id)
            with pytest.raises(grpc.aio.AioRpcError) as raised:
                await service.tools.GetDocumentText(request)
            reason, _, has_wait = failed(raised.value)
            assert (reason, has_wait) == (expected, waits)


@pytest.mark.parametrize(
    "question",
    [
        "When is the fee due?",
        "Find termination clauses",
        "Which types of clauses are there?",
        "How many documents mention fees?",
        "Run the IQL query {IS termination clause}",
    ],
)
async def test_the_embedded_model_says_that_documents_are_still_being_processed(
    tmp_path: Path, models_dir: Path, question: str
) -> None:
    async with held_service(tmp_path, models_dir) as service:
        matter_id = await service.create_matter()
        await service.upload(matter_id, "slow.md", b"The fee is due in May.")
        message = final_of(await service.ask(question, matter_id)).message
        assert "still being processed" in message
        assert "ready documents" not in message
        assert "enough information" not in message


@pytest.mark.parametrize(
    "call",
    [
        Call("isaacus_search", '{"query": "fee"}'),
        Call("isaacus_extract", '{"question": "When is the fee due?"}'),
        Call("isaacus_iql", '{"query": "{the fee is due}"}'),
        Call("isaacus_classify"),
    ],
    ids=lambda call: call.name,
)
async def test_a_hosted_model_is_told_and_its_answer_is_no_finding_about_the_file(
    tmp_path: Path, models_dir: Path, call: Call
) -> None:
    told = "Could you ask me again in a moment?"
    async with held_service(tmp_path, models_dir, calls(call), text(told)) as service:
        matter_id = await service.create_matter()
        await service.upload(matter_id, "slow.md", b"The fee is due in May.")
        events = await service.ask("When is the fee due?", matter_id)
        (ended,) = (event.tool_end for event in events if event.WhichOneof("event") == "tool_end")
        assert "still being processed" in ended.error
        assert "Tell the person that documents are still being processed" in ended.output
        final = final_of(events)
        assert (final.exit_reason, final.message) == (turns_pb2.EXIT_REASON_COMPLETED, told)
