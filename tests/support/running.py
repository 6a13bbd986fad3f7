"""The whole service in this process, on a free port, with a channel to it."""

import json
import uuid
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import grpc

from proviso_client.v1 import chat_pb2, context_pb2, matters_pb2, turns_pb2
from proviso_client.v1.access_pb2_grpc import AccessServiceStub
from proviso_client.v1.chat_pb2_grpc import ChatServiceStub
from proviso_client.v1.matters_pb2_grpc import MatterServiceStub
from proviso_client.v1.sessions_pb2_grpc import SessionServiceStub
from proviso_client.v1.tools_pb2_grpc import ToolServiceStub
from proviso_service.agent.chat_models import ChatModels, NamedChatModel
from proviso_service.images.image import ImageFetcher
from proviso_service.models import AnswerExtractor, Classifier
from proviso_service.turns import ExitCause, ExitReason
from proviso_service.wiring import App
from tests.support.configured import configured
from tests.support.migrated import state_in
from tests.support.scripted_model import ScriptedChatModel, Step
from tests.support.shared_encoder import shared_encoder

if TYPE_CHECKING:  # the async stubs exist for type checkers only
    from proviso_client.v1.access_pb2_grpc import AccessServiceAsyncStub
    from proviso_client.v1.chat_pb2_grpc import ChatServiceAsyncStub
    from proviso_client.v1.matters_pb2_grpc import MatterServiceAsyncStub
    from proviso_client.v1.sessions_pb2_grpc import SessionServiceAsyncStub
    from proviso_client.v1.tools_pb2_grpc import ToolServiceAsyncStub

AGREEMENT = """\
# Services Agreement

## 1. Fees

The Customer shall pay USD 12,000 per month within thirty (30) days of each invoice.

## 2. Insurance

The Provider shall maintain professional liability insurance of at least USD 1,000,000.

## 9. Governing Law

This Agreement is governed by the laws of the State of Oregon.
"""


class ServiceStubs:
    """Stubs over one channel."""

    channel: grpc.aio.Channel

    @property
    def chat(self) -> "ChatServiceAsyncStub":
        return ChatServiceStub(self.channel)

    @property
    def matters(self) -> "MatterServiceAsyncStub":
        return MatterServiceStub(self.channel)

    @property
    def sessions(self) -> "SessionServiceAsyncStub":
        return SessionServiceStub(self.channel)

    @property
    def access(self) -> "AccessServiceAsyncStub":
        return AccessServiceStub(self.channel)

    @property
    def tools(self) -> "ToolServiceAsyncStub":
        return ToolServiceStub(self.channel)

    async def create_matter(self, name: str = "Northwind", **documents: str) -> str:
        """A matter with Markdown documents that are READY; returns its id. `a_b="..."` is uploaded as `a b.md`."""
        created = await self.matters.CreateMatter(matters_pb2.CreateMatterRequest(name=name))
        for filename, content in documents.items():
            await self.upload(created.matter.matter_id, f"{filename.replace('_', ' ')}.md", content.encode())
        await self.wait_until_ready(created.matter.matter_id)
        return created.matter.matter_id

    async def upload(self, matter_id: str, filename: str, content: bytes) -> matters_pb2.Document:
        def pieces() -> Iterator[matters_pb2.UploadDocumentRequest]:
            yield matters_pb2.UploadDocumentRequest(
                header=matters_pb2.UploadHeader(matter_id=matter_id, filename=filename)
            )
            for start in range(0, len(content), 64 * 1024):
                yield matters_pb2.UploadDocumentRequest(data=content[start : start + 64 * 1024])
            yield matters_pb2.UploadDocumentRequest(end=matters_pb2.UploadEnd())

        return (await self.matters.UploadDocument(pieces())).document

    async def wait_until_ready(self, matter_id: str) -> list[matters_pb2.Document]:
        """The matter's documents once all are READY; fails when one is not."""
        async for _ in self.matters.WatchDocuments(matters_pb2.WatchDocumentsRequest(matter_id=matter_id)):
            pass
        listed = await self.matters.ListDocuments(matters_pb2.ListDocumentsRequest(matter_id=matter_id))
        failed = [d.failure_reason for d in listed.documents if d.status != matters_pb2.DOCUMENT_STATUS_READY]
        assert not failed
        return list(listed.documents)

    async def ask(self, message: str, matter_id: str = "", **fields: Any) -> list[chat_pb2.AgentEvent]:
        """All events of one Chat call."""
        request = chat_request(message, matter_id, **fields)
        return [event async for event in self.chat.Chat(request)]


