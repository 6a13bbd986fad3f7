# ruff: noqa: N802  methods have the names of the contract
"""MaintenanceService: what an operator asks for: work on the stored data, and what persons say of answers."""

from collections.abc import AsyncIterator
from contextlib import aclosing
from functools import partial
from typing import Annotated

from proviso_client.v1 import maintenance_pb2 as pb
from proviso_client.v1.maintenance_pb2_grpc import MaintenanceServiceServicer
from proviso_service.api.convert.matters import document
from proviso_service.api.convert.sessions import rated_answer
from proviso_service.api.convert.values import RATINGS, fitting_page, or_none
from proviso_service.api.request_models import (
    Context,
    DocumentId,
    MatterIdOrDocumentation,
    PagedRequest,
    RequestModel,
    acting_caller,
    known,
    parse,
)
from proviso_service.errors import InvalidRequest
from proviso_service.matters import Job, Matters, Reembedding, ResidentIndexes
from proviso_service.paging import PageRequest
from proviso_service.turns import Rating, SessionStore


class RebuildIndexRequestModel(RequestModel):
    proto = pb.RebuildIndexRequest

    embed: bool
    forget_others: bool


class ListRatingsRequestModel(PagedRequest):
    proto = pb.ListRatingsRequest

    rating: Annotated[Rating | None, known(or_none(RATINGS))]


class ListJobsRequestModel(PagedRequest):
    proto = pb.ListJobsRequest

    failed_only: bool


class RetryJobRequestModel(RequestModel):
    proto = pb.RetryJobRequest

    matter_id: MatterIdOrDocumentation
    document_id: DocumentId


class CancelJobRequestModel(RequestModel):
    proto = pb.CancelJobRequest

    matter_id: MatterIdOrDocumentation
    document_id: DocumentId


class MaintenanceServicer(MaintenanceServiceServicer):
    def __init__(
        self, matters: Matters, indexes: ResidentIndexes, reembedding: Reembedding, sessions: SessionStore
    ) -> None:
        self._matters = matters
        self._indexes = indexes
        self._reembedding = reembedding
        self._sessions = sessions

    async def RebuildIndex(
        self, request: pb.RebuildIndexRequest, _context: Context
    ) -> AsyncIterator[pb.RebuildIndexResponse]:
        asked = parse(RebuildIndexRequestModel, request)
        if asked.forget_others and not asked.embed:
            raise InvalidRequest.of("forget_others", "needs embed")
        reembed = partial(self._reembedding.run, forgets_others=asked.forget_others)
        async with aclosing(self._indexes.rebuild(reembed if asked.embed else None)) as states:
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

    async def ListJobs(self, request: pb.ListJobsRequest, context: Context) -> pb.ListJobsResponse:
        asked = parse(ListJobsRequestModel, request)
        tenant = acting_caller(context, "").tenant

        async def answer(page: PageRequest) -> pb.ListJobsResponse:
            found = await self._matters.jobs(tenant, page, failed_only=asked.failed_only)
            jobs = [_job(item) for item in found.items]
            return pb.ListJobsResponse(jobs=jobs, next_page_token=found.next_token, total_size=found.total_size)

        return await fitting_page(asked.page, answer)

    async def RetryJob(self, request: pb.RetryJobRequest, context: Context) -> pb.RetryJobResponse:
        asked = parse(RetryJobRequestModel, request)
        tenant = acting_caller(context, "").tenant
        retried = await self._matters.retry_job(tenant, asked.matter_id, asked.document_id)
        return pb.RetryJobResponse(document=document(retried))

    async def CancelJob(self, request: pb.CancelJobRequest, context: Context) -> pb.CancelJobResponse:
        asked = parse(CancelJobRequestModel, request)
        tenant = acting_caller(context, "").tenant
        cancelled = await self._matters.cancel_job(tenant, asked.matter_id, asked.document_id)
        return pb.CancelJobResponse(document=document(cancelled))


def _job(value: Job) -> pb.Job:
    return pb.Job(document=document(value.document), worker=value.owner, lost_workers=value.losses)
