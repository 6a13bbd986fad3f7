"""A gRPC server of a test's own, in its loop."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any, TypeVar

import grpc

ServicerT = TypeVar("ServicerT")


@asynccontextmanager
async def serving(add: Callable[[ServicerT, Any], None], servicer: ServicerT) -> AsyncIterator[str]:
    """Its target, on a free port. `add` is the function of the stubs that gives a server the servicer."""
    server = grpc.aio.server()
    add(servicer, server)
    target = f"127.0.0.1:{server.add_insecure_port('127.0.0.1:0')}"
    await server.start()
    try:
        yield target
    finally:
        await server.stop(1.0)
