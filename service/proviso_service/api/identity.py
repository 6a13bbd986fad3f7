"""Who makes a call. Calls carry no credentials, which is why the service listens on loopback only: all callers belong
to one tenant, and a request names its user."""

from collections.abc import Callable
from typing import Any

import grpc

from proviso_service.identity import LOCAL_TENANT, Caller

LOCAL_USER = "local"

Context = grpc.aio.ServicerContext[Any, Any]
"""What gRPC knows of a call."""

Identify = Callable[[Context, str], Caller]
"""Finds the caller from the call and the `user_id` of its request, which is empty if the request names none."""


def local_caller(context: Context, user_id: str) -> Caller:
    """The caller of a call without credentials."""
    del context  # there are no credentials in it
    return Caller(LOCAL_TENANT, user_id or LOCAL_USER)
