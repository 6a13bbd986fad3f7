# ruff: noqa: N802  methods have the names of the contract
"""AccessService: who the caller is, what his tenant may use, who did what, and what was deleted."""

from datetime import UTC, datetime, timedelta
from typing import Annotated

from google.protobuf.timestamp_pb2 import Timestamp
from pydantic import Field

from proviso_client.v1 import access_pb2 as pb
from proviso_client.v1.access_pb2_grpc import AccessServiceServicer
from proviso_service.access import AuditEvent, AuditFilter, AuditStore, Outcome, Quota, Quotas, Usage
from proviso_service.api.convert.values import fitting_page, timestamp
from proviso_service.api.request_models import (
    Context,
    DeletionId,
    Identify,
    OptionalMatterId,
    PagedRequest,
    RequestModel,
    UserId,
    acting_caller,
    parse,
)
from proviso_service.erasure import Deletion, DeletionKind, DeletionStore
from proviso_service.identity import Caller, Role
from proviso_service.paging import PageRequest

_ROLES = {
    Role.ADMIN: pb.CALLER_ROLE_ADMIN,
    Role.AUDITOR: pb.CALLER_ROLE_AUDITOR,
    Role.OPERATOR: pb.CALLER_ROLE_OPERATOR,
    Role.ACT_FOR_USERS: pb.CALLER_ROLE_ACT_FOR_USERS,
}

_OUTCOMES = {Outcome.DONE: pb.AUDIT_OUTCOME_DONE, Outcome.REFUSED: pb.AUDIT_OUTCOME_REFUSED}
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class GetCallerRequestModel(RequestModel):
    proto = pb.GetCallerRequest

    user_id: Annotated[str, Field(max_length=128)]


_QUOTAS = {
    Quota.REQUESTS: pb.QUOTA_REQUESTS_PER_MINUTE,
    Quota.TURNS: pb.QUOTA_TURNS_PER_DAY,
    Quota.TOKENS: pb.QUOTA_TOKENS_PER_DAY,
    Quota.STREAMS: pb.QUOTA_STREAMS,
    Quota.DOCUMENTS: pb.QUOTA_DOCUMENTS,
    Quota.BYTES: pb.QUOTA_BYTES,
}


