"""A request id for every call: the caller's, or a new one. It is in every log line and in the trailing metadata."""

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from uuid import uuid4

from structlog.contextvars import bound_contextvars

from proviso_service.api.interceptors.chain import Call

REQUEST_ID_KEY = "x-request-id"
MAX_REQUEST_ID_CHARS = 64

_UNSAFE = re.compile(r"[^A-Za-z0-9._:-]")


@asynccontextmanager
async def request_ids(call: Call) -> AsyncIterator[None]:
    call.request_id = _request_id(call)
    call.context.set_trailing_metadata(((REQUEST_ID_KEY, call.request_id),))
    with bound_contextvars(request_id=call.request_id):
        yield


def _request_id(call: Call) -> str:
    """The first one sent, without characters that could forge a log line, and bounded."""
    for key, value in call.context.invocation_metadata() or ():
        if key == REQUEST_ID_KEY and isinstance(value, str):
            sent = _UNSAFE.sub("", value)[:MAX_REQUEST_ID_CHARS]
            return sent or uuid4().hex
    return uuid4().hex
