"""The connection of a command to a Proviso server, and what failed calls mean to a person."""

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass

import grpc
import grpc.aio
from grpc_health.v1 import health_pb2, health_pb2_grpc

from proviso_client import AsyncClient, AsyncTurn, ProvisoError, RetryPolicy
from proviso_client.errors import (
    BrokenStream,
    DeadlineExceeded,
    InvalidIql,
    SessionBusy,
    Silent,
    Unauthenticated,
    Unavailable,
    error_from,
)
from proviso_client.v1 import chat_pb2, matters_pb2
from proviso_service.cli.output import CommandError, UsageProblem
from proviso_service.cli.server_options import Server
from proviso_service.spelling import near_misses

DOCUMENTATION = "documentation"
"""The contract's word for the documentation, in the place of a matter's id."""

CALL_TIMEOUT_S = 30.0
HEALTH_TIMEOUT_S = 5.0
# A chat with a server that goes silent ends within a minute. The server sends a heartbeat every 15 s while it has
# nothing to say, so that 25 s of silence mean that the connection or the server is dead. The stream is opened once
# more; RETRIES gives up sooner than SILENCE_S, which makes a second silence the last.
SILENCE_S = 25.0
RETRIES = RetryPolicy(give_up_after_s=20.0)
CHANNEL_OPTIONS = (("grpc.min_reconnect_backoff_ms", 5_000),)
"""How long one attempt to connect may take; 20 s is gRPC's own choice."""


@dataclass(frozen=True, slots=True)
class Connection:
    """A client, and its server, which failures name."""

    server: Server
    client: AsyncClient

    def explain(self, error: ProvisoError) -> str:
        """Says in one line what a failed call means."""
        return _explain(error, self.server)

    @contextmanager
    def explaining_failures(self) -> Iterator[None]:
        """Raises CommandError for each call that fails inside the block."""
        try:
            yield
        except ProvisoError as error:
            raise CommandError(self.explain(error)) from error


@asynccontextmanager
async def connect(server: Server) -> AsyncIterator[Connection]:
    """Connects to a server that says of itself that it is serving.

    Raises UsageProblem for a malformed address and for credentials that cannot be used, and CommandError when there is
    no such server or when a call inside the block fails.
    """
    server.check()
    try:
        client = AsyncClient(
            server.address,
            token=server.token,
            credentials=server.tls_credentials(),
            insecure=True,
            timeout_s=CALL_TIMEOUT_S,
            retries=RETRIES,
            silence_s=SILENCE_S,
            options=CHANNEL_OPTIONS,
        )
    except ValueError as error:
        raise UsageProblem(f"The token is not sent to {server.address} without encryption: give --tls") from error
    async with client:
        await check_health(server)
        connection = Connection(server, client)
        with connection.explaining_failures():
            yield connection


async def is_listening(server: Server) -> bool:
    """Tells whether anything answers at an address. Raises UsageProblem for a malformed one."""
    server.check()
    try:
        await is_serving(server)
    except grpc.aio.AioRpcError as error:
        return error.code() is not grpc.StatusCode.UNAVAILABLE or _tls_fault(error_from(error)) != ""
    return True


async def is_serving(server: Server) -> bool:
    """Asks the server at an address once whether it is serving. Raises AioRpcError when it does not answer."""
    tls = server.tls_credentials()
    address = server.address
    async with grpc.aio.secure_channel(address, tls.load()) if tls else grpc.aio.insecure_channel(address) as channel:
        stub = health_pb2_grpc.HealthStub(channel)
        answer = await stub.Check(  # type: ignore[attr-defined]
            health_pb2.HealthCheckRequest(), timeout=HEALTH_TIMEOUT_S
        )
    return bool(answer.status == health_pb2.HealthCheckResponse.SERVING)


async def check_health(server: Server) -> None:
    """Raises UsageProblem for a malformed address, and CommandError unless a server there says that it is serving."""
    server.check()
    try:
        serving = await is_serving(server)
    except grpc.aio.AioRpcError as error:
        if error.code() is grpc.StatusCode.UNIMPLEMENTED:
            raise CommandError(f"The server at {server.address} is not a Proviso server") from error
        raise CommandError(_explain(error_from(error), server)) from error
    if not serving:
        state = "is not serving: it is starting or stopping; try again shortly"
        raise CommandError(f"The server at {server.address} {state}")


