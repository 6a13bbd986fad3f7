"""The gRPC interceptor that runs each call inside the middlewares, and the middleware that turns an exception of a
handler into the status of the call.

A handler may be a coroutine, an async generator, or a function that returns one. The responses of a stream are written
here, so that its generator is closed in the task of the call as soon as the call ends.
"""

import asyncio
import inspect
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Never

import grpc
import structlog
from google.protobuf.message import DecodeError
from grpc_status import rpc_status

from proviso_service.access import Done
from proviso_service.api.errors import is_fault, status_of
from proviso_service.api.request_models import Context
from proviso_service.errors import InvalidRequest, TooBusy

log = structlog.get_logger("proviso.api")


if TYPE_CHECKING:  # generic for type checkers only
    Handler = grpc.RpcMethodHandler[Any, Any]
else:
    Handler = grpc.RpcMethodHandler
Behaviour = Callable[[Any, Context], Any]

_NOTHING = Done("")


@dataclass(slots=True)
class Call:
    """One call while it runs. `unary` says that it has one request and one response. The middleware `request_ids` sets
    `request_id`; the middleware `errors` sets `code`, the status that the call ends with. `user` is the one whom its
    metadata names, and `done` says what it asks for, once that is known."""

    method: str
    context: Context
    unary: bool
    request_id: str = ""
    user: str = ""
    done: Done = _NOTHING
    code: grpc.StatusCode = grpc.StatusCode.OK


Handle = Callable[[], Awaitable[Any]]
"""Runs what a middleware is around: the next one, and in the end the handler of the call."""

Middleware = Callable[[Call, Handle], Awaitable[Any]]
"""Returns what `handle` returns; it sees what that raises, and may raise something else. Middlewares are functions, as
context managers of asyncio cost several times as much, and every call passes all of them."""


Admit = Callable[[Call, Any], Awaitable[None]]
"""Sees the request of a call before its handler does, and may raise an exception to refuse it."""


class CallInterceptor(grpc.aio.ServerInterceptor):
    """Enters the middlewares in order, so that the first one is outermost, has `admit` look at the request, or at the
    first one of a stream, and then runs the handler."""

    def __init__(self, middlewares: Sequence[Middleware], admit: Admit) -> None:
        self._middlewares = tuple(middlewares)
        self._admit = admit

    async def intercept_service(
        self,
        continuation: Callable[[grpc.HandlerCallDetails], Awaitable[Handler | None]],
        handler_call_details: grpc.HandlerCallDetails,
    ) -> Handler | None:
        handler = await continuation(handler_call_details)
        return None if handler is None else self._wrap(handler, handler_call_details.method)

    def _wrap(self, handler: Handler, method: str) -> Handler:
        """The same handler, run inside the middlewares."""
        kind = (handler.request_streaming, handler.response_streaming)
        attribute, rebuild = _KINDS[kind]
        inner: Behaviour = getattr(handler, attribute)
        checked = self._admitted_stream if handler.request_streaming else self._admitted

        async def answer_once(request: Any, context: Context) -> Any:
            call = Call(method, context, unary=not any(kind))

            async def handle() -> Any:
                return await inner(await checked(call, request), context)

            return await self._around(call, handle)

        async def answer_in_stream(request: Any, context: Context) -> None:
            call = Call(method, context, unary=False)

            async def handle() -> None:
                await _write(inner(await checked(call, request), context), context)

            await self._around(call, handle)

        return rebuild(
            answer_in_stream if handler.response_streaming else answer_once,
            request_deserializer=_lenient(handler.request_deserializer),
            response_serializer=handler.response_serializer,
        )

    async def _admitted(self, call: Call, request: Any) -> Any:
        await self._admit(call, _checked(request))
        return request

    async def _admitted_stream(self, call: Call, requests: AsyncIterator[Any]) -> AsyncIterator[Any]:
        return self._each_admitted(call, requests)

    async def _each_admitted(self, call: Call, requests: AsyncIterator[Any]) -> AsyncIterator[Any]:
        is_first = True
        async for request in requests:
            if is_first:
                await self._admit(call, _checked(request))
                is_first = False
            yield _checked(request)

    def _around(self, call: Call, handle: Handle) -> Awaitable[Any]:
        """Runs `handle` inside the middlewares."""
        for middleware in reversed(self._middlewares):
            handle = partial(middleware, call, handle)
        return handle()


_KINDS: dict[tuple[bool, bool], tuple[str, Callable[..., Handler]]] = {
    (False, False): ("unary_unary", grpc.unary_unary_rpc_method_handler),
    (False, True): ("unary_stream", grpc.unary_stream_rpc_method_handler),
    (True, False): ("stream_unary", grpc.stream_unary_rpc_method_handler),
    (True, True): ("stream_stream", grpc.stream_stream_rpc_method_handler),
}
"""By (request streaming, response streaming): the attribute of a handler that holds its function, and the function that
makes a handler from one."""


async def _write(responses: Any, context: Context) -> None:
    """Runs a handler that streams responses: a coroutine writes them itself; what a generator yields is written
    here."""
    if inspect.isawaitable(responses):
        await responses
        return
    generator: AsyncGenerator[Any, None] = responses
    async with aclosing(generator):
        async for response in generator:
            await context.write(response)


class _Malformed:
    """Takes the place of a request whose bytes cannot be decoded. gRPC itself would answer UNKNOWN with the text of the
    exception."""


def _lenient(deserialize: Callable[[bytes], Any] | None) -> Callable[[bytes], Any] | None:
    if deserialize is None:
        return None

    def decode(data: bytes) -> Any:
        try:
            return deserialize(data)
        except DecodeError:
            return _Malformed()

    return decode


def _checked(request: Any) -> Any:
    if isinstance(request, _Malformed):
        raise InvalidRequest.of("", "the bytes are not a message of the request's type")
    return request


async def errors(call: Call, handle: Handle) -> Any:
    """Turns an exception into the status of the call."""
    try:
        return await handle()
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
    trailing = (*call.context.trailing_metadata(), *status.trailing_metadata)
    if isinstance(error, TooBusy):
        # gRPC's own retries, where a client has set them up, wait for so long.
        trailing += (("grpc-retry-pushback-ms", str(round(error.retry_after_s * 1000))),)
    await call.context.abort(status.code, status.details, trailing)


def _is_call_cancelled() -> bool:
    """Whether this call was cancelled, and not just a task that its handler awaited."""
    task = asyncio.current_task()
    return task is None or task.cancelling() > 0


def _deadline_or_cancelled(call: Call) -> grpc.StatusCode:
    remaining = call.context.time_remaining()
    passed = remaining is not None and remaining <= 0
    return grpc.StatusCode.DEADLINE_EXCEEDED if passed else grpc.StatusCode.CANCELLED
