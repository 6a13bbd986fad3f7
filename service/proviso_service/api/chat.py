# ruff: noqa: N802  methods have the names of the contract
"""ChatService: turns over the wire. A turn belongs to its log, not to the call that started it."""

import re
from collections.abc import AsyncIterator
from contextlib import aclosing
from functools import partial

from structlog.contextvars import bind_contextvars

from proviso_client.v1 import chat_pb2 as pb
from proviso_client.v1.chat_pb2_grpc import ChatServiceServicer
from proviso_service.api.convert.enums import TURN_STATES
from proviso_service.api.convert.events import agent_event, approval_required, final_state
from proviso_service.api.domain import Domain
from proviso_service.api.identity import Context
from proviso_service.api.requests.base import parse
from proviso_service.api.requests.chat import (
    CancelTurnRequestModel,
    ChatRequestModel,
    DecideToolCallRequestModel,
    GetTurnRequestModel,
    ResumeChatRequestModel,
)
from proviso_service.identity import Caller
from proviso_service.turns import TurnRequest, mark_missing_in_state

TURN_ID_KEY = "proviso-turn-id"

_OWN_ID = re.compile(r"[0-9a-f-]{36}")


class ChatServicer(ChatServiceServicer):
    def __init__(self, domain: Domain) -> None:
        self._domain = domain

    async def Chat(self, request: pb.ChatRequest, context: Context) -> AsyncIterator[pb.AgentEvent]:
        caller, asked = self._asked(request, context)
        async with self._domain.turns.start_attached(caller, asked) as turn_id:
            # So that a caller who is cut off before the first event can resume.
            await self._begun(context, turn_id)
            async with aclosing(self._domain.turns.read(caller, turn_id, 0)) as events:
                async for event in events:
                    yield agent_event(turn_id, event)

    async def ResumeChat(self, request: pb.ResumeChatRequest, context: Context) -> AsyncIterator[pb.AgentEvent]:
        asked = parse(ResumeChatRequestModel, request)
        caller = self._domain.identify(context, asked.user_id)
        self._about(asked.turn_id)
        async with aclosing(self._domain.turns.read(caller, asked.turn_id, asked.after_sequence)) as events:
            async for event in events:
                yield agent_event(asked.turn_id, event)

    async def Invoke(self, request: pb.ChatRequest, context: Context) -> pb.InvokeResponse:
        # So that a caller can ask for the turn, or cancel it, while it waits.
        begun = partial(self._begun, context)
        turn_id, state = await self._domain.turns.invoke(*self._asked(request, context), begun)
        return pb.InvokeResponse(turn_id=turn_id, final_state=final_state(state))

    async def CancelTurn(self, request: pb.CancelTurnRequest, context: Context) -> pb.CancelTurnResponse:
        asked = parse(CancelTurnRequestModel, request)
        caller = self._domain.identify(context, asked.user_id)
        self._about(asked.turn_id)
        return pb.CancelTurnResponse(cancelled=await self._domain.turns.cancel(caller, asked.turn_id))

    async def GetTurn(self, request: pb.GetTurnRequest, context: Context) -> pb.GetTurnResponse:
        asked = parse(GetTurnRequestModel, request)
        self._about(asked.turn_id)
        turn = await self._domain.turns.get(self._domain.identify(context, asked.user_id), asked.turn_id)
        ended = mark_missing_in_state(turn.final_state, self._domain.catalog.current) if turn.final_state else None
        return pb.GetTurnResponse(
            turn_id=turn.turn_id,
            state=TURN_STATES[turn.state],
            last_sequence=turn.last_sequence,
            final_state=final_state(ended) if ended else None,
            session_id=turn.session_id,
            pending_approvals=[approval_required(asked) for asked in turn.pending_approvals],
        )

    async def DecideToolCall(self, request: pb.DecideToolCallRequest, context: Context) -> pb.DecideToolCallResponse:
        asked = parse(DecideToolCallRequestModel, request)
        caller = self._domain.identify(context, asked.user_id)
        self._about(asked.turn_id)
        await self._domain.turns.decide(caller, asked.turn_id, asked.call_id, asked.decision)
        return pb.DecideToolCallResponse()

    async def _begun(self, context: Context, turn_id: str) -> None:
        """The call has its turn: the caller is told which, ahead of everything else."""
        self._about(turn_id)
        await context.send_initial_metadata(((TURN_ID_KEY, turn_id),))

    def _about(self, turn_id: str) -> None:
        """The call is about this turn: its log lines carry the id, its span is linked to the turn's. What cannot be an
        id of ours could be anything, also lines that forge a log."""
        if _OWN_ID.fullmatch(turn_id):
            bind_contextvars(turn_id=turn_id)
            self._domain.link_turn(turn_id)

    def _asked(self, request: pb.ChatRequest, context: Context) -> tuple[Caller, TurnRequest]:
        asked = parse(ChatRequestModel, request, context=self._domain.limits)
        return self._domain.identify(context, asked.user_id), asked.to_domain()
