"""The server of the contract over a real channel, around parts that a test chooses."""

from collections.abc import AsyncIterator, Awaitable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import grpc
from google.protobuf.message import Message
from google.rpc import error_details_pb2, status_pb2  # type: ignore[import-untyped]
from grpc_status import rpc_status
from opentelemetry.trace import TracerProvider

from proviso_service.agent.rebuilding import RequestRebuilder
from proviso_service.api.domain import Domain, Limits
from proviso_service.api.readiness import Readiness
from proviso_service.api.server import add_services, create_server, listen
from proviso_service.backends.sql.database import Database
from proviso_service.backends.sql.sessions import SqlContentStore, SqlSessionStore
from proviso_service.backends.sql.turns import SqlTurnStore
from proviso_service.context.catalog.holder import CatalogHolder
from proviso_service.settings import ServerSettings
from proviso_service.turns import TurnConfig, TurnProgram, Turns
from tests.support.catalogs import holding
from tests.support.migrated import state_in
from tests.turns.scripted import emits

NO_DOMAIN = Domain(*[cast(Any, None)] * 13)
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
        return self.domain.turns


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
    limits = Limits(settings, upload_idle_s=5, chat_models=("scripted",))
    absent = cast(Any, None)
    try:
        yield Domain(
            turns=engine,
            sessions=SqlSessionStore(database),
            matters=absent,
            retriever=absent,
            documentation=absent,
            index=absent,
            analysis=absent,
            extraction=absent,
            classification=absent,
            limits=limits,
            catalog=held,
            preview=absent,
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
    server = create_server(settings, readiness, tracer_provider, **limits)
    add_services(server, domain, readiness)
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
        detail: Message = getattr(error_details_pb2, name)()
        assert packed.Unpack(detail)
        details[name] = detail
    return details
