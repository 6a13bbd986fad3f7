"""Requests of ChatService."""

from collections.abc import Iterable, Mapping
from typing import Annotated, Any

from pydantic import Field, ValidationInfo, field_validator

from proviso_client.v1 import chat_pb2, sessions_pb2
from proviso_service.api.convert.enums import DECISIONS, ON_DISCONNECT
from proviso_service.api.requests.assets import WithAssets, limits_of
from proviso_service.api.requests.base import RequestModel, TurnId, UserId, at_most, known
from proviso_service.api.requests.context import MatterContextModel
from proviso_service.errors import FieldViolation
from proviso_service.turns import Decision, HistoryMessage, MessageRole, OnDisconnect, TurnOptions, TurnRequest
from proviso_service.value_faults import refusal

_DISCONNECT = {number: member for member, number in ON_DISCONNECT.items()} | {
    chat_pb2.ON_DISCONNECT_UNSPECIFIED: OnDisconnect.GRACE
}
_HISTORY_ROLES = {
    sessions_pb2.MESSAGE_ROLE_USER: MessageRole.USER,
    sessions_pb2.MESSAGE_ROLE_ASSISTANT: MessageRole.ASSISTANT,
}
_DECISIONS = {number: member for member, number in DECISIONS.items()}


class ChatOptionsModel(RequestModel):
    """Limits can be lowered, never raised."""

    proto = chat_pb2.ChatOptions

    model: Annotated[str, Field(max_length=128)]
    max_turns: Annotated[int, Field(ge=1, le=100)] | None
    max_tool_calls: Annotated[int, Field(ge=0, le=100)] | None
    max_context_chars: Annotated[int, Field(ge=1, le=1_000_000)] | None
    disable_cache: bool

    @field_validator("max_turns", "max_tool_calls", "max_context_chars")
    @classmethod
    def _not_raised(cls, value: int | None, info: ValidationInfo) -> int | None:
        limits = limits_of(info)
        highest: int = getattr(limits.turns, str(info.field_name))
        if value is not None and value > highest:
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
        return TurnOptions(self.model, self.max_turns, self.max_tool_calls, self.max_context_chars, self.disable_cache)


class HistoryMessageModel(RequestModel):
    proto = chat_pb2.HistoryMessage

    role: Annotated[MessageRole, known(_HISTORY_ROLES, "must be USER or ASSISTANT")]
    content: Annotated[str, Field(max_length=32_000)]


class ChatRequestModel(WithAssets):
    proto = chat_pb2.ChatRequest

    message: Annotated[str, Field(max_length=32_000)]
    matter_context: MatterContextModel | None
    session_id: Annotated[str, Field(max_length=128)]
    user_id: UserId
    history: Annotated[tuple[HistoryMessageModel, ...], at_most(200)]
    request_id: Annotated[str, Field(max_length=128)]
    on_disconnect: Annotated[OnDisconnect, known(_DISCONNECT)]
    options: ChatOptionsModel | None

    @classmethod
    def conflicts(cls, values: Mapping[str, Any]) -> Iterable[FieldViolation]:
        yield from super().conflicts(values)
        if values["session_id"] and values["history"]:
            yield FieldViolation("history", "cannot be combined with session_id: the session has its own history")

    def to_domain(self) -> TurnRequest:
        return TurnRequest(
            message=self.message,
            matter_context=self.matter_context.to_domain() if self.matter_context else None,
            image_urls=self.image_urls,
            document_context=self.documents(),
            selected_assets=self.selected_assets,
            session_id=self.session_id,
            history=tuple(HistoryMessage(earlier.role, earlier.content) for earlier in self.history),
            request_id=self.request_id,
            on_disconnect=self.on_disconnect,
            options=self.options.to_domain() if self.options else TurnOptions(),
        )


class ResumeChatRequestModel(RequestModel):
    proto = chat_pb2.ResumeChatRequest

    turn_id: TurnId
    after_sequence: Annotated[int, Field(ge=0, le=2_147_483_647)]
    user_id: UserId


class CancelTurnRequestModel(RequestModel):
    proto = chat_pb2.CancelTurnRequest

    turn_id: TurnId
    user_id: UserId


class GetTurnRequestModel(RequestModel):
    proto = chat_pb2.GetTurnRequest

    turn_id: TurnId
    user_id: UserId


class DecideToolCallRequestModel(RequestModel):
    proto = chat_pb2.DecideToolCallRequest

    turn_id: TurnId
    call_id: Annotated[str, Field(min_length=1, max_length=128)]
    decision: Annotated[Decision, known(_DECISIONS)]
    user_id: UserId
