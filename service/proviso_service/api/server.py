"""The gRPC server."""

import ipaddress
import resource
from collections.abc import Mapping
from dataclasses import dataclass
from typing import cast

import grpc
import structlog
from grpc_health.v1 import health_pb2_grpc
from opentelemetry.trace import TracerProvider

from proviso_client.v1.access_pb2_grpc import add_AccessServiceServicer_to_server
from proviso_client.v1.catalog_pb2_grpc import add_CatalogServiceServicer_to_server
from proviso_client.v1.chat_pb2_grpc import add_ChatServiceServicer_to_server
from proviso_client.v1.maintenance_pb2_grpc import add_MaintenanceServiceServicer_to_server
from proviso_client.v1.matters_pb2_grpc import add_MatterServiceServicer_to_server
from proviso_client.v1.sessions_pb2_grpc import add_SessionServiceServicer_to_server
from proviso_client.v1.tools_pb2_grpc import add_ToolServiceServicer_to_server
from proviso_service.api.access import AccessServicer
from proviso_service.api.catalog import CatalogServicer
from proviso_service.api.chat import ChatServicer
from proviso_service.api.interceptors import CallInterceptor, Middleware
from proviso_service.api.interceptors.authentication import AccessControl
from proviso_service.api.interceptors.chain import errors
from proviso_service.api.interceptors.limits import CallsOfCaller, Deadlines, Gate, RunningCalls
from proviso_service.api.interceptors.observation import CallSpans, access_log, request_ids
from proviso_service.api.maintenance import MaintenanceServicer
from proviso_service.api.matters import MatterServicer
from proviso_service.api.sessions import SessionServicer
from proviso_service.api.standard_services import Readiness, add_reflection
from proviso_service.api.tls import UnusableCertificate, server_credentials
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


MAX_CALLS_OF_CONNECTION = 1_024
"""Calls of one connection that may run or wait; a client's library holds further ones back."""

MAX_CALLS_WAITING = 8_192
"""Calls that wait for their turn. gRPC cancels calls of anybody from a thousand on, where one caller sends too many."""

MAX_CONNECTIONS = 4_096

_INSECURE = "everybody on the network can read and change what passes, or act as anybody"

_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class ConnectionTimes:
    """How long connections last, in seconds. One without calls is closed after `idle_s`. One of `age_s` takes no more
    calls, and those that run have `age_grace_s` to end: clients connect again by themselves, and find the replicas that
    were added meanwhile. A turn that waits for a person ends within the grace time."""

    idle_s: float = 5 * 60.0
    age_s: float = 60 * 60.0
    age_grace_s: float = 15 * 60.0


class CannotListen(Exception):
    """The address is taken, cannot be used, or may not be used without TLS; the message is for the operator."""


