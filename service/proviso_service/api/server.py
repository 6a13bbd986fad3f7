"""The gRPC server."""

import ipaddress
from dataclasses import dataclass

import grpc
from grpc_health.v1 import health_pb2_grpc
from opentelemetry.trace import TracerProvider

from proviso_client.v1.catalog_pb2_grpc import add_CatalogServiceServicer_to_server
from proviso_client.v1.chat_pb2_grpc import add_ChatServiceServicer_to_server
from proviso_client.v1.maintenance_pb2_grpc import add_MaintenanceServiceServicer_to_server
from proviso_client.v1.matters_pb2_grpc import add_MatterServiceServicer_to_server
from proviso_client.v1.sessions_pb2_grpc import add_SessionServiceServicer_to_server
from proviso_client.v1.tools_pb2_grpc import add_ToolServiceServicer_to_server
from proviso_service.api.catalog import CatalogServicer
from proviso_service.api.chat import ChatServicer
from proviso_service.api.interceptors import CallInterceptor, Middleware
from proviso_service.api.interceptors.chain import errors
from proviso_service.api.interceptors.limits import Deadlines, Gate, RunningCalls
from proviso_service.api.interceptors.observation import CallSpans, access_log, request_ids
from proviso_service.api.maintenance import MaintenanceServicer
from proviso_service.api.matters import MatterServicer
from proviso_service.api.sessions import SessionServicer
from proviso_service.api.standard_services import Readiness, add_reflection
from proviso_service.api.tools import ToolServicer
from proviso_service.settings import ServerSettings

MAX_SEND_BYTES = 4 * 1024 * 1024
"""Above what answers are cut to, so that no answer is lost to it."""

TRACER = "proviso_service.api"


UNARY_TIMEOUT_S = 60.0
"""Time limit of a call with one request and one response whose caller sets no deadline."""

MAX_REQUEST_BYTES = 4 * 1024 * 1024
"""Size of the largest message that is accepted."""


MAX_CALLS_RUNNING = 2_048
"""Calls that run at once; the service refuses more with RESOURCE_EXHAUSTED."""


class CannotListen(Exception):
    """The address is taken, cannot be used, or may not be used without TLS; the message is for the operator."""


def create_server(
    settings: ServerSettings,
    readiness: Readiness,
    tracer_provider: TracerProvider | None = None,
    *,
    unary_timeout_s: float = UNARY_TIMEOUT_S,
    max_request_bytes: int = MAX_REQUEST_BYTES,
    max_calls_running: int = MAX_CALLS_RUNNING,
) -> grpc.aio.Server:
    """A server without a port (see `listen`) and without services (see `add_services`), not started. Call inside the
    event loop that it will run in."""
    return grpc.aio.server(
        interceptors=[
            CallInterceptor(_middlewares(settings, readiness, tracer_provider, unary_timeout_s, max_calls_running))
        ],
        options=_options(max_request_bytes),
    )


@dataclass(frozen=True, slots=True)
class Servicers:
    """One servicer for each service of the contract."""

    chat: ChatServicer
    sessions: SessionServicer
    catalog: CatalogServicer
    matters: MatterServicer
    tools: ToolServicer
    maintenance: MaintenanceServicer


def add_services(server: grpc.aio.Server, servicers: Servicers, readiness: Readiness) -> None:
    """Adds the services of the contract, health and reflection."""
    add_ChatServiceServicer_to_server(servicers.chat, server)
    add_SessionServiceServicer_to_server(servicers.sessions, server)
    add_CatalogServiceServicer_to_server(servicers.catalog, server)
    add_MatterServiceServicer_to_server(servicers.matters, server)
    add_ToolServiceServicer_to_server(servicers.tools, server)
    add_MaintenanceServiceServicer_to_server(servicers.maintenance, server)
    health_pb2_grpc.add_HealthServicer_to_server(readiness.servicer, server)
    add_reflection(server)


def listen(server: grpc.aio.Server, settings: ServerSettings) -> int:
    """Opens the settings' address without TLS; returns the port. Raises CannotListen."""
    if not (settings.insecure or _is_loopback(settings.host)):
        raise CannotListen(
            f"{settings.host} is reachable from other machines: calls would be neither encrypted nor authenticated. "
            "Use a loopback address, or allow this with --insecure"
        )
    host = f"[{settings.host}]" if ":" in settings.host else settings.host
    try:
        return server.add_insecure_port(f"{host}:{settings.port}")
    except RuntimeError as error:
        raise CannotListen(
            f"Cannot listen on {host}:{settings.port}: it is in use, or no address of this machine"
        ) from error


def _middlewares(
    settings: ServerSettings,
    readiness: Readiness,
    tracer_provider: TracerProvider | None,
    unary_timeout_s: float,
    max_calls_running: int,
) -> list[Middleware]:
    """In order from the outside: each sees what those after it make of a call."""
    spans = [CallSpans(tracer_provider.get_tracer(TRACER), settings.host)] if tracer_provider else []
    return [
        request_ids,
        *spans,
        access_log,
        errors,
        Gate(readiness),
        RunningCalls(max_calls_running),
        Deadlines(unary_timeout_s),
    ]


def _options(max_request_bytes: int) -> list[tuple[str, int]]:
    return [
        ("grpc.max_receive_message_length", max_request_bytes),
        ("grpc.max_send_message_length", MAX_SEND_BYTES),
        # A port in use is an error, not a second server that gets half of the calls.
        ("grpc.so_reuseport", 0),
        # Clients behind proxies ping often, also between calls; gRPC would close their connections by default.
        ("grpc.http2.min_ping_interval_without_data_ms", 5_000),
        ("grpc.http2.min_recv_ping_interval_without_data_ms", 5_000),
        ("grpc.keepalive_permit_without_calls", 1),
        # Finds clients that vanished without closing their connection.
        ("grpc.keepalive_time_ms", 60_000),
        ("grpc.keepalive_timeout_ms", 20_000),
    ]


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
