"""The whole service with callers of any tenant, and calls of any method by its descriptor."""

import re
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import grpc
from google.protobuf import json_format
from google.protobuf.descriptor import Descriptor, FieldDescriptor, MethodDescriptor
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass

from proviso_client.v1 import matters_pb2 as pb
from proviso_service.api.standard_services import SERVICES
from tests.api.serving import refused_with
from tests.support.running import RunningService, running_service
from tests.support.scripted_model import Step
from tests.support.token_issuer import AUDIENCE, ISSUER, Issuer

METHODS: Sequence[MethodDescriptor] = [method for service in SERVICES for method in service.methods]
TIMEOUT_S = 60
_VOLATILE = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{32,64}|\d{4}-\d\d-\d\dT[\d:.]+Z|\d+\.\d+s")
"""Ids, times and durations, of which each answer has its own."""

Metadata = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Outcome:
    """What a call came to: its status, its details by type, the keys of its trailing metadata, and its messages."""

    code: grpc.StatusCode
    message: str = ""
    details: Mapping[str, str] = field(default_factory=dict)
    trailing: tuple[str, ...] = ()
    answers: tuple[str, ...] = ()

    @property
    def reason(self) -> str:
        found = re.search(r'reason: "(\w+)"', self.details.get("ErrorInfo", ""))
        return found[1] if found else ""


@dataclass(frozen=True)
class Callers:
    """A service and the issuer of its tokens."""

    service: RunningService
    issuer: Issuer

    def token(self, tenant: str, user: str, **claims: Any) -> str:
        return self.issuer.token("EdDSA", tenant=tenant, sub=user, **claims)

    def metadata(self, tenant: str, user: str, **claims: Any) -> Metadata:
        return (("authorization", f"Bearer {self.token(tenant, user, **claims)}"),)

    async def call(self, method: MethodDescriptor, request: Message, metadata: Metadata = ()) -> Outcome:
        return await outcome(self.service.channel, method, request, metadata)

    async def ask(self, name: str, metadata: Metadata, /, **fields: Any) -> Any:
        """The answer to a call that has to succeed; all of them for a stream."""
        method = method_named(name)
        found = await answers(self.service.channel, method, request_of(method, **fields), metadata)
        return found if method.server_streaming else found[0]

    async def matter(self, metadata: Metadata, name: str = "Northwind", **documents: str) -> str:
        """A new matter of the caller with documents that are READY."""
        matter_id: str = (await self.ask("CreateMatter", metadata, name=name)).matter.matter_id
        for filename, text in documents.items():
            await self.upload(metadata, matter_id, f"{filename}.md", text.encode())
        await self.ask("WatchDocuments", metadata, matter_id=matter_id)
        return matter_id

    async def upload(self, metadata: Metadata, matter_id: str, filename: str, content: bytes) -> pb.Document:
        header = pb.UploadHeader(matter_id=matter_id, filename=filename)
        found = await answers(
            self.service.channel,
            method_named("UploadDocument"),
            pb.UploadDocumentRequest(header=header),
            metadata,
            content,
        )
        document: pb.Document = found[0].document
        return document


@asynccontextmanager
async def callers(folder: Path, models_dir: Path, *script: Step, **settings: Any) -> AsyncIterator[Callers]:
    """The service, which accepts the tokens of one issuer."""
    issuer, keys = Issuer(), folder / "keys.json"
    keys.write_bytes(issuer.key_set)
    auth = {"jwks": str(keys), "issuer": ISSUER, "audience": AUDIENCE} | settings.pop("auth", {})
    async with running_service(folder / "data", models_dir, *script, auth=auth, **settings) as service:
        yield Callers(service, issuer)


def method_named(name: str) -> MethodDescriptor:
    (found,) = (method for method in METHODS if method.name == name)
    return found


def request_of(method: MethodDescriptor, /, **fields: Any) -> Message:
    return GetMessageClass(method.input_type)(**fields)


async def answers(
    channel: grpc.aio.Channel,
    method: MethodDescriptor,
    request: Message,
    metadata: Metadata = (),
    content: bytes = b"A",
) -> list[Any]:
    """All messages of a call. `request` is the first one of an upload, and `content` what follows."""
    kinds: dict[tuple[bool, bool], Any] = {
        (False, False): channel.unary_unary,
        (False, True): channel.unary_stream,
        (True, False): channel.stream_unary,
        (True, True): channel.stream_stream,
    }
    path = f"/{method.containing_service.full_name}/{method.name}"
    call = kinds[method.client_streaming, method.server_streaming](
        path,
        request_serializer=GetMessageClass(method.input_type).SerializeToString,
        response_deserializer=GetMessageClass(method.output_type).FromString,
    )
    sent: Any = request
    if method.client_streaming:
        sent = iter([request, pb.UploadDocumentRequest(data=content), pb.UploadDocumentRequest(end=pb.UploadEnd())])
    running = call(sent, metadata=metadata, timeout=TIMEOUT_S)
    return [message async for message in running] if method.server_streaming else [await running]


async def outcome(
    channel: grpc.aio.Channel, method: MethodDescriptor, request: Message, metadata: Metadata = ()
) -> Outcome:
    try:
        found = await answers(channel, method, request, metadata)
    except grpc.aio.AioRpcError as error:
        refusal = refused_with(error)
        # gRPC's asyncio client says so where an upload was refused while it was still sending. The next attempt is told
        # why; see `passes` of the project's client.
        if refusal.code is grpc.StatusCode.INTERNAL and method.client_streaming and not refusal.details:
            return await outcome(channel, method, request, metadata)
        details = {kind: str(detail) for kind, detail in refusal.details.items()}
        return Outcome(refusal.code, refusal.message, details, tuple(sorted(refusal.trailing)))
    return Outcome(grpc.StatusCode.OK, answers=tuple(_plain(message) for message in found))


def _plain(message: Message) -> str:
    return _VOLATILE.sub("...", json_format.MessageToJson(message, sort_keys=True))


NOT_FILLED = frozenset({"options", "leave_out", "matter_name", "document_name", "history", "update_mask"})


def filled(kind: Descriptor, values: Mapping[str, Any], within: str = "") -> Message:
    """A message whose fields have the values of their names, of the first of each choice, and the first number of each
    enum. A name may be told from others by its message: `MatterMember.user_id`."""
    message = GetMessageClass(kind)()
    chosen: set[str] = set()
    for one in kind.fields:
        choice = one.containing_oneof
        if one.name in NOT_FILLED or (choice is not None and choice.name in chosen):
            continue
        if choice is not None:
            chosen.add(choice.name)
        value = values.get(f"{kind.name}.{one.name}", values.get(one.name))
        if one.message_type is not None:
            if not one.is_repeated and one.message_type.file.package == "proviso.v1":
                getattr(message, one.name).CopyFrom(filled(one.message_type, values))
        elif value is not None and one.is_repeated:
            getattr(message, one.name).append(value)
        elif value is not None:
            setattr(message, one.name, value)
        elif one.type == FieldDescriptor.TYPE_ENUM and not one.is_repeated and one.name in ("decision", "role", "type"):
            setattr(message, one.name, 1)
    return message