class TimestampModel(RequestModel):
    proto = Timestamp

    seconds: Annotated[int, Field(ge=-62_135_596_800, le=253_402_300_799)]
    nanos: Annotated[int, Field(ge=0, le=999_999_999)]

    def to_domain(self) -> datetime:
        return _EPOCH + timedelta(seconds=self.seconds, microseconds=self.nanos // 1_000)


class AuditFilterModel(RequestModel):
    proto = pb.AuditFilter

    matter_id: OptionalMatterId
    user_id: UserId
    method: Annotated[str, Field(max_length=128)]
    start_time: TimestampModel | None
    end_time: TimestampModel | None

    def to_domain(self) -> AuditFilter:
        start = self.start_time.to_domain() if self.start_time else None
        end = self.end_time.to_domain() if self.end_time else None
        return AuditFilter(self.matter_id, self.user_id, self.method, start, end)


class ListAuditEventsRequestModel(PagedRequest):
    proto = pb.ListAuditEventsRequest

    filter: AuditFilterModel | None


class GetDeletionRequestModel(RequestModel):
    proto = pb.GetDeletionRequest

    deletion_id: DeletionId
    user_id: UserId


class ListDeletionsRequestModel(PagedRequest):
    proto = pb.ListDeletionsRequest

    matter_id: OptionalMatterId
    user_id: UserId


_DELETIONS = {
    DeletionKind.MATTER: pb.DELETION_KIND_MATTER,
    DeletionKind.DOCUMENT: pb.DELETION_KIND_DOCUMENT,
    DeletionKind.SESSION: pb.DELETION_KIND_SESSION,
    DeletionKind.TURNS: pb.DELETION_KIND_TURNS,
}


class AccessServicer(AccessServiceServicer):
    def __init__(
        self, quotas: Quotas, audit: AuditStore, deletions: DeletionStore, identify: Identify = acting_caller
    ) -> None:
        self._quotas = quotas
        self._audit = audit
        self._deletions = deletions
        self._identify = identify

    async def GetCaller(self, request: pb.GetCallerRequest, context: Context) -> pb.GetCallerResponse:
        asked = parse(GetCallerRequestModel, request)
        caller = self._identify(context, asked.user_id)
        return pb.GetCallerResponse(
            tenant=caller.tenant,
            user_id=caller.user,
            roles=[_ROLES[role] for role in Role if role in caller.roles],
            authenticated=bool(caller.key),
        )

    async def GetUsage(self, _request: pb.GetUsageRequest, context: Context) -> pb.GetUsageResponse:
        found = await self._quotas.usage(self._identify(context, "").tenant)
        return pb.GetUsageResponse(usage=[_usage(one) for one in found])

    async def ListAuditEvents(self, request: pb.ListAuditEventsRequest, context: Context) -> pb.ListAuditEventsResponse:
        asked = parse(ListAuditEventsRequestModel, request)
        tenant = self._identify(context, "").tenant
        wanted = asked.filter.to_domain() if asked.filter else AuditFilter()

        async def answer(page: PageRequest) -> pb.ListAuditEventsResponse:
            found = await self._audit.list(tenant, wanted, page)
            return pb.ListAuditEventsResponse(
                events=[_shown(event) for event in found.items], next_page_token=found.next_token
            )

        return await fitting_page(asked.page, answer)

    async def GetDeletion(self, request: pb.GetDeletionRequest, context: Context) -> pb.GetDeletionResponse:
        asked = parse(GetDeletionRequestModel, request)
        caller = self._identify(context, asked.user_id)
        found = await self._deletions.get(caller.tenant, asked.deletion_id, _only_user(caller))
        return pb.GetDeletionResponse(deletion=_deletion(found))

    async def ListDeletions(self, request: pb.ListDeletionsRequest, context: Context) -> pb.ListDeletionsResponse:
        asked = parse(ListDeletionsRequestModel, request)
        caller = self._identify(context, asked.user_id)
        found = await self._deletions.list(caller.tenant, asked.page, asked.matter_id, _only_user(caller))
        return pb.ListDeletionsResponse(
            deletions=[_deletion(item) for item in found.items],
            next_page_token=found.next_token,
            total_size=found.total_size,
        )


def _only_user(caller: Caller) -> str | None:
    """The user whose deletions the caller sees; None for all of the tenant."""
    return None if caller.roles & {Role.ADMIN, Role.AUDITOR} else caller.user


def _deletion(value: Deletion) -> pb.Deletion:
    return pb.Deletion(
        deletion_id=value.deletion_id,
        kind=_DELETIONS[value.kind],
        user_id=value.user_id,
        matter_id=value.matter_id,
        resource_id=value.resource_id,
        request_time=timestamp(value.request_time),
        complete_time=timestamp(value.complete_time) if value.complete_time else None,
        documents=value.documents,
        turns=value.turns,
        messages=value.messages,
        size_bytes=value.size_bytes,
    )


def _shown(event: AuditEvent) -> pb.AuditEvent:
    return pb.AuditEvent(
        sequence=event.sequence,
        time=timestamp(datetime.fromisoformat(event.time)),
        user_id=event.user_id,
        key=event.key,
        method=event.method,
        action=event.action,
        resource=event.resource,
        resource_id=event.resource_id,
        matter_id=event.matter_id,
        outcome=_OUTCOMES[Outcome(event.outcome)],
        peer=event.peer,
        request_id=event.request_id,
        previous_hash=event.previous_hash,
        hash=event.hash,
    )


def _usage(value: Usage) -> pb.QuotaUsage:
    usage = pb.QuotaUsage(quota=_QUOTAS[value.quota], used=value.used, limit=value.limit)
    if value.reset_time:
        usage.reset_time.FromMicroseconds(round(value.reset_time * 1_000_000))
    return usage