def create_server(
    settings: ServerSettings,
    readiness: Readiness,
    access: AccessControl,
    tracer_provider: TracerProvider | None = None,
    *,
    unary_timeout_s: float = UNARY_TIMEOUT_S,
    max_request_bytes: int = MAX_REQUEST_BYTES,
    max_calls_running: int = MAX_CALLS_RUNNING,
    connections: ConnectionTimes | None = None,
) -> grpc.aio.Server:
    """A server without a port (see `listen`) and without services (see `add_services`), not started; `access` may be
    opened later. Call inside the event loop that it will run in."""
    middlewares = _middlewares(settings, readiness, tracer_provider, unary_timeout_s, max_calls_running)
    share = CallsOfCaller(max_calls_running - max_calls_running // 4)
    return grpc.aio.server(
        interceptors=[CallInterceptor([*middlewares, access, share], access.admit)],
        options=_options(max_request_bytes, connections or ConnectionTimes()),
    )


@dataclass(frozen=True, slots=True)
class Servicers:
    """One servicer for each service of the contract."""

    access: AccessServicer
    chat: ChatServicer
    sessions: SessionServicer
    catalog: CatalogServicer
    matters: MatterServicer
    tools: ToolServicer
    maintenance: MaintenanceServicer


class _HandlersByName:
    """Stands for a server where generated code adds handlers, and gives it those that are found by a call's name. The
    code adds each method by itself, too: for each of them gRPC keeps a task, and it looks at all at every call, which
    took a twentieth of a short turn's time on the event loop."""

    def __init__(self, server: grpc.aio.Server) -> None:
        self.add_generic_rpc_handlers = server.add_generic_rpc_handlers

    def add_registered_method_handlers(self, _service: str, _handlers: Mapping[str, object]) -> None:
        """Leaves them out."""


def add_services(
    server: grpc.aio.Server, servicers: Servicers, readiness: Readiness, *, reflection: bool = True
) -> None:
    """Adds the services of the contract, health, and reflection where it is wanted."""
    by_name = cast(grpc.aio.Server, _HandlersByName(server))
    add_AccessServiceServicer_to_server(servicers.access, by_name)
    add_ChatServiceServicer_to_server(servicers.chat, by_name)
    add_SessionServiceServicer_to_server(servicers.sessions, by_name)
    add_CatalogServiceServicer_to_server(servicers.catalog, by_name)
    add_MatterServiceServicer_to_server(servicers.matters, by_name)
    add_ToolServiceServicer_to_server(servicers.tools, by_name)
    add_MaintenanceServiceServicer_to_server(servicers.maintenance, by_name)
    health_pb2_grpc.add_HealthServicer_to_server(readiness.servicer, by_name)
    if reflection:
        add_reflection(server)


def listen(server: grpc.aio.Server, settings: ServerSettings, *, is_open: bool = True) -> int:
    """Opens the settings' address, with TLS where they name a certificate; returns the port. `is_open` says that no
    credentials are asked for. Raises CannotListen."""
    try:
        credentials = server_credentials(settings)
    except UnusableCertificate as error:
        raise CannotListen(str(error)) from error
    lacking = [*(["encrypted"] if credentials is None else []), *(["authenticated"] if is_open else [])]
    if lacking and not _is_loopback(settings.host):
        if not settings.insecure:
            raise CannotListen(
                f"{settings.host} is reachable from other machines: calls would not be {' or '.join(lacking)}. Set "
                "server.tls_cert and server.tls_key, and auth.api_keys, auth.jwks or auth.peers_file; or use a "
                "loopback address, or allow this with --insecure"
            )
        _log.warning("INSECURE", address=settings.host, calls_are_not=lacking, meaning=_INSECURE)
    host = f"[{settings.host}]" if ":" in settings.host else settings.host
    address = f"{host}:{settings.port}"
    try:
        return server.add_secure_port(address, credentials) if credentials else server.add_insecure_port(address)
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


def _options(max_request_bytes: int, connections: ConnectionTimes) -> list[tuple[str, int]]:
    return [
        ("grpc.max_receive_message_length", max_request_bytes),
        ("grpc.max_send_message_length", MAX_SEND_BYTES),
        ("grpc.max_concurrent_streams", MAX_CALLS_OF_CONNECTION),
        ("grpc.server.max_pending_requests", MAX_CALLS_WAITING),
        ("grpc.server.max_pending_requests_hard_limit", 2 * MAX_CALLS_WAITING),
        # A connection that does not say what it wants holds a file open.
        ("grpc.server_handshake_timeout_ms", 10_000),
        ("grpc.max_allowed_incoming_connections", _most_connections()),
        ("grpc.max_connection_idle_ms", round(connections.idle_s * 1e3)),
        ("grpc.max_connection_age_ms", round(connections.age_s * 1e3)),
        ("grpc.max_connection_age_grace_ms", round(connections.age_grace_s * 1e3)),
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


def _most_connections() -> int:
    """At most half of the files that the process may have open: the rest is for documents, the state and models. The
    process takes as many as the system lets it have."""
    open_files, allowed = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = 2 * MAX_CONNECTIONS
    if open_files != resource.RLIM_INFINITY and open_files < wanted:
        open_files = wanted if allowed == resource.RLIM_INFINITY else min(wanted, allowed)
        resource.setrlimit(resource.RLIMIT_NOFILE, (open_files, allowed))
    return MAX_CONNECTIONS if open_files == resource.RLIM_INFINITY else min(MAX_CONNECTIONS, open_files // 2)


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
