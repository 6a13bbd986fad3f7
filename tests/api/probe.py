"""A service whose methods do what a test wants, in every kind and style that gRPC has."""

from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from typing import Any

import grpc
from google.protobuf.wrappers_pb2 import StringValue

Behaviour = Callable[..., Any]
SERVICE = "test.Probe"


@dataclass(frozen=True)
class Probe:
    """Calls of the probe's methods over a channel; each takes and gives StringValue."""

    channel: grpc.aio.Channel

    def unary(self, text: str = "", **options: Any) -> Any:
        return self._method("unary_unary", "Unary")(StringValue(value=text), **options)

    def raw(self, data: bytes) -> Any:
        """A unary call with bytes of the test's choice."""
        call: Any = self.channel.unary_unary(f"/{SERVICE}/Unary")
        return call(data)

    def stream(self, **options: Any) -> Any:
        return self._method("unary_stream", "Stream")(StringValue(), **options)

    def writer(self, **options: Any) -> Any:
        return self._method("unary_stream", "Writer")(StringValue(), **options)

    def upload(self, *texts: str) -> Any:
        return self._method("stream_unary", "Upload")(iter([StringValue(value=text) for text in texts]))

    def both(self, *texts: str) -> Any:
        return self._method("stream_stream", "Both")(iter([StringValue(value=text) for text in texts]))

    def _method(self, kind: str, name: str) -> Any:
        return getattr(self.channel, kind)(
            f"/{SERVICE}/{name}",
            request_serializer=StringValue.SerializeToString,
            response_deserializer=StringValue.FromString,
        )


async def echo(request: StringValue, context: Any) -> StringValue:
    return request


async def echo_twice(request: StringValue, context: Any) -> AsyncIterator[StringValue]:
    yield StringValue(value="a")
    yield StringValue(value="b")


async def write_twice(request: StringValue, context: Any) -> None:
    await context.write(StringValue(value="a"))
    await context.write(StringValue(value="b"))


async def joined(requests: AsyncIterator[StringValue], context: Any) -> StringValue:
    return StringValue(value="+".join([request.value async for request in requests]))


async def echo_each(requests: AsyncIterator[StringValue], context: Any) -> AsyncIterator[StringValue]:
    async for request in requests:
        yield request


def probe(
    unary: Behaviour = echo,
    stream: Behaviour = echo_twice,
    writer: Behaviour = write_twice,
    upload: Behaviour = joined,
    both: Behaviour = echo_each,
) -> list[grpc.GenericRpcHandler]:
    """The service, to be served."""
    codec: dict[str, Any] = {
        "request_deserializer": StringValue.FromString,
        "response_serializer": StringValue.SerializeToString,
    }
    methods: dict[str, Any] = {
        "Unary": grpc.unary_unary_rpc_method_handler(unary, **codec),
        "Stream": grpc.unary_stream_rpc_method_handler(stream, **codec),
        "Writer": grpc.unary_stream_rpc_method_handler(writer, **codec),
        "Upload": grpc.stream_unary_rpc_method_handler(upload, **codec),
        "Both": grpc.stream_stream_rpc_method_handler(both, **codec),
    }
    return [grpc.method_handlers_generic_handler(SERVICE, methods)]
