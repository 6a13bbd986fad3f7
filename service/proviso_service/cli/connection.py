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
    Unavailable,
    error_from,
)
from proviso_client.v1 import chat_pb2, matters_pb2
from proviso_service.cli.output import CommandError, UsageProblem
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
    """A client, and the address of its server, which failures name."""

    address: str
    client: AsyncClient

    def explain(self, error: ProvisoError) -> str:
        """Says in one line what a failed call means."""
        return _explain(error, self.address)

    @contextmanager
    def explaining_failures(self) -> Iterator[None]:
        """Raises CommandError for each call that fails inside the block."""
        try:
            yield
        except ProvisoError as error:
            raise CommandError(self.explain(error)) from error


@asynccontextmanager
async def connect(address: str) -> AsyncIterator[Connection]:
    """Connects to a server that says of itself that it is serving.

    Raises UsageProblem for a malformed address, and CommandError when there is no such server or when a call inside
    the block fails.
    """
    await check_health(address)
    async with AsyncClient(
        address,
        insecure=True,
        timeout_s=CALL_TIMEOUT_S,
        retries=RETRIES,
        silence_s=SILENCE_S,
        options=CHANNEL_OPTIONS,
    ) as client:
        connection = Connection(address, client)
        with connection.explaining_failures():
            yield connection


def check_address(address: str) -> None:
    """Raises UsageProblem unless the address has the form host:port."""
    host, separator, port = address.rpartition(":")
    if not (separator and host and port.isdecimal() and 0 < int(port) < 65_536):
        raise UsageProblem(f"--address must be host:port, for example 127.0.0.1:50051, not {address!r}")


async def is_listening(address: str) -> bool:
    """Tells whether anything answers at an address. Raises UsageProblem for a malformed one."""
    check_address(address)
    try:
        await is_serving(address)
    except grpc.aio.AioRpcError as error:
        return error.code() is not grpc.StatusCode.UNAVAILABLE
    return True


async def is_serving(address: str) -> bool:
    """Asks the server at an address once whether it is serving. Raises AioRpcError when it does not answer."""
    async with grpc.aio.insecure_channel(address) as channel:
        stub = health_pb2_grpc.HealthStub(channel)
        answer = await stub.Check(  # type: ignore[attr-defined]
            health_pb2.HealthCheckRequest(), timeout=HEALTH_TIMEOUT_S
        )
    return bool(answer.status == health_pb2.HealthCheckResponse.SERVING)


async def check_health(address: str) -> None:
    """Raises UsageProblem for a malformed address, and CommandError unless a server there says that it is serving."""
    check_address(address)
    try:
        serving = await is_serving(address)
    except grpc.aio.AioRpcError as error:
        if error.code() is grpc.StatusCode.UNIMPLEMENTED:
            raise CommandError(f"The server at {address} is not a Proviso server") from error
        raise CommandError(_explain(error_from(error), address)) from error
    if not serving:
        raise CommandError(f"The server at {address} is not serving: it is starting or stopping; try again shortly")


def _explain(error: ProvisoError, address: str) -> str:
    if isinstance(error, SessionBusy):
        return "This session is answering another message; wait for it to end, or use another --session"
    if not error.reason:
        return _explain_connection(error, address)
    if isinstance(error, InvalidIql):
        return error.message  # it names every fault of the query, each with its remedy
    violations = error.details.violations
    return "; ".join(f"{violation.field}: {violation.description}" for violation in violations) or error.message


def _explain_connection(error: ProvisoError, address: str) -> str:
    """Explains a failure that the service did not report itself."""
    match error:
        case Silent():
            return f"The server at {address} has gone silent. {error.message}"
        case Unavailable():
            return f"No Proviso server is reachable at {address}; start one with: proviso serve"
        case DeadlineExceeded():
            return f"The server at {address} did not answer in time"
        case BrokenStream():
            return f"The server at {address} does not send the whole answer: {error.message}"
    if error.code is grpc.StatusCode.UNIMPLEMENTED:
        return f"The server at {address} does not offer this call: {error.message}"
    return f"The server at {address} failed the call with {error.code.name}: {error.message}"


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
