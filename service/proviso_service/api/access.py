# ruff: noqa: N802  methods have the names of the contract
"""AccessService: who the caller is, and what his tenant may use."""

from typing import Annotated

from pydantic import Field

from proviso_client.v1 import access_pb2 as pb
from proviso_client.v1.access_pb2_grpc import AccessServiceServicer
from proviso_service.access import Quota, Quotas, Usage
from proviso_service.api.request_models import Context, Identify, RequestModel, acting_caller, parse
from proviso_service.identity import Role

_ROLES = {
    Role.ADMIN: pb.CALLER_ROLE_ADMIN,
    Role.AUDITOR: pb.CALLER_ROLE_AUDITOR,
    Role.OPERATOR: pb.CALLER_ROLE_OPERATOR,
    Role.ACT_FOR_USERS: pb.CALLER_ROLE_ACT_FOR_USERS,
}


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


class AccessServicer(AccessServiceServicer):
    def __init__(self, quotas: Quotas, identify: Identify = acting_caller) -> None:
        self._quotas = quotas
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


def _usage(value: Usage) -> pb.QuotaUsage:
    usage = pb.QuotaUsage(quota=_QUOTAS[value.quota], used=value.used, limit=value.limit)
    if value.reset_time:
        usage.reset_time.FromMicroseconds(round(value.reset_time * 1_000_000))
    return usage
