"""One span per call."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import grpc
from opentelemetry.trace import SpanKind, Status, StatusCode, Tracer
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from proviso_service.api.interceptors.chain import Call

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
"""Codes that the semantic conventions for RPC count as errors of a server."""


class Spans:
    """A server span under the caller's trace, with names and codes but no contents."""

    def __init__(self, tracer: Tracer) -> None:
        self._tracer = tracer
        self._propagator = TraceContextTextMapPropagator()

    @asynccontextmanager
    async def __call__(self, call: Call) -> AsyncIterator[None]:
        metadata = {k: v for k, v in call.context.invocation_metadata() or () if isinstance(v, str)}
        service, _, method = call.method.strip("/").partition("/")
        span = self._tracer.start_as_current_span(
            call.method.strip("/"),
            context=self._propagator.extract(metadata),
            kind=SpanKind.SERVER,
            attributes={"rpc.system": "grpc", "rpc.service": service, "rpc.method": method},
            record_exception=False,
            set_status_on_exception=False,
        )
        with span as current:
            try:
                yield
            finally:
                current.set_attribute("rpc.grpc.status_code", call.code.value[0])
                current.set_attribute("proviso.request_id", call.request_id)
                if call.code in _FAULTS:
                    current.set_status(Status(StatusCode.ERROR, call.code.name))
