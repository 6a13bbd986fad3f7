"""The server of the contract over a real channel, around parts that a test chooses."""

import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import grpc
from google.protobuf.message import Message
from google.rpc import error_details_pb2, status_pb2  # type: ignore[import-untyped]
from grpc_status import rpc_status
from opentelemetry.trace import TracerProvider

from proviso_client.v1.tools_pb2 import IqlFaults
from proviso_service.access import AuditTrail, Authorisation
from proviso_service.agent.rebuilding import RequestRebuilder
from proviso_service.api.access import AccessServicer
from proviso_service.api.catalog import CatalogServicer
from proviso_service.api.chat import ChatServicer
from proviso_service.api.interceptors.authentication import AccessControl, Open
from proviso_service.api.maintenance import MaintenanceServicer
from proviso_service.api.matters import MatterServicer
from proviso_service.api.request_models import Identify, RequestLimits, acting_caller
from proviso_service.api.server import Servicers, add_services, create_server, listen
from proviso_service.api.sessions import SessionServicer
from proviso_service.api.standard_services import Readiness
from proviso_service.api.tools import ToolServicer
from proviso_service.backends.sql.database import Database
from proviso_service.backends.sql.sessions import SqlContentStore, SqlSessionStore
from proviso_service.backends.sql.turns import SqlTurnStore
from proviso_service.context.catalog.catalog import CatalogHolder
from proviso_service.context.catalog.items import ServerStatus
from proviso_service.settings import ServerSettings
from proviso_service.turns import TurnConfig, TurnProgram, Turns
from tests.support.catalogs import holding
from tests.support.members import EVERYBODY, NOT_KEPT
from tests.support.migrated import state_in
from tests.turns.scripted import emits

UPLOAD_IDLE_S = 5.0
LIMITS = RequestLimits(TurnConfig(), chat_models=("scripted",))


@dataclass(frozen=True)
class Domain:
    """The parts of the service that its servicers use; what a test does not need is absent."""

    turns: Any = None
    sessions: Any = None
    matters: Any = None
    members: Any = EVERYBODY
    audit: Any = NOT_KEPT
    deletions: Any = None
    retriever: Any = None
    documentation: Any = None
    catalog: Any = None
    rebuilder: Any = None
    limits: RequestLimits = LIMITS
    identify: Identify = acting_caller
    tool_servers: Callable[[], Sequence[ServerStatus]] = tuple

    @property
    def servicers(self) -> Servicers:
        absent: Any = None
        return Servicers(
            chat=ChatServicer(self.turns, self.catalog, self.limits, self.identify),
            sessions=SessionServicer(self.sessions, self.catalog, absent, self.rebuilder, self.limits, self.identify),
            catalog=CatalogServicer(self.catalog, self.tool_servers),
            access=AccessServicer(absent, self.audit, self.deletions, self.identify),
            matters=MatterServicer(self.matters, self.members, self.sessions, self.identify, UPLOAD_IDLE_S),
            tools=ToolServicer(
                self.matters,
                self.retriever,
                self.documentation,
                absent,
                absent,
                absent,
                self.limits.turns.tool_result_chars,
                self.identify,
            ),
            maintenance=MaintenanceServicer(absent, absent, absent, self.sessions),
        )


NO_DOMAIN = Domain()
"""For tests of what happens around any call."""

QUICK = ServerSettings(port=0)
NO_WAIT = emits()


@dataclass(frozen=True)
class Served:
    """A served domain; `turns` is its engine."""

    port: int
    channel: grpc.aio.Channel
    domain: Domain
    readiness: Readiness
    server: grpc.aio.Server

    @property
    def turns(self) -> Turns:
        turns: Turns = self.domain.turns
        return turns


@asynccontextmanager
async def conversations(
    folder: Path,
    program: TurnProgram = NO_WAIT,
    turns: TurnConfig | None = None,
    catalog: CatalogHolder | None = None,
) -> AsyncIterator[Domain]:
    """Turns that run `program`, and sessions, in a database in `folder`. Matters and search are not there."""
    settings = turns or TurnConfig()
    database = Database(state_in(folder))
    store, held = SqlTurnStore(database), catalog or holding()
    engine = Turns(program, store, settings, owner="test", max_running=100)
    await engine.open()
    try:
        yield Domain(
            turns=engine,
            sessions=SqlSessionStore(database),
            limits=RequestLimits(settings, chat_models=("scripted",)),
            catalog=held,
            rebuilder=RequestRebuilder(store, SqlContentStore(database), held),
        )
    finally:
        await engine.close()
        await database.close()


@asynccontextmanager
async def served(
    domain: Domain,
    settings: ServerSettings = QUICK,
    tracer_provider: TracerProvider | None = None,
    *,
    ready: bool = True,
    extra: Sequence[grpc.GenericRpcHandler] = (),
    **limits: Any,
) -> AsyncIterator[Served]:
    """The domain behind a server on a free port, with a channel to it; `extra` services are served
    beside it, and `limits` are given to `create_server`."""
    readiness = await Readiness.starting()
    access = AccessControl()
    access.open(Open(), Authorisation(domain.members), AuditTrail(domain.audit, time.monotonic))
    server = create_server(settings, readiness, access, tracer_provider, **limits)
    add_services(server, domain.servicers, readiness)
    server.add_generic_rpc_handlers(extra)
    port = listen(server, settings)
    await server.start()
    if ready:
        await readiness.set_ready()
    try:
        async with grpc.aio.insecure_channel(f"127.0.0.1:{port}") as channel:
            yield Served(port, channel, domain, readiness, server)
    finally:
        await server.stop(None)


@dataclass(frozen=True)
class Refusal:
    """A failed call: its code, its message, and its details by type."""

    code: grpc.StatusCode
    message: str
    details: dict[str, Any]
    trailing: dict[str, Any]

    @property
    def reason(self) -> str:
        return str(self.details["ErrorInfo"].reason)

    @property
    def violations(self) -> dict[str, str]:
        return {v.field: v.description for v in self.details["BadRequest"].field_violations}


async def refusal(call: Awaitable[Any]) -> Refusal:
    """How a call that has to fail does so."""
    try:
        answer = await call
    except grpc.aio.AioRpcError as error:
        return refused_with(error)
    raise AssertionError(f"answered {answer}")


def refused_with(error: grpc.aio.AioRpcError) -> Refusal:
    status = rpc_status.from_call(cast(Any, error))
    return Refusal(
        error.code(),
        error.details() or "",
        unpacked(status) if status else {},
        dict(error.trailing_metadata() or ()),
    )


def unpacked(status: status_pb2.Status) -> dict[str, Any]:
    """A status's details by the names of their types."""
    details: dict[str, Any] = {}
    for packed in status.details:
        name = packed.type_url.rpartition(".")[2]
        detail: Message = IqlFaults() if name == "IqlFaults" else getattr(error_details_pb2, name)()
        assert packed.Unpack(detail)
        details[name] = detail
    return details
