# ruff: noqa: N802 - methods are named as in the contract
"""A small server of the contract whose answers a test writes down, and a way to run commands in this process."""

import hashlib
import sys
import threading
import uuid
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import grpc
import pytest
from grpc_health.v1 import health, health_pb2_grpc

from proviso_client.v1 import chat_pb2, chat_pb2_grpc, matters_pb2, matters_pb2_grpc, sessions_pb2_grpc, turns_pb2
from proviso_service.cli import main
from tests.cli.scripted_sessions import ScriptedSessions, abort

TURN_ID = "turn-1"


@dataclass
class Finished:
    """How a command ended."""

    exit_code: int
    out: str
    err: str


def run_command(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, *arguments: str) -> Finished:
    monkeypatch.setattr(sys, "argv", ["proviso", *arguments])
    with pytest.raises(SystemExit) as ended:
        main()
    out, err = capsys.readouterr()
    return Finished(int(ended.value.code or 0), out, err)


@dataclass
class ScriptedChat(chat_pb2_grpc.ChatServiceServicer):
    """Sends `events`, but `turns` to the first messages; the n-th stream is cut after `cuts[n]` of them. Remembers what
    was asked. Before a tool_start the stream waits for `decisions_wanted` decisions; one on a call of
    `calls_not_waiting` is refused. The first `busy` messages are refused because the session runs the turn already, the
    first `refused` ones because they are too long. A server that is `silent` sends the first event of a turn and then
    nothing, in every stream, while it keeps the streams open."""

    events: Sequence[chat_pb2.AgentEvent] = ()
    turns: list[Sequence[chat_pb2.AgentEvent]] = field(default_factory=list)
    cuts: list[int] = field(default_factory=list)
    requests: list[chat_pb2.ChatRequest] = field(default_factory=list)
    resumes: list[int] = field(default_factory=list)
    busy: int = 0
    refused: int = 0
    silent: bool = False
    expired: bool = False
    wait_for_cancel: bool = False
    cancelled: threading.Event = field(default_factory=threading.Event)
    decisions_wanted: int = 0
    decisions: list[tuple[str, int]] = field(default_factory=list)
    calls_not_waiting: set[str] = field(default_factory=set)
    decided: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(0))

    def Chat(self, request: chat_pb2.ChatRequest, context: grpc.ServicerContext) -> Iterator[chat_pb2.AgentEvent]:
        self.requests.append(request)
        if self.busy:
            self.busy -= 1
            abort(context, grpc.StatusCode.ABORTED, "SESSION_BUSY", "The session runs a turn", turn_id=TURN_ID)
        if self.refused:
            self.refused -= 1
            abort(context, grpc.StatusCode.INVALID_ARGUMENT, "INVALID_REQUEST", "message: is too long")
        if self.turns:
            self.events = self.turns.pop(0)
        yield from self._send(0, context)

    def ResumeChat(
        self, request: chat_pb2.ResumeChatRequest, context: grpc.ServicerContext
    ) -> Iterator[chat_pb2.AgentEvent]:
        self.resumes.append(request.after_sequence)
        if self.expired:
            abort(context, grpc.StatusCode.NOT_FOUND, "TURN_EXPIRED", "The events are no longer kept")
        yield from self._send(request.after_sequence, context)

    def GetTurn(self, request: chat_pb2.GetTurnRequest, context: grpc.ServicerContext) -> chat_pb2.GetTurnResponse:
        return chat_pb2.GetTurnResponse(
            turn_id=request.turn_id, last_sequence=len(self.events), final_state=self.events[-1].final_state
        )

    def CancelTurn(
        self, request: chat_pb2.CancelTurnRequest, context: grpc.ServicerContext
    ) -> chat_pb2.CancelTurnResponse:
        assert request.turn_id == TURN_ID
        self.cancelled.set()
        return chat_pb2.CancelTurnResponse(cancelled=True)

    def DecideToolCall(
        self, request: chat_pb2.DecideToolCallRequest, context: grpc.ServicerContext
    ) -> chat_pb2.DecideToolCallResponse:
        assert request.turn_id == TURN_ID
        self.decisions.append((request.call_id, request.decision))
        self.decided.release()
        if request.call_id in self.calls_not_waiting:
            abort(context, grpc.StatusCode.FAILED_PRECONDITION, "TURN_NOT_WAITING", "The call waits no more")
        return chat_pb2.DecideToolCallResponse()

    def _send(self, after: int, context: grpc.ServicerContext) -> Iterator[chat_pb2.AgentEvent]:
        stop = self.cuts.pop(0) if self.cuts else len(self.events)
        for event in self.events[after:stop]:
            if self.silent and event.sequence > 1:
                _wait_for_the_end_of(context)
            if self.wait_for_cancel and event.HasField("final_state"):
                assert self.cancelled.wait(10)
            while event.HasField("tool_start") and self.decisions_wanted:
                assert self.decided.acquire(timeout=10)
                self.decisions_wanted -= 1
            yield event
        if stop < len(self.events):
            context.abort(grpc.StatusCode.UNAVAILABLE, "Connection reset")


