# ruff: noqa: N802  methods have the names of the contract
"""ChatService: starts, follows, cancels and looks up turns. A turn does not depend on the call that started it: any
call can read its events."""

import re
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing
from functools import partial
from typing import Annotated

from pydantic import Field, ValidationInfo, field_validator
from structlog.contextvars import bind_contextvars

from proviso_client.v1 import chat_pb2 as pb
from proviso_client.v1 import sessions_pb2
from proviso_client.v1.chat_pb2_grpc import ChatServiceServicer
from proviso_service.api.convert.events import (
    agent_event,
    approval_required,
    final_state,
    shortened_event,
    shortened_state,
)
from proviso_service.api.convert.values import DECISIONS, ON_DISCONNECT, TEXT_RELEASES, TURN_STATES, cut
from proviso_service.api.request_models import (
    Context,
    Identify,
    MatterContextModel,
    RequestLimits,
    RequestModel,
    TurnId,
    UserId,
    WithAssets,
    acting_caller,
    at_most,
    known,
    limits_of,
    parse,
)
from proviso_service.context.catalog.catalog import CatalogHolder
from proviso_service.identity import Caller
from proviso_service.turns import (
    Decision,
    Heartbeat,
    HistoryMessage,
    LoggedEvent,
    MessageRole,
    OnDisconnect,
    TextRelease,
    TurnOptions,
    TurnRequest,
    Turns,
    mark_missing_in_state,
)
from proviso_service.value_faults import refusal

_DISCONNECT = {number: member for member, number in ON_DISCONNECT.items()} | {
    pb.ON_DISCONNECT_UNSPECIFIED: OnDisconnect.GRACE
}
_TEXT_RELEASE = {number: member for member, number in TEXT_RELEASES.items()} | {
    pb.TEXT_RELEASE_UNSPECIFIED: TextRelease.CHECKED
}
_HISTORY_ROLES = {
    sessions_pb2.MESSAGE_ROLE_USER: MessageRole.USER,
    sessions_pb2.MESSAGE_ROLE_ASSISTANT: MessageRole.ASSISTANT,
}
_DECISIONS = {number: member for member, number in DECISIONS.items()}


class LeaveOutModel(RequestModel):
    proto = pb.LeaveOut

    tool_output: bool
    repeated_contexts: bool
    history: bool
    told: bool
    context_items: bool


class ChatOptionsModel(RequestModel):
    """Options of a turn. A request can lower the limits of the service but not raise them."""

    proto = pb.ChatOptions

    model: Annotated[str, Field(max_length=128)]
    max_turns: Annotated[int, Field(ge=0, le=100)]
    max_tool_calls: Annotated[int, Field(ge=0, le=100)]
    max_context_chars: Annotated[int, Field(ge=0, le=1_000_000)]
    disable_cache: bool
    text_release: Annotated[TextRelease, known(_TEXT_RELEASE)]
    disable_tools: bool
    leave_out: LeaveOutModel | None

    @field_validator("max_turns", "max_tool_calls", "max_context_chars")
    @classmethod
    def _not_raised(cls, value: int, info: ValidationInfo) -> int:
        limits = limits_of(info)
        highest: int = getattr(limits.turns, str(info.field_name))
        if value > highest:
            raise refusal(f"is above the service's limit of {highest}")
        return value

    @field_validator("model")
    @classmethod
    def _offered(cls, value: str, info: ValidationInfo) -> str:
        names = limits_of(info).chat_models
        if value and value not in names:
            raise refusal(f"is not offered; the models are: {', '.join(names)}")
        return value

    def to_domain(self) -> TurnOptions:
        return TurnOptions(
            self.model,
            self.max_turns or None,
            0 if self.disable_tools else self.max_tool_calls or None,
            self.max_context_chars or None,
            self.disable_cache,
            self.text_release,
        )


class HistoryMessageModel(RequestModel):
    proto = pb.HistoryMessage

    role: Annotated[MessageRole, known(_HISTORY_ROLES, "must be USER or ASSISTANT")]
    content: Annotated[str, Field(max_length=32_000)]


class ConversationHistoryModel(RequestModel):
    proto = pb.ConversationHistory

    messages: Annotated[tuple[HistoryMessageModel, ...], at_most(200)]


class ChatRequestModel(WithAssets):
    proto = pb.ChatRequest

    message: Annotated[str, Field(max_length=32_000)]
    matter_context: MatterContextModel | None
    session_id: Annotated[str, Field(max_length=128)] | None
    user_id: UserId
    history: ConversationHistoryModel | None
    request_id: Annotated[str, Field(max_length=128)]
    on_disconnect: Annotated[OnDisconnect, known(_DISCONNECT)]
    options: ChatOptionsModel | None

    def to_domain(self) -> TurnRequest:
        return TurnRequest(
            message=self.message,
            matter_context=self.matter_context.to_domain() if self.matter_context else None,
            image_urls=self.image_urls,
            document_context=self.documents(),
            selected_assets=self.selected_assets,
            session_id=self.session_id or "",
            history=tuple([HistoryMessage(m.role, m.content) for m in self.history.messages]) if self.history else (),
            request_id=self.request_id,
            on_disconnect=self.on_disconnect,
            options=self.options.to_domain() if self.options else TurnOptions(),
        )


class ResumeChatRequestModel(RequestModel):
    proto = pb.ResumeChatRequest

    turn_id: TurnId
    after_sequence: Annotated[int, Field(ge=0, le=2_147_483_647)]
    user_id: UserId
    leave_out: LeaveOutModel | None


class CancelTurnRequestModel(RequestModel):
    proto = pb.CancelTurnRequest

    turn_id: TurnId
    user_id: UserId


