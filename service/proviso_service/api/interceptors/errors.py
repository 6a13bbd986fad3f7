"""The middleware that turns an exception of a handler into the status of the call."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Never

import grpc
import structlog
from grpc_status import rpc_status

from proviso_service.api.errors import is_fault, status_of
from proviso_service.api.interceptors.chain import Call

log = structlog.get_logger("proviso.api")


@asynccontextmanager
async def errors(call: Call) -> AsyncIterator[None]:
    try:
        yield
    except asyncio.CancelledError as error:
        if not _is_call_cancelled():
            await _abort(call, RuntimeError("a task that the call waited for was cancelled"), error)
        # gRPC has to see this exception, or the call would leak.
        call.code = _deadline_or_cancelled(call)
        raise
    except grpc.aio.AbortError:
        call.code = call.context.code()  # gRPC's own handlers, such as health, abort by themselves
        raise
    except Exception as error:  # the boundary: nothing may leave without a status
        await _abort(call, error, error)


async def _abort(call: Call, error: Exception, cause: BaseException) -> Never:
    """Ends the call with the status of the error. The trailing metadata that was set before is kept."""
    if is_fault(error):
        log.error("call failed", method=call.method, exc_info=cause)
    status = rpc_status.to_status(status_of(error, call.request_id))
    call.code = status.code
    await call.context.abort(
        status.code, status.details, (*call.context.trailing_metadata(), *status.trailing_metadata)
    )


def _is_call_cancelled() -> bool:
    """Whether this call was cancelled, and not just a task that its handler awaited."""
    task = asyncio.current_task()
    return task is None or task.cancelling() > 0


def _deadline_or_cancelled(call: Call) -> grpc.StatusCode:
    remaining = call.context.time_remaining()
    passed = remaining is not None and remaining <= 0
    return grpc.StatusCode.DEADLINE_EXCEEDED if passed else grpc.StatusCode.CANCELLED