def _wait_for_the_end_of(context: grpc.ServicerContext) -> None:
    ended = threading.Event()
    if context.add_callback(ended.set):
        ended.wait()


@dataclass
class MemoryMatters(matters_pb2_grpc.MatterServiceServicer):
    """Matters of documents that are READY when watched, unless their text is `unreadable`."""

    matters: list[matters_pb2.Matter] = field(default_factory=list)
    documents: list[matters_pb2.Document] = field(default_factory=list)
    uploads_to_refuse: int = 0
    names_to_refuse: set[str] = field(default_factory=set)
    data_to_refuse: bytes | None = None
    silent: bool = False
    watched: threading.Event = field(default_factory=threading.Event)
    may_report: threading.Event = field(default_factory=threading.Event)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def CreateMatter(
        self, request: matters_pb2.CreateMatterRequest, context: grpc.ServicerContext
    ) -> matters_pb2.CreateMatterResponse:
        if request.name in self.names_to_refuse:
            abort(context, grpc.StatusCode.INVALID_ARGUMENT, "INVALID_REQUEST", "This name is refused")
        return matters_pb2.CreateMatterResponse(matter=self.add(request.name))

    def add(self, name: str) -> matters_pb2.Matter:
        self.matters.insert(0, matters_pb2.Matter(matter_id=str(uuid.uuid4()), name=name))
        return self.matters[0]

    def ListMatters(
        self, request: matters_pb2.ListMattersRequest, context: grpc.ServicerContext
    ) -> matters_pb2.ListMattersResponse:
        return matters_pb2.ListMattersResponse(matters=[m for m in self.matters if request.name in ("", m.name)])

    def ListDocuments(
        self, request: matters_pb2.ListDocumentsRequest, context: grpc.ServicerContext
    ) -> matters_pb2.ListDocumentsResponse:
        return matters_pb2.ListDocumentsResponse(documents=self.documents)

    def UploadDocument(
        self, request_iterator: Iterator[matters_pb2.UploadDocumentRequest], context: grpc.ServicerContext
    ) -> matters_pb2.UploadDocumentResponse:
        header = next(request_iterator).header
        data = b"".join(message.data for message in request_iterator)
        assert hashlib.sha256(data).hexdigest() == header.sha256
        with self._lock:
            if self.uploads_to_refuse:
                self.uploads_to_refuse -= 1
                context.abort(grpc.StatusCode.UNAVAILABLE, "Connection reset")
            if data == self.data_to_refuse:
                abort(context, grpc.StatusCode.INVALID_ARGUMENT, "INVALID_REQUEST", "data: is empty")
            return self._store(header, data)

    def _store(self, header: matters_pb2.UploadHeader, data: bytes) -> matters_pb2.UploadDocumentResponse:
        for known in self.documents:
            if known.sha256 == header.sha256:
                return matters_pb2.UploadDocumentResponse(document=known, already_existed=True)
        document = matters_pb2.Document(
            document_id=str(uuid.uuid4()),
            matter_id=header.matter_id,
            filename=header.filename,
            sha256=header.sha256,
            status=matters_pb2.DOCUMENT_STATUS_PENDING,
            failure_reason="It is not text" if b"unreadable" in data else "",
        )
        self.documents.append(document)
        return matters_pb2.UploadDocumentResponse(document=document)

    def WatchDocuments(
        self, request: matters_pb2.WatchDocumentsRequest, context: grpc.ServicerContext
    ) -> Iterator[matters_pb2.WatchDocumentsResponse]:
        self.watched.set()
        assert self.may_report.wait(20)
        for document in self.documents:
            if document.document_id not in request.document_ids or self.silent:
                continue
            yield matters_pb2.WatchDocumentsResponse(document=document, chunks_done=1, chunks_total=2)
            failed = bool(document.failure_reason)
            document.status = matters_pb2.DOCUMENT_STATUS_FAILED if failed else matters_pb2.DOCUMENT_STATUS_READY
            document.chunk_count = 0 if failed else 2
            yield matters_pb2.WatchDocumentsResponse(document=document)


