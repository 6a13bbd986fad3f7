"""Who calls. Without credentials, which is allowed on loopback only, all are of one tenant and say who they are."""

from collections.abc import Callable
from typing import Any

import grpc

from proviso_service.identity import LOCAL_TENANT, Caller

LOCAL_USER = "local"

Context = grpc.aio.ServicerContext[Any, Any]
"""What gRPC tells of a call."""

Identify = Callable[[Context, str], Caller]
"""(call, the request's user_id, empty where it has none) -> caller."""


def local_caller(context: Context, user_id: str) -> Caller:
    """The caller on loopback without credentials."""
    del context  # it holds no credential
    return Caller(LOCAL_TENANT, user_id or LOCAL_USER)
