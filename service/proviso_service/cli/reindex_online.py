"""The vector index built anew by a running server."""

from collections.abc import AsyncIterator
from typing import TYPE_CHECKING

from proviso_client.v1 import maintenance_pb2, maintenance_pb2_grpc
from proviso_service.cli.client import connect
from proviso_service.cli.reindex_report import Reindexed

if TYPE_CHECKING:
    from proviso_client.v1.maintenance_pb2_grpc import MaintenanceServiceAsyncStub


async def rebuild_there(address: str) -> AsyncIterator[Reindexed]:
    """Raises CommandError."""
    async with connect(address) as client:
        stub: MaintenanceServiceAsyncStub = maintenance_pb2_grpc.MaintenanceServiceStub(client.channel)
        async for state in stub.RebuildIndex(maintenance_pb2.RebuildIndexRequest()):
            yield Reindexed(state.vectors_done, state.vectors_total)