@dataclass
class ScriptedServer:
    address: str
    chat: ScriptedChat
    matters: MemoryMatters
    sessions: ScriptedSessions


@contextmanager
def scripted_server() -> Iterator[ScriptedServer]:
    chat, matters = ScriptedChat(), MemoryMatters()  # type: ignore[abstract] # what is not scripted is not called
    sessions = ScriptedSessions()  # type: ignore[abstract]
    matters.may_report.set()
    checks = health.HealthServicer()
    server = grpc.server(ThreadPoolExecutor(max_workers=16))
    chat_pb2_grpc.add_ChatServiceServicer_to_server(chat, server)
    matters_pb2_grpc.add_MatterServiceServicer_to_server(matters, server)
    sessions_pb2_grpc.add_SessionServiceServicer_to_server(sessions, server)
    health_pb2_grpc.add_HealthServicer_to_server(checks, server)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    try:
        yield ScriptedServer(f"127.0.0.1:{port}", chat, matters, sessions)
    finally:
        server.stop(grace=None).wait(10)


def turn(*parts: chat_pb2.AgentEvent) -> list[chat_pb2.AgentEvent]:
    """Numbers the events of a turn; a token that joins several says by its text's length how many it covers."""
    for sequence, event in enumerate(parts, start=1):
        event.turn_id, event.sequence = TURN_ID, sequence
        if event.HasField("token"):
            event.token.first_sequence = sequence
    return list(parts)


def start() -> chat_pb2.AgentEvent:
    return chat_pb2.AgentEvent(turn_start=chat_pb2.TurnStart(session_id="s", model="local"))


def token(text: str, text_id: str = "a") -> chat_pb2.AgentEvent:
    return chat_pb2.AgentEvent(token=chat_pb2.Token(text_id=text_id, text=text))


def discarded(
    text_id: str = "a", reason: "chat_pb2.DiscardReason" = chat_pb2.DISCARD_REASON_GROUNDING
) -> chat_pb2.AgentEvent:
    return chat_pb2.AgentEvent(text_discarded=chat_pb2.TextDiscarded(text_id=text_id, reason=reason))


def final(message: str, **fields: Any) -> chat_pb2.AgentEvent:
    state = chat_pb2.FinalState(
        **{
            "exit_reason": turns_pb2.EXIT_REASON_COMPLETED,
            "retryable": chat_pb2.RETRYABLE_NOT_APPLICABLE,
            "display_message": True,
            "message": message,
            **fields,
        }
    )
    return chat_pb2.AgentEvent(final_state=state)