class GetTurnRequestModel(RequestModel):
    proto = pb.GetTurnRequest

    turn_id: TurnId
    user_id: UserId


class DecideToolCallRequestModel(RequestModel):
    proto = pb.DecideToolCallRequest

    turn_id: TurnId
    call_id: Annotated[str, Field(min_length=1, max_length=128)]
    decision: Annotated[Decision, known(_DECISIONS)]
    user_id: UserId


TURN_ID_KEY = "proviso-turn-id"

_OWN_ID = re.compile(r"[0-9a-f-]{36}")


def no_link(turn_id: str) -> None:
    """Takes the place of `link_turn` where nothing is traced."""


def _as_wanted(turn_id: str, leave_out: pb.LeaveOut) -> Callable[[LoggedEvent | Heartbeat], pb.AgentEvent]:
    """Converts the events of a turn, in their order, to what their reader wants. What is left out as told was told in
    this call: of a turn whose events are gone, the final state may be all that there is."""
    if leave_out == pb.LeaveOut():
        return partial(agent_event, turn_id)
    wanted = pb.LeaveOut()
    wanted.CopyFrom(leave_out)
    wanted.told = False

    def converted(logged: LoggedEvent | Heartbeat) -> pb.AgentEvent:
        event = agent_event(turn_id, logged)
        if event.HasField("turn_start"):
            wanted.told = leave_out.told
        return shortened_event(event, wanted)

    return converted


class ChatServicer(ChatServiceServicer):
    """`link_turn` ties the trace of the current call to that of a turn."""

    def __init__(
        self,
        turns: Turns,
        catalog: CatalogHolder,
        limits: RequestLimits,
        identify: Identify = acting_caller,
        link_turn: Callable[[str], None] = no_link,
    ) -> None:
        self._turns = turns
        self._catalog = catalog
        self._limits = limits
        self._identify = identify
        self._link_turn = link_turn

    async def Chat(self, request: pb.ChatRequest, context: Context) -> AsyncIterator[pb.AgentEvent]:
        caller, asked = self._asked(request, context)
        async with self._turns.start_attached(caller, asked) as turn_id:
            # So that a caller who is cut off before the first event can resume.
            await self._begun(context, turn_id)
            as_wanted = _as_wanted(turn_id, request.options.leave_out)
            async with aclosing(self._turns.read(caller, turn_id, 0)) as events:
                async for event in events:
                    yield as_wanted(event)

    async def ResumeChat(self, request: pb.ResumeChatRequest, context: Context) -> AsyncIterator[pb.AgentEvent]:
        asked = parse(ResumeChatRequestModel, request)
        caller = self._identify(context, asked.user_id)
        self._about(asked.turn_id)
        as_wanted = _as_wanted(asked.turn_id, request.leave_out)
        async with aclosing(self._turns.read(caller, asked.turn_id, asked.after_sequence)) as events:
            async for event in events:
                yield as_wanted(event)

    async def Invoke(self, request: pb.ChatRequest, context: Context) -> pb.InvokeResponse:
        # So that a caller can ask for the turn, or cancel it, while it waits.
        begun = partial(self._begun, context)
        turn_id, state = await self._turns.invoke(*self._asked(request, context), begun)
        final = shortened_state(final_state(state), request.options.leave_out)
        return pb.InvokeResponse(turn_id=turn_id, final_state=final)

    async def CancelTurn(self, request: pb.CancelTurnRequest, context: Context) -> pb.CancelTurnResponse:
        asked = parse(CancelTurnRequestModel, request)
        caller = self._identify(context, asked.user_id)
        self._about(asked.turn_id)
        return pb.CancelTurnResponse(cancelled=await self._turns.cancel(caller, asked.turn_id))

    async def GetTurn(self, request: pb.GetTurnRequest, context: Context) -> pb.GetTurnResponse:
        asked = parse(GetTurnRequestModel, request)
        self._about(asked.turn_id)
        turn = await self._turns.get(self._identify(context, asked.user_id), asked.turn_id)
        ended = mark_missing_in_state(turn.final_state, self._catalog.current) if turn.final_state else None
        answer = pb.GetTurnResponse(
            turn_id=turn.turn_id,
            state=TURN_STATES[turn.state],
            last_sequence=turn.last_sequence,
            final_state=final_state(ended) if ended else None,
            session_id=turn.session_id,
            pending_approvals=[approval_required(asked) for asked in turn.pending_approvals],
        )
        cut(answer, "pending_approvals")  # the rest comes once the first ones are decided
        return answer

    async def DecideToolCall(self, request: pb.DecideToolCallRequest, context: Context) -> pb.DecideToolCallResponse:
        asked = parse(DecideToolCallRequestModel, request)
        caller = self._identify(context, asked.user_id)
        self._about(asked.turn_id)
        await self._turns.decide(caller, asked.turn_id, asked.call_id, asked.decision)
        return pb.DecideToolCallResponse()

    async def _begun(self, context: Context, turn_id: str) -> None:
        """Tells the caller the id of the turn before anything else is sent."""
        self._about(turn_id)
        await context.send_initial_metadata(((TURN_ID_KEY, turn_id),))

    def _about(self, turn_id: str) -> None:
        """Notes that the call is about this turn: its log lines carry the id, and its span is linked to that of the
        turn. A text that is no id of ours is not noted, since it could be made to forge a log."""
        if _OWN_ID.fullmatch(turn_id):
            bind_contextvars(turn_id=turn_id)
            self._link_turn(turn_id)

    def _asked(self, request: pb.ChatRequest, context: Context) -> tuple[Caller, TurnRequest]:
        asked = parse(ChatRequestModel, request, context=self._limits)
        return self._identify(context, asked.user_id), asked.to_domain()
