# ruff: noqa: N802  methods have the names of the contract
"""AccessService: who the caller is."""

from typing import Annotated

from pydantic import Field

from proviso_client.v1 import access_pb2 as pb
from proviso_client.v1.access_pb2_grpc import AccessServiceServicer
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


class AccessServicer(AccessServiceServicer):
    def __init__(self, identify: Identify = acting_caller) -> None:
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
