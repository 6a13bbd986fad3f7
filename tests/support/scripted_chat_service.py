"""A ChatService that plays a script: what a service, or a proxy before it, could answer, call by call."""

# ruff: noqa: N802  methods have the names of the contract

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import grpc
from google.protobuf.message import Message
from google.rpc.status_pb2 import Status  # type: ignore[import-untyped]
from grpc_status.rpc_status import to_status

from proviso_client.v1 import chat_pb2 as pb
from proviso_client.v1.chat_pb2_grpc import ChatServiceServicer, add_ChatServiceServicer_to_server
from tests.support.grpc_servers import serving

TURN_ID = "11111111-1111-4111-8111-111111111111"

Refusal: TypeAlias = Status | grpc.StatusCode
"""With details, as the service gives them, or a bare code, as a proxy does."""


@dataclass(frozen=True)
class Reply:
    """A stream of events, after the turn's id where `begun`, and how it ends."""

    events: Sequence[pb.AgentEvent] = ()
    ending: Refusal = grpc.StatusCode.OK
    begun: bool = True


@dataclass
class ScriptedChatService(ChatServiceServicer):
    """`asked` holds the requests, of all methods, in their order."""

    streams: list[Reply]
    turns: list[pb.GetTurnResponse] = field(default_factory=list)
    cancelling: Refusal = grpc.StatusCode.OK
    asked: list[Message] = field(default_factory=list)
    target: str = ""

    async def Chat(self, request: pb.ChatRequest, context: Any) -> AsyncIterator[pb.AgentEvent]:
        async for event in self._play(request, context):
            yield event

    async def ResumeChat(self, request: pb.ResumeChatRequest, context: Any) -> AsyncIterator[pb.AgentEvent]:
        async for event in self._play(request, context):
            yield event

    async def GetTurn(self, request: pb.GetTurnRequest, context: Any) -> pb.GetTurnResponse:
        self.asked.append(request)
        return self.turns.pop(0)

    async def CancelTurn(self, request: pb.CancelTurnRequest, context: Any) -> pb.CancelTurnResponse:
        self.asked.append(request)
        await _end(context, self.cancelling)
        return pb.CancelTurnResponse(cancelled=True)

    async def _play(self, request: Message, context: Any) -> AsyncIterator[pb.AgentEvent]:
        self.asked.append(request)
        reply = self.streams.pop(0)
        if reply.begun:
            await context.send_initial_metadata((("proviso-turn-id", TURN_ID),))
        for event in reply.events:
            yield event
        await _end(context, reply.ending)


async def _end(context: Any, ending: Refusal) -> None:
    if isinstance(ending, grpc.StatusCode):
        if ending is not grpc.StatusCode.OK:
            await context.abort(ending, "")
    else:
        status = to_status(ending)
        await context.abort(status.code, status.details, status.trailing_metadata)


def turn_event(sequence: int, **kind: Any) -> pb.AgentEvent:
    return pb.AgentEvent(turn_id=TURN_ID, sequence=sequence, **kind)


def token_event(sequence: int, text: str) -> pb.AgentEvent:
    return turn_event(sequence, token=pb.Token(text_id="t", text=text, first_sequence=sequence))


@asynccontextmanager
async def scripted_chat_service(*streams: Reply, **script: Any) -> AsyncIterator[ScriptedChatService]:
    """On a free port; its `target` says where."""
    service = ScriptedChatService(list(streams), **script)  # type: ignore[abstract]  # the rest is not asked for
    async with serving(add_ChatServiceServicer_to_server, service) as service.target:
        yield service
