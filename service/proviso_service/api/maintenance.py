# ruff: noqa: N802  methods have the names of the contract
"""MaintenanceService: work on the stored data that an operator asks for."""

from collections.abc import AsyncIterator
from contextlib import aclosing

from proviso_client.v1 import maintenance_pb2 as pb
from proviso_client.v1.maintenance_pb2_grpc import MaintenanceServiceServicer
from proviso_service.api.request_models import Context
from proviso_service.matters import MaintainedIndex


class MaintenanceServicer(MaintenanceServiceServicer):
    def __init__(self, index: MaintainedIndex) -> None:
        self._index = index

    async def RebuildIndex(
        self, _request: pb.RebuildIndexRequest, _context: Context
    ) -> AsyncIterator[pb.RebuildIndexResponse]:
        async with aclosing(self._index.rebuild()) as states:
            async for state in states:
                yield pb.RebuildIndexResponse(vectors_done=state.done, vectors_total=state.total)
