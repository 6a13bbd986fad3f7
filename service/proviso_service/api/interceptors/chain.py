"""One gRPC interceptor that runs each call inside a stack of async context managers.

Handlers may be coroutines or async generators, also where a plain function returns one; responses are written from one
coroutine, so that a generator is closed in the call's own task as soon as the call ends, however it ends.
"""

import inspect
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, aclosing, asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import grpc
from google.protobuf.message import DecodeError

from proviso_service.api.identity import Context
from proviso_service.errors import InvalidRequest

if TYPE_CHECKING:  # generic for type checkers only
    Handler = grpc.RpcMethodHandler[Any, Any]
else:
    Handler = grpc.RpcMethodHandler
Behaviour = Callable[[Any, Context], Any]


@dataclass(slots=True)
class Call:
    """One call on its way: `unary` says that both request and response are single messages. `code` is what it ends
    with, set by `errors`; `request_id` is set by `request_ids`."""

    method: str
    context: Context
    unary: bool
    request_id: str = ""
    code: grpc.StatusCode = grpc.StatusCode.OK


Around = Callable[[Call], AbstractAsyncContextManager[None]]
"""Runs a call's handler inside; sees what it raises and may raise something else."""


class CallInterceptor(grpc.aio.ServerInterceptor):
    """Enters `arounds` in order, the first one outermost, then runs the handler."""

    def __init__(self, arounds: Sequence[Around]) -> None:
        self._arounds = tuple(arounds)

    async def intercept_service(
        self,
        continuation: Callable[[grpc.HandlerCallDetails], Awaitable[Handler | None]],
        handler_call_details: grpc.HandlerCallDetails,
    ) -> Handler | None:
        handler = await continuation(handler_call_details)
        return None if handler is None else self._wrap(handler, handler_call_details.method)

    def _wrap(self, handler: Handler, method: str) -> Handler:
        """The same method with a behaviour that enters the stack first."""
        kind = (handler.request_streaming, handler.response_streaming)
        attribute, rebuild = _KINDS[kind]
        inner: Behaviour = getattr(handler, attribute)
        checked = _checked_stream if handler.request_streaming else _checked

        async def answer_once(request: Any, context: Context) -> Any:
            async with self._entered(Call(method, context, unary=not any(kind))):
                return await inner(checked(request), context)

        async def answer_in_stream(request: Any, context: Context) -> None:
            async with self._entered(Call(method, context, unary=False)):
                await _write(inner(checked(request), context), context)

        return rebuild(
            answer_in_stream if handler.response_streaming else answer_once,
            request_deserializer=_lenient(handler.request_deserializer),
            response_serializer=handler.response_serializer,
        )

    @asynccontextmanager
    async def _entered(self, call: Call) -> AsyncIterator[None]:
        async with AsyncExitStack() as stack:
            for around in self._arounds:
                await stack.enter_async_context(around(call))
            yield


_KINDS: dict[tuple[bool, bool], tuple[str, Callable[..., Handler]]] = {
    (False, False): ("unary_unary", grpc.unary_unary_rpc_method_handler),
    (False, True): ("unary_stream", grpc.unary_stream_rpc_method_handler),
    (True, False): ("stream_unary", grpc.stream_unary_rpc_method_handler),
    (True, True): ("stream_stream", grpc.stream_stream_rpc_method_handler),
}
"""By (request streaming, response streaming): where a handler keeps its behaviour, and what makes a handler of one."""


async def _write(responses: Any, context: Context) -> None:
    """Runs a streaming handler: a coroutine writes by itself, what a generator yields is written here."""
    if inspect.isawaitable(responses):
        await responses
        return
    generator: AsyncGenerator[Any, None] = responses
    async with aclosing(generator):
        async for response in generator:
            await context.write(response)


class _Malformed:
    """Stands for a request whose bytes are not the message; gRPC itself would answer UNKNOWN with exception text."""


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


async def _checked_stream(requests: AsyncIterator[Any]) -> AsyncIterator[Any]:
    async for request in requests:
        yield _checked(request)