@dataclass(frozen=True)
class RunningService(ServiceStubs):
    """The service in this process, and a channel to it."""

    app: App
    channel: grpc.aio.Channel


def chat_request(message: str, matter_id: str = "", **fields: Any) -> chat_pb2.ChatRequest:
    context = context_pb2.MatterContext(matter_id=matter_id) if matter_id else None
    if "history" in fields:
        fields["history"] = chat_pb2.ConversationHistory(messages=fields["history"])
    return chat_pb2.ChatRequest(message=message, matter_context=context, **fields)


def reason_of(final: chat_pb2.FinalState) -> ExitReason:
    return ExitReason[turns_pb2.ExitReason.Name(final.exit_reason).removeprefix("EXIT_REASON_")]


def cause_of(final: chat_pb2.FinalState) -> ExitCause | None:
    name = turns_pb2.ExitCause.Name(final.exit_cause).removeprefix("EXIT_CAUSE_")
    return None if name == "UNSPECIFIED" else ExitCause[name]


def final_of(events: list[chat_pb2.AgentEvent]) -> chat_pb2.FinalState:
    """The final state, after checking that it is the one last event and that sequences cover the turn without a gap."""
    logged = [e for e in events if e.WhichOneof("event") != "heartbeat"]
    following = 1
    for event in logged:
        first = event.token.first_sequence if event.WhichOneof("event") == "token" else event.sequence
        assert first == following
        following = event.sequence + 1
    kinds = [e.WhichOneof("event") for e in logged]
    assert kinds[0] == "turn_start"
    assert kinds.count("final_state") == 1
    assert kinds[-1] == "final_state"
    return logged[-1].final_state


def text_of(events: list[chat_pb2.AgentEvent]) -> str:
    """The undiscarded tokens."""
    discarded = {e.text_discarded.text_id for e in events if e.WhichOneof("event") == "text_discarded"}
    tokens = (e.token for e in events if e.WhichOneof("event") == "token")
    return "".join(token.text for token in tokens if token.text_id not in discarded)


def without_times(final: chat_pb2.FinalState) -> chat_pb2.FinalState:
    """The final state without times and ids, to be compared with that of another turn."""
    plain = chat_pb2.FinalState()
    plain.CopyFrom(final)
    plain.ClearField("duration")
    plain.request_context.ClearField("timestamp")
    for call in plain.usage.calls:
        call.ClearField("duration")
    for record in plain.tool_call_records:
        for field in ("call_id", "start_time", "duration"):
            record.ClearField(field)
    for message in plain.messages:
        message.ClearField("turn_id")
        message.request_context.ClearField("timestamp")
    return plain


def input_of(event: chat_pb2.AgentEvent) -> dict[str, Any]:
    """The arguments of a tool_start."""
    return dict(json.loads(event.tool_start.input_json))


def new_id() -> str:
    return str(uuid.uuid4())


@asynccontextmanager
async def running_service(
    data_dir: Path,
    models_dir: Path,
    *script: Step,
    chat_models: ChatModels | None = None,
    classifier: Classifier | None = None,
    extractor: AnswerExtractor | None = None,
    fetcher: ImageFetcher | None = None,
    **settings: Any,
) -> AsyncIterator[RunningService]:
    """The service on a free port; with the model that plays `script`, where one is given, and with models given. What
    is compared with messages has as long as a busy machine takes."""
    if script:
        chat_models = ChatModels(NamedChatModel("scripted", ScriptedChatModel(script=list(script))))
    usual = {
        "server": {"port": 0, "drain_s": 0.5},
        "selection": {"time_limit_s": 60},
        "assets": {"documents_time_limit_s": 60},
    }
    sections = {name: fields | settings.pop(name, {}) for name, fields in usual.items()}
    state_in(data_dir)
    chosen, config = configured({"data_dir": data_dir, "models_dir": models_dir, **sections, **settings})
    app = await App.start(chosen, chat_models, classifier, extractor, fetcher, shared_encoder(models_dir), config)
    try:
        async with grpc.aio.insecure_channel(f"127.0.0.1:{app.port}") as channel:
            yield RunningService(app, channel)
    finally:
        await app.stop()
