"""The current span's W3C trace context, for requests to other services. Baggage is not passed on: it is the caller's.

Clients take it one request at a time: those that are built on httpx by `send_trace_context` among their event hooks for
requests, others by `trace_headers` among a call's own headers."""

from typing import TYPE_CHECKING

from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

if TYPE_CHECKING:
    import httpx

_PROPAGATOR = TraceContextTextMapPropagator()


def trace_headers() -> dict[str, str]:
    """`traceparent`, and `tracestate` where there is one; empty without a span."""
    headers: dict[str, str] = {}
    _PROPAGATOR.inject(headers)
    return headers


async def send_trace_context(request: "httpx.Request") -> None:
    """An event hook: `httpx.AsyncClient(event_hooks={"request": [send_trace_context]})`."""
    request.headers.update(trace_headers())
