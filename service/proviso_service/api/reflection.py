"""Server reflection under both its names. Python's gRPC brings v1alpha only; v1 has the same messages under another
package, so its descriptors are made from those and its method is the same one."""

from collections.abc import Iterable
from typing import Any

import grpc
from google.protobuf.descriptor import FileDescriptor
from google.protobuf.descriptor_pb2 import FileDescriptorProto
from google.protobuf.descriptor_pool import DescriptorPool
from google.rpc import error_details_pb2, status_pb2  # type: ignore[import-untyped]
from grpc_health.v1 import health_pb2
from grpc_reflection.v1alpha import reflection, reflection_pb2

from proviso_service.api.services import SERVICE_NAMES, SERVICES

V1ALPHA = "grpc.reflection.v1alpha"
V1 = "grpc.reflection.v1"
SERVICE = "ServerReflection"


def add_reflection(server: grpc.aio.Server) -> None:
    """Lists the contract's services, health and reflection itself; knows the error details too, so that generic clients
    can show them."""
    names = (*SERVICE_NAMES, "grpc.health.v1.Health", f"{V1ALPHA}.{SERVICE}", f"{V1}.{SERVICE}")
    servicer = reflection.aio.ReflectionServicer(names, _Symbols(_pool()))
    method = grpc.stream_stream_rpc_method_handler(
        servicer.ServerReflectionInfo,
        request_deserializer=reflection_pb2.ServerReflectionRequest.FromString,
        response_serializer=reflection_pb2.ServerReflectionResponse.SerializeToString,
    )
    for package in (V1ALPHA, V1):
        handler = grpc.method_handlers_generic_handler(f"{package}.{SERVICE}", {"ServerReflectionInfo": method})
        server.add_generic_rpc_handlers((handler,))


class _Symbols:
    """A pool that finds methods too. The protocol counts them among the symbols of a file; protobuf's pool does not."""

    def __init__(self, pool: DescriptorPool) -> None:
        self._pool = pool

    def __getattr__(self, name: str) -> Any:
        return getattr(self._pool, name)

    def FindFileContainingSymbol(self, symbol: str) -> FileDescriptor:  # noqa: N802 - protobuf's name
        """Raises KeyError when there is none."""
        try:
            return self._pool.FindFileContainingSymbol(symbol)
        except KeyError:
            return self._pool.FindMethodByName(symbol).containing_service.file


def _pool() -> DescriptorPool:
    """Descriptors of what is served, apart from the process's own pool, which stays as it is."""
    pool = DescriptorPool()
    others = (health_pb2, reflection_pb2, error_details_pb2, status_pb2)
    files = [service.file for service in SERVICES] + [module.DESCRIPTOR for module in others]
    _add(pool, files, set())
    pool.Add(_v1_file())
    return pool


def _add(pool: DescriptorPool, files: Iterable[FileDescriptor], added: set[str]) -> None:
    """Adds each file once, after those it imports."""
    for file in files:
        if file.name not in added:
            added.add(file.name)
            _add(pool, file.dependencies, added)
            pool.AddSerializedFile(file.serialized_pb)


def _v1_file() -> FileDescriptorProto:
    file = FileDescriptorProto.FromString(reflection_pb2.DESCRIPTOR.serialized_pb)
    file.name = "grpc/reflection/v1/reflection.proto"
    file.package = V1
    for message in file.message_type:
        for field in filter(lambda field: field.HasField("type_name"), message.field):
            field.type_name = _moved(field.type_name)
    for service in file.service:
        for method in service.method:
            method.input_type = _moved(method.input_type)
            method.output_type = _moved(method.output_type)
    return file


def _moved(type_name: str) -> str:
    return type_name.replace(f".{V1ALPHA}.", f".{V1}.")
