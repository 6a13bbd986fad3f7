"""The connection to a Proviso server, and what its failures mean to a person. Knows the contract only."""

import difflib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

import grpc
import grpc.aio
from google.rpc import error_details_pb2, status_pb2  # type: ignore[import-untyped]
from grpc_health.v1 import health_pb2, health_pb2_grpc

from proviso_client.v1 import chat_pb2_grpc, matters_pb2, matters_pb2_grpc, sessions_pb2_grpc, tools_pb2_grpc
from proviso_service.cli.problems import CommandError, UsageProblem

DEFAULT_ADDRESS = "127.0.0.1:50051"
DOCUMENTATION = "documentation"
"""Stands for the documentation where the contract asks for a matter's id."""
CALL_TIMEOUT_S = 20.0
HEALTH_TIMEOUT_S = 5.0
PAGE_SIZE = 100
MAX_PAGES = 50
CHANNEL_OPTIONS = (("grpc.max_reconnect_backoff_ms", 2_000), ("grpc.enable_retries", 0))


@dataclass(frozen=True, slots=True)
class Failure:
    """A failed call: its status, and the details that Proviso sends with one (see errors.proto). `turn_id` is the turn
    that keeps a session busy."""

    code: grpc.StatusCode
    message: str
    reason: str = ""
    violations: tuple[str, ...] = ()
    retry_after_s: float | None = None
    turn_id: str = ""


@dataclass(frozen=True, slots=True)
class Client:
    """Stubs over one channel."""

    address: str
    channel: grpc.aio.Channel
    chat: "chat_pb2_grpc.ChatServiceAsyncStub"
    matters: "matters_pb2_grpc.MatterServiceAsyncStub"
    sessions: "sessions_pb2_grpc.SessionServiceAsyncStub"
    tools: "tools_pb2_grpc.ToolServiceAsyncStub"


@asynccontextmanager
async def connect(address: str) -> AsyncIterator[Client]:
    """A client whose server has said that it serves. Failed calls leave the block as CommandError."""
    check_address(address)
    async with grpc.aio.insecure_channel(address, options=CHANNEL_OPTIONS) as channel:
        try:
            await _check_health(channel, address)
            yield Client(
                address,
                channel,
                chat_pb2_grpc.ChatServiceStub(channel),
                matters_pb2_grpc.MatterServiceStub(channel),
                sessions_pb2_grpc.SessionServiceStub(channel),
                tools_pb2_grpc.ToolServiceStub(channel),
            )
        except grpc.aio.AioRpcError as error:
            raise CommandError(explain(error, address)) from error


def check_address(address: str) -> None:
    """Raises UsageProblem unless it reads host:port."""
    host, separator, port = address.rpartition(":")
    if not (separator and host and port.isdecimal() and 0 < int(port) < 65_536):
        raise UsageProblem(f"--address must be host:port, for example {DEFAULT_ADDRESS}, not {address!r}")


async def is_listening(address: str) -> bool:
    """Whether anything answers there. Raises UsageProblem for what is no address."""
    check_address(address)
    async with grpc.aio.insecure_channel(address, options=CHANNEL_OPTIONS) as channel:
        try:
            await is_serving(channel)
        except grpc.aio.AioRpcError as error:
            return error.code() is not grpc.StatusCode.UNAVAILABLE
    return True


async def is_serving(channel: grpc.aio.Channel) -> bool:
    """Whether the server at the other end says that it serves. Raises AioRpcError."""
    stub = health_pb2_grpc.HealthStub(channel)
    answer = await stub.Check(health_pb2.HealthCheckRequest(), timeout=HEALTH_TIMEOUT_S)  # type: ignore[attr-defined]
    return bool(answer.status == health_pb2.HealthCheckResponse.SERVING)


async def _check_health(channel: grpc.aio.Channel, address: str) -> None:
    try:
        serving = await is_serving(channel)
    except grpc.aio.AioRpcError as error:
        if error.code() is grpc.StatusCode.UNIMPLEMENTED:
            raise CommandError(f"The server at {address} is not a Proviso server") from error
        raise
    if not serving:
        raise CommandError(f"The server at {address} is not serving: it is starting or stopping; try again shortly")


def failure(error: grpc.aio.AioRpcError) -> Failure:
    """Reads the google.rpc details of a failed call; what cannot be read is left out."""
    reason, turn_id, retry_after_s = "", "", None
    violations: tuple[str, ...] = ()
    for detail in _status(error).details:
        if detail.Is(error_details_pb2.ErrorInfo.DESCRIPTOR):
            info = error_details_pb2.ErrorInfo.FromString(detail.value)
            reason, turn_id = info.reason, info.metadata.get("turn_id", "")
        elif detail.Is(error_details_pb2.BadRequest.DESCRIPTOR):
            request = error_details_pb2.BadRequest.FromString(detail.value)
            violations = tuple(f"{v.field}: {v.description}" for v in request.field_violations)
        elif detail.Is(error_details_pb2.RetryInfo.DESCRIPTOR):
            delay = error_details_pb2.RetryInfo.FromString(detail.value).retry_delay
            retry_after_s = delay.ToNanoseconds() / 1e9
    return Failure(error.code(), error.details() or "", reason, violations, retry_after_s, turn_id)


