"""One span per call."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import grpc
from opentelemetry.trace import SpanKind, Tracer
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from proviso_service.api.interceptors.access_log import HEALTH
from proviso_service.api.interceptors.chain import Call
from proviso_service.telemetry.spans import failed

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


class CallSpans:
    """A server span under the caller's trace, with names and codes but no contents. Of the caller's metadata the W3C
    trace context is taken and nothing else; probes of health have no spans."""

    def __init__(self, tracer: Tracer, server_address: str) -> None:
        self._tracer = tracer
        self._server_address = server_address
        self._propagator = TraceContextTextMapPropagator()

    @asynccontextmanager
    async def __call__(self, call: Call) -> AsyncIterator[None]:
        if call.method.startswith(HEALTH):
            yield
            return
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
                yield
            finally:
                current.set_attribute("rpc.response.status_code", call.code.name)
                current.set_attribute("proviso.request_id", call.request_id)
                if call.code in _FAULTS:
                    failed(current, call.code.name)
