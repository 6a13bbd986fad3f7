"""MaintenanceService on the whole service."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

import grpc
import pytest

from proviso_client import AsyncClient
from proviso_client.v1 import errors_pb2, maintenance_pb2, maintenance_pb2_grpc, matters_pb2, tools_pb2
from proviso_service.backends.sql.matters import SqlMatterStore
from proviso_service.matters.pipeline import Pipeline
from tests.support.running import AGREEMENT, RunningService
from tests.support.served import proviso

States = AsyncIterator[maintenance_pb2.RebuildIndexResponse]


async def rebuilding(service: RunningService) -> tuple[maintenance_pb2.RebuildIndexResponse, States]:
    """The first state of a rebuilding, and those that follow. None begins while the service builds its first index."""
    stub = maintenance_pb2_grpc.MaintenanceServiceStub(service.channel)
    async with asyncio.timeout(60):
        while True:
            states = aiter(stub.RebuildIndex(maintenance_pb2.RebuildIndexRequest()))
            try:
                return await anext(states), states
            except grpc.aio.AioRpcError as refused:
                if "INDEX_REBUILDING" not in str(refused.trailing_metadata()):
                    raise


async def test_the_index_is_rebuilt_while_the_service_answers(service: RunningService) -> None:
    matter_id = await service.create_matter(agreement=AGREEMENT)
    first, following = await rebuilding(service)
    states = [first, *[state async for state in following]]

    assert states[-1].vectors_done == states[-1].vectors_total > 0
    answer = await service.tools.Search(tools_pb2.SearchRequest(matter_id=matter_id, query="monthly fees"))
    assert "USD 12,000" in answer.results[0].chunk_text


async def test_vectors_are_forgotten_only_where_others_are_made(service: RunningService) -> None:
    stub = maintenance_pb2_grpc.MaintenanceServiceStub(service.channel)
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await anext(aiter(stub.RebuildIndex(maintenance_pb2.RebuildIndexRequest(forget_others=True))))
    assert caught.value.code() is grpc.StatusCode.INVALID_ARGUMENT
    assert "forget_others" in (caught.value.details() or "")


async def test_a_second_rebuilding_is_refused_while_one_runs(service: RunningService) -> None:
    await service.create_matter(agreement=AGREEMENT)
    stub = maintenance_pb2_grpc.MaintenanceServiceStub(service.channel)
    may_go_on, pack_again = asyncio.Event(), SqlMatterStore.pack_again

    async def held(*of_document: Any) -> None:
        await may_go_on.wait()
        await pack_again(*of_document)

    with patch.object(SqlMatterStore, "pack_again", held):
        _, following = await rebuilding(service)
        second = stub.RebuildIndex(maintenance_pb2.RebuildIndexRequest())
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await anext(aiter(second))
    may_go_on.set()
    assert caught.value.code() is grpc.StatusCode.FAILED_PRECONDITION
    assert "INDEX_REBUILDING" in str(caught.value.trailing_metadata())
    assert [state async for state in following][-1].vectors_done > 0


@contextmanager
def never_ingesting() -> Iterator[asyncio.Event]:
    """Leaves documents under way; the event says that one is."""
    begun = asyncio.Event()

    async def ingest(*_: object) -> None:
        begun.set()
        await asyncio.Event().wait()

    with patch.object(Pipeline, "ingest", ingest):
        yield begun


async def jobs_of(service: RunningService, **options: bool) -> dict[str, tuple[str, str]]:
    """The state of each job and the process at work on it, by file name."""
    async with AsyncClient(f"127.0.0.1:{service.app.port}") as client:
        found = [job async for job in client.jobs(page_size=1, **options)]
    names = matters_pb2.DocumentStatus.Name
    return {job.document.filename: (names(job.document.status)[16:], job.worker) for job in found}


async def test_documents_that_are_not_ready_are_listed_until_they_are(service: RunningService) -> None:
    matter_id = await service.create_matter(agreement=AGREEMENT)
    assert await jobs_of(service) == {}
    await service.upload(matter_id, "broken.md", b"\xff\xff")
    with pytest.raises(AssertionError):
        await service.wait_until_ready(matter_id)
    with never_ingesting() as begun:
        held = await service.upload(matter_id, "held.md", b"# Lease")
        await asyncio.wait_for(begun.wait(), 60)
        assert await jobs_of(service) == {"broken.md": ("FAILED", ""), "held.md": ("PROCESSING", "embedded")}
        assert await jobs_of(service, failed_only=True) == {"broken.md": ("FAILED", "")}
        stub = maintenance_pb2_grpc.MaintenanceServiceStub(service.channel)
        cancel = maintenance_pb2.CancelJobRequest(matter_id=matter_id, document_id=held.document_id)
        cancelled = (await stub.CancelJob(cancel)).document
    assert cancelled.status == matters_pb2.DOCUMENT_STATUS_FAILED
    assert cancelled.failure_cause == errors_pb2.FAILURE_CAUSE_CANCELLED
    code, out, _ = await proviso("jobs", "retry", matter_id, held.document_id, *address_of(service))
    assert (code, out) == (0, "PENDING held.md\n")
    async for _ in service.matters.WatchDocuments(matters_pb2.WatchDocumentsRequest(matter_id=matter_id)):
        pass
    assert await jobs_of(service) == {"broken.md": ("FAILED", "")}
    assert (await stub.CancelJob(cancel)).document.status == matters_pb2.DOCUMENT_STATUS_READY


async def test_the_command_line_lists_jobs_with_the_reason_of_a_failure(service: RunningService) -> None:
    matter_id = await service.create_matter()
    broken = await service.upload(matter_id, "broken.md", b"\xff\xff")
    with pytest.raises(AssertionError):
        await service.wait_until_ready(matter_id)
    code, out, _ = await proviso("jobs", "list", "--failed", *address_of(service))
    assert code == 0
    assert out.startswith(f"FAILED {matter_id} {broken.document_id} broken.md: The file is not readable text")
    code, _, err = await proviso("jobs", "cancel", matter_id, matter_id, *address_of(service))
    assert (code, err.count("\n")) == (1, 1)


def address_of(service: RunningService) -> tuple[str, str]:
    return "--address", f"127.0.0.1:{service.app.port}"