def _explain(error: ProvisoError, server: Server) -> str:
    if isinstance(error, SessionBusy):
        return "This session is answering another message; wait for it to end, or use another --session"
    if not error.reason:
        return _explain_connection(error, server)
    if isinstance(error, Unauthenticated) and not server.token:
        return f"The server at {server.address} asks for a credential: set PROVISO_TOKEN to an API key or a token"
    if isinstance(error, InvalidIql):
        return error.message  # it names every fault of the query, each with its remedy
    violations = error.details.violations
    return "; ".join(f"{violation.field}: {violation.description}" for violation in violations) or error.message


def _explain_connection(error: ProvisoError, server: Server) -> str:
    """Explains a failure that the service did not report itself."""
    address = server.address
    match error:
        case Silent():
            return f"The server at {address} has gone silent. {error.message}"
        case Unavailable():
            fault = _tls_fault(error)
            absent = f"No Proviso server is reachable at {address}; start one with: proviso serve"
            return f"The server at {address} {fault}" if fault else absent
        case DeadlineExceeded():
            return f"The server at {address} did not answer in time"
        case BrokenStream():
            return f"The server at {address} does not send the whole answer: {error.message}"
    if error.code is grpc.StatusCode.UNIMPLEMENTED:
        return f"The server at {address} does not offer this call: {error.message}"
    return f"The server at {address} failed the call with {error.code.name}: {error.message}"


_TLS_FAULTS = (
    ("certificate has expired", "has a certificate that has expired"),
    ("CERTIFICATE_VERIFY_FAILED", "has a certificate that is not trusted: name its authority by --tls-ca"),
    ("certificate signature failure", "has a certificate that is not trusted: name its authority by --tls-ca"),
    ("Hostname Verification Check failed", "has a certificate for another name: use that in --address"),
    ("is not in peer certificate", "has a certificate for another name: use that in --address"),
    ("WRONG_VERSION_NUMBER", "does not encrypt: leave --tls and --tls-ca out"),
    ("Socket closed", "closes connections: it may ask for TLS (--tls-ca) or for a certificate (--tls-cert)"),
)


def _tls_fault(error: ProvisoError) -> str:
    """Returns what of TLS keeps a connection from being made, or nothing. Only gRPC's words tell it."""
    return next((fault for words, fault in _TLS_FAULTS if words in error.message), "")


async def events_of(turn: AsyncTurn) -> AsyncIterator[chat_pb2.AgentEvent]:
    """Reads a turn to its end, and yields each of its events from turn_start to final_state."""
    async for _ in turn:
        if turn.last_event is not None:
            yield turn.last_event


async def find_matter(client: AsyncClient, name: str) -> matters_pb2.Matter:
    """Returns the newest matter of this name. Raises CommandError, which lists similar names, when there is none."""
    if matter := await newest_matter(client, name):
        return matter
    names = [matter.name async for matter in client.matters.list()]
    raise CommandError(f"There is no matter {name!r}{_similar(name, names, 'Matters')}")


async def newest_matter(client: AsyncClient, name: str) -> matters_pb2.Matter | None:
    """Returns the newest matter of exactly this name, or None when there is none."""
    async for matter in client.matters.list(name=name, page_size=1):
        return matter
    return None


async def find_document(client: AsyncClient, matter: matters_pb2.Matter, filename: str) -> matters_pb2.Document:
    """Returns the newest document of this file name, compared without case.

    Raises CommandError, which lists similar names, when there is none.
    """
    documents = [document async for document in client.documents.list(matter.matter_id)]
    for document in reversed(documents):
        if document.filename.casefold() == filename.casefold():
            return document
    names = [document.filename for document in documents]
    raise CommandError(f"Matter {matter.name!r} has no document {filename!r}{_similar(filename, names, 'Documents')}")


def _similar(name: str, names: list[str], kind: str) -> str:
    """Ends a sentence with the names that are similar to the one asked for, or else with the first few that exist."""
    if not names:
        return f"; there are no {kind.lower()} yet"
    known = dict.fromkeys(reversed(names))
    close = near_misses(name, known)
    close += [one for one in known if name.casefold() in one.casefold() and one not in close][:3]
    if close:
        return "; near names: " + ", ".join(map(repr, close))
    return f"; {kind.lower()} are: " + ", ".join(repr(one) for one in names[:5])
