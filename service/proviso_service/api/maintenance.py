# ruff: noqa: N802  methods have the names of the contract
"""MaintenanceService: what an operator asks for: work on the stored data, and what persons say of answers."""

from collections.abc import AsyncIterator
from contextlib import aclosing
from typing import Annotated

from proviso_client.v1 import maintenance_pb2 as pb
from proviso_client.v1.maintenance_pb2_grpc import MaintenanceServiceServicer
from proviso_service.api.convert.sessions import rated_answer
from proviso_service.api.convert.values import RATINGS, fitting_page, or_none
from proviso_service.api.request_models import Context, PagedRequest, acting_caller, known, parse
from proviso_service.matters import ResidentIndexes
from proviso_service.paging import PageRequest
from proviso_service.turns import Rating, SessionStore


class ListRatingsRequestModel(PagedRequest):
    proto = pb.ListRatingsRequest

    rating: Annotated[Rating | None, known(or_none(RATINGS))]


class MaintenanceServicer(MaintenanceServiceServicer):
    def __init__(self, indexes: ResidentIndexes, sessions: SessionStore) -> None:
        self._indexes = indexes
        self._sessions = sessions

    async def RebuildIndex(
        self, _request: pb.RebuildIndexRequest, _context: Context
    ) -> AsyncIterator[pb.RebuildIndexResponse]:
        async with aclosing(self._indexes.rebuild()) as states:
            async for state in states:
                yield pb.RebuildIndexResponse(vectors_done=state.done, vectors_total=state.total)

    async def ListRatings(self, request: pb.ListRatingsRequest, context: Context) -> pb.ListRatingsResponse:
        asked = parse(ListRatingsRequestModel, request)
        tenant = acting_caller(context, "").tenant

        async def answer(page: PageRequest) -> pb.ListRatingsResponse:
            found = await self._sessions.ratings(tenant, page, asked.rating)
            return pb.ListRatingsResponse(
                ratings=[rated_answer(item) for item in found.items],
                next_page_token=found.next_token,
                total_size=found.total_size,
            )

        return await fitting_page(asked.page, answer)
