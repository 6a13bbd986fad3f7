"""The services of the contract."""

from google.protobuf.descriptor import ServiceDescriptor

from proviso_client.v1 import catalog_pb2, chat_pb2, maintenance_pb2, matters_pb2, sessions_pb2, tools_pb2

SERVICES: tuple[ServiceDescriptor, ...] = tuple(
    service
    for module in (chat_pb2, sessions_pb2, catalog_pb2, matters_pb2, tools_pb2, maintenance_pb2)
    for service in module.DESCRIPTOR.services_by_name.values()
)
SERVICE_NAMES = tuple(service.full_name for service in SERVICES)
