"""The services that every gRPC server should have: health (grpc.health.v1) and reflection.

Health is told for the server as a whole and for each service of the contract. Reflection is served under both its
names: Python's gRPC brings v1alpha only, and v1 has the same messages in another package, so its descriptors are made
from those of v1alpha and both names share one handler."""

from collections.abc import Iterable
from typing import Any

import grpc
from google.protobuf.descriptor import FileDescriptor, ServiceDescriptor
from google.protobuf.descriptor_pb2 import FileDescriptorProto
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message import Message
from google.rpc import error_details_pb2, status_pb2  # type: ignore[import-untyped]
from grpc_health.v1 import health, health_pb2
from grpc_reflection.v1alpha import reflection, reflection_pb2

from proviso_client.v1 import access_pb2, catalog_pb2, chat_pb2, maintenance_pb2, matters_pb2, sessions_pb2, tools_pb2
from proviso_service.api.request_models import Context

SERVICES: tuple[ServiceDescriptor, ...] = tuple(
    service
    for module in (chat_pb2, sessions_pb2, catalog_pb2, matters_pb2, tools_pb2, maintenance_pb2, access_pb2)
    for service in module.DESCRIPTOR.services_by_name.values()
)
SERVICE_NAMES = tuple(service.full_name for service in SERVICES)

WHOLE_SERVER = ""
NAMES = (WHOLE_SERVER, *SERVICE_NAMES)

_List: type[Message] = health_pb2.HealthListResponse  # type: ignore[attr-defined]  # the type stubs are older


class Health(health.aio.HealthServicer):
    """Also answers List, which Python's gRPC leaves out. `beside` are the names of what is told beside the services."""

    def __init__(self) -> None:
        super().__init__()
        self.beside: list[str] = []

    async def List(self, request: Message, context: Context) -> Message:  # noqa: N802 - gRPC's name
        checks = {name: health_pb2.HealthCheckRequest(service=name) for name in (*NAMES, *self.beside)}
        statuses = {name: await self.Check(check, context) for name, check in checks.items()}
        return _List(statuses=statuses)


class Readiness:
    """Whether the service is starting, ready or stopping; it is SERVING only while it is ready and its storage is
    sound. The wiring says when. Calls are answered while the storage is not, as far as they can be."""

    def __init__(self, servicer: Health) -> None:
        self.servicer = servicer
        self.started = False
        self.stopping = False

    @classmethod
    async def starting(cls) -> "Readiness":
        """The readiness of a service that is just starting."""
        readiness = cls(Health())
        await readiness._set(health_pb2.HealthCheckResponse.NOT_SERVING)
        return readiness

    async def set_ready(self) -> None:
        """Calls are answered from now on. Changes nothing once the service is stopping."""
        self.started = True
        await self._set(health_pb2.HealthCheckResponse.SERVING)

    async def set_sound(self, sound: bool) -> None:
        """Whether the storage of a ready service is sound."""
        await self._set(_status(sound))

    async def set_reachable(self, name: str, reachable: bool) -> None:
        """Tells of something that the service works with and goes on without, by a name of its own."""
        if name not in self.servicer.beside:
            self.servicer.beside.append(name)
        await self.servicer.set(name, _status(reachable))

    async def enter_shutdown(self) -> None:
        """No new work is accepted from now on."""
        self.stopping = True
        await self.servicer.enter_graceful_shutdown()

    async def _set(self, status: int) -> None:
        for name in NAMES:
            await self.servicer.set(name, status)


def _status(is_well: bool) -> int:
    response = health_pb2.HealthCheckResponse
    return response.SERVING if is_well else response.NOT_SERVING


V1ALPHA = "grpc.reflection.v1alpha"
V1 = "grpc.reflection.v1"
SERVICE = "ServerReflection"


def add_reflection(server: grpc.aio.Server) -> None:
    """Adds reflection, which lists the services of the contract, health and reflection itself. It also knows the
    messages of error details, so that generic clients can show them."""
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
    """A descriptor pool that also finds methods by their names, which the protocol asks for and protobuf's pool does
    not do."""

    def __init__(self, pool: DescriptorPool) -> None:
        self._pool = pool

    def __getattr__(self, name: str) -> Any:
        return getattr(self._pool, name)

    def FindFileContainingSymbol(self, symbol: str) -> FileDescriptor:  # noqa: N802 - protobuf's name
        """Raises KeyError if there is no such symbol."""
        try:
            return self._pool.FindFileContainingSymbol(symbol)
        except KeyError:
            return self._pool.FindMethodByName(symbol).containing_service.file


def _pool() -> DescriptorPool:
    """A new pool with the descriptors of everything that is served."""
    pool = DescriptorPool()
    others = (health_pb2, reflection_pb2, error_details_pb2, status_pb2)
    files = [service.file for service in SERVICES] + [module.DESCRIPTOR for module in others]
    _add(pool, files, set())
    pool.Add(_v1_file())
    return pool


def _add(pool: DescriptorPool, files: Iterable[FileDescriptor], added: set[str]) -> None:
    """Adds each file once, after the files that it imports."""
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
