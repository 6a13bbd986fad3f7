"""MaintenanceService on the whole service."""

import asyncio
from collections.abc import AsyncIterator

import grpc
import pytest

from proviso_client.v1 import maintenance_pb2, maintenance_pb2_grpc, tools_pb2
from tests.support.running import AGREEMENT, RunningService

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


async def test_a_second_rebuilding_is_refused_while_one_runs(service: RunningService) -> None:
    await service.create_matter(agreement=AGREEMENT)
    stub = maintenance_pb2_grpc.MaintenanceServiceStub(service.channel)
    _, following = await rebuilding(service)
    second = stub.RebuildIndex(maintenance_pb2.RebuildIndexRequest())
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await anext(aiter(second))
    assert caught.value.code() is grpc.StatusCode.FAILED_PRECONDITION
    assert "INDEX_REBUILDING" in str(caught.value.trailing_metadata())
    assert [state async for state in following][-1].vectors_done > 0
