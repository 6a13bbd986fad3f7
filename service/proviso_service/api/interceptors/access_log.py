"""One log line per call: method, status code, duration. No peer, no contents."""

import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import structlog

from proviso_service.api.interceptors.chain import Call

HEALTH = "/grpc.health.v1.Health/"

log = structlog.get_logger("proviso.api")


@asynccontextmanager
async def access_log(call: Call) -> AsyncIterator[None]:
    started = time.perf_counter()
    try:
        yield
    finally:
        # Probes come every few seconds from everywhere; they matter only while someone looks for them.
        write = log.debug if call.method.startswith(HEALTH) else log.info
        write(
            "call",
            method=call.method,
            code=call.code.name,
            duration_ms=round((time.perf_counter() - started) * 1000, 1),
        )