def _status(error: grpc.aio.AioRpcError) -> status_pb2.Status:
    for key, value in error.trailing_metadata() or ():
        if key == "grpc-status-details-bin" and isinstance(value, bytes):
            try:
                return status_pb2.Status.FromString(value)
            except ValueError:
                break
    return status_pb2.Status()


def is_transient(error: grpc.aio.AioRpcError) -> bool:
    """Whether the same call can succeed a little later: a cut connection, a replica that stops, a full server."""
    if error.code() is grpc.StatusCode.UNAVAILABLE:
        return True
    if error.code() is grpc.StatusCode.RESOURCE_EXHAUSTED:
        return failure(error).reason == "TOO_BUSY"
    return (
        error.code() is grpc.StatusCode.INTERNAL
        and not failure(error).reason
        and "RST_STREAM" in (error.details() or "")
    )


def explain(error: grpc.aio.AioRpcError, address: str) -> str:
    """One clear line for a failed call."""
    found = failure(error)
    if found.reason == "SESSION_BUSY":
        return "This session is answering another message; wait for it to end, or use another --session"
    if found.reason:
        # An IQL query's faults are told in the message, with their remedies.
        return found.message if found.reason == "INVALID_IQL" else "; ".join(found.violations) or found.message
    if found.code is grpc.StatusCode.UNAVAILABLE:
        return f"No Proviso server is reachable at {address}; start one with: proviso serve"
    if found.code is grpc.StatusCode.DEADLINE_EXCEEDED:
        return f"The server at {address} did not answer in time"
    if found.code is grpc.StatusCode.UNIMPLEMENTED:
        return f"The server at {address} does not offer this call: {found.message}"
    return f"The server at {address} failed the call with {found.code.name}: {found.message}"


async def find_matter(client: Client, name: str) -> matters_pb2.Matter:
    """The newest matter of this name. Raises CommandError that names near ones."""
    if matter := await newest_matter(client, name):
        return matter
    names = [matter.name async for matter in _all_matters(client)]
    raise CommandError(f"There is no matter {name!r}{_near(name, names, 'Matters')}")


async def newest_matter(client: Client, name: str) -> matters_pb2.Matter | None:
    """The newest matter of exactly this name."""
    request = matters_pb2.ListMattersRequest(name=name, page_size=1)
    answer = await client.matters.ListMatters(request, timeout=CALL_TIMEOUT_S)
    return answer.matters[0] if answer.matters else None


async def create_matter(client: Client, name: str) -> matters_pb2.Matter:
    answer = await client.matters.CreateMatter(matters_pb2.CreateMatterRequest(name=name), timeout=CALL_TIMEOUT_S)
    return answer.matter


async def find_document(client: Client, matter: matters_pb2.Matter, filename: str) -> matters_pb2.Document:
    """The newest document of this file name, compared without case. Raises CommandError that names near ones."""
    documents = [document async for document in all_documents(client, matter.matter_id)]
    for document in reversed(documents):
        if document.filename.casefold() == filename.casefold():
            return document
    names = [document.filename for document in documents]
    raise CommandError(f"Matter {matter.name!r} has no document {filename!r}{_near(filename, names, 'Documents')}")


async def _all_matters(client: Client) -> AsyncIterator[matters_pb2.Matter]:
    token = ""
    for _ in range(MAX_PAGES):
        request = matters_pb2.ListMattersRequest(page_size=PAGE_SIZE, page_token=token)
        page = await client.matters.ListMatters(request, timeout=CALL_TIMEOUT_S)
        for matter in page.matters:
            yield matter
        token = page.next_page_token
        if not token:
            return


async def all_documents(client: Client, matter_id: str) -> AsyncIterator[matters_pb2.Document]:
    """In the order of upload; of very many the first."""
    token = ""
    for _ in range(MAX_PAGES):
        request = matters_pb2.ListDocumentsRequest(matter_id=matter_id, page_size=PAGE_SIZE, page_token=token)
        page = await client.matters.ListDocuments(request, timeout=CALL_TIMEOUT_S)
        for document in page.documents:
            yield document
        token = page.next_page_token
        if not token:
            return


def _near(name: str, names: list[str], kind: str) -> str:
    """The end of a sentence: names close to the one asked for, or else the first few there are."""
    if not names:
        return f"; there are no {kind.lower()} yet"
    by_folded = {known.casefold(): known for known in reversed(names)}
    close = difflib.get_close_matches(name.casefold(), list(by_folded), n=3, cutoff=0.5)
    close += [folded for folded in by_folded if name.casefold() in folded and folded not in close][:3]
    if close:
        return "; near names: " + ", ".join(repr(by_folded[folded]) for folded in close)
    return f"; {kind.lower()} are: " + ", ".join(repr(known) for known in names[:5])
