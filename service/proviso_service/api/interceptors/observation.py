"""What is recorded of every call: its request id, one log line, and one span of its trace. No contents are recorded."""

import re
import time
from typing import Any
from uuid import uuid4

import grpc
import structlog
from opentelemetry.trace import SpanKind, Tracer
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator
from structlog.contextvars import bound_contextvars

from proviso_service.api.interceptors.chain import Call, Handle
from proviso_service.telemetry.spans import failed

REQUEST_ID_KEY = "x-request-id"
MAX_REQUEST_ID_CHARS = 64
HEALTH = "/grpc.health.v1.Health/"

_log = structlog.get_logger("proviso.api")

_UNSAFE = re.compile(r"[^A-Za-z0-9._:-]")

_FAULTS = frozenset(
    {
        grpc.StatusCode.UNKNOWN,
        grpc.StatusCode.DEADLINE_EXCEEDED,
        grpc.StatusCode.UNIMPLEMENTED,
        grpc.StatusCode.INTERNAL,
        grpc.StatusCode.UNAVAILABLE,
        grpc.StatusCode.DATA_LOSS,
    }
)
"""Codes that the semantic conventions for gRPC count as errors of a server."""


async def request_ids(call: Call, handle: Handle) -> Any:
    """Gives the call a request id: the one that the caller sent, or a new one. Every log line of the call has it, and
    so has the trailing metadata of the response."""
    call.request_id = _request_id(call)
    call.context.set_trailing_metadata(((REQUEST_ID_KEY, call.request_id),))
    with bound_contextvars(request_id=call.request_id):
        return await handle()


def _request_id(call: Call) -> str:
    """The first id that the caller sent, cut and without characters that could forge a log line; else a new one."""
    for key, value in call.context.invocation_metadata() or ():
        if key == REQUEST_ID_KEY and isinstance(value, str):
            sent = _UNSAFE.sub("", value)[:MAX_REQUEST_ID_CHARS]
            return sent or uuid4().hex
    return uuid4().hex


async def access_log(call: Call, handle: Handle) -> Any:
    """Logs one line with the method, the status code and the duration; neither the peer nor any contents."""
    started = time.perf_counter()
    try:
        return await handle()
    finally:
        # Probes come every few seconds from everywhere; they matter only while someone looks for them.
        write = _log.debug if call.method.startswith(HEALTH) else _log.info
        write(
            "call",
            method=call.method,
            code=call.code.name,
            duration_ms=round((time.perf_counter() - started) * 1000, 1),
        )


class CallSpans:
    """Records one server span for each call, as part of the caller's trace, with names and codes but no contents. It
    reads the W3C trace context from the caller's metadata and nothing else. Health checks have no spans."""

    def __init__(self, tracer: Tracer, server_address: str) -> None:
        self._tracer = tracer
        self._server_address = server_address
        self._propagator = TraceContextTextMapPropagator()

    async def __call__(self, call: Call, handle: Handle) -> Any:
        if call.method.startswith(HEALTH):
            return await handle()
        metadata = {k: v for k, v in call.context.invocation_metadata() or () if isinstance(v, str)}
        method = call.method.strip("/")
        span = self._tracer.start_as_current_span(
            method,
            context=self._propagator.extract(metadata),
            kind=SpanKind.SERVER,
            attributes={"rpc.system.name": "grpc", "rpc.method": method, "server.address": self._server_address},
            record_exception=False,
            set_status_on_exception=False,
        )
        with span as current:
            try:
                return await handle()
            finally:
                current.set_attribute("rpc.response.status_code", call.code.name)
                current.set_attribute("proviso.request_id", call.request_id)
                if call.code in _FAULTS:
                    failed(current, call.code.name)
