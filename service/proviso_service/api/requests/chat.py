"""Requests of ChatService."""

from collections.abc import Iterable, Mapping
from typing import Annotated, Any
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field, ValidationInfo, field_validator

from proviso.v1 import chat_pb2, sessions_pb2
from proviso_service.api.convert.enums import ON_DISCONNECT
from proviso_service.api.domain import Limits
from proviso_service.api.requests.base import RequestModel, TurnId, UserId, at_most, known, violation
from proviso_service.api.requests.context import DocumentContextModel, MatterContextModel
from proviso_service.context.sessions import MessageRole
from proviso_service.errors import FieldViolation
from proviso_service.turns.ports import HistoryMessage, OnDisconnect, TurnOptions, TurnRequest

MAX_URL_CHARS = 2_048

_DISCONNECT = {number: member for member, number in ON_DISCONNECT.items()} | {
    chat_pb2.ON_DISCONNECT_UNSPECIFIED: OnDisconnect.GRACE
}
_HISTORY_ROLES = {
    sessions_pb2.MESSAGE_ROLE_USER: MessageRole.USER,
    sessions_pb2.MESSAGE_ROLE_ASSISTANT: MessageRole.ASSISTANT,
}
_DECISIONS = {number: number for number in chat_pb2.ToolCallDecision.values() if number}


def _https(url: str) -> str:
    try:
        parts = urlsplit(url)
    except ValueError:
        raise violation("must be an https URL") from None
    if parts.scheme != "https" or not parts.hostname:
        raise violation("must be an https URL")
    return url


def _limits(info: ValidationInfo) -> Limits:
    """What the request was parsed with."""
    limits = info.context
    assert isinstance(limits, Limits)  # noqa: S101 - the servicer passes them
    return limits


ImageUrl = Annotated[str, Field(max_length=MAX_URL_CHARS), AfterValidator(_https)]


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
        limits = _limits(info)
        highest: int = getattr(limits.turns, str(info.field_name))
        if value is not None and value > highest:
            raise violation(f"is above the service's limit of {highest}")
        return value

    @field_validator("model")
    @classmethod
    def _offered(cls, value: str, info: ValidationInfo) -> str:
        names = _limits(info).chat_models
        if value and value not in names:
            raise violation(f"is not offered; the models are: {', '.join(names)}")
        return value

    def to_domain(self) -> TurnOptions:
        return TurnOptions(self.model, self.max_turns, self.max_tool_calls, self.max_context_chars, self.disable_cache)


class HistoryMessageModel(RequestModel):
    proto = chat_pb2.HistoryMessage

    role: Annotated[MessageRole, known(_HISTORY_ROLES, "must be USER or ASSISTANT")]
    content: Annotated[str, Field(max_length=32_000)]


class ChatRequestModel(RequestModel):
    proto = chat_pb2.ChatRequest

    message: Annotated[str, Field(max_length=32_000)]
    matter_context: MatterContextModel | None
    image_urls: Annotated[tuple[ImageUrl, ...], at_most(5)]
    document_context: Annotated[tuple[DocumentContextModel, ...], at_most(20)]
    session_id: Annotated[str, Field(max_length=128)]
    user_id: UserId
    history: Annotated[tuple[HistoryMessageModel, ...], at_most(200)]
    request_id: Annotated[str, Field(max_length=128)]
    on_disconnect: Annotated[OnDisconnect, known(_DISCONNECT)]
    options: ChatOptionsModel | None

    @field_validator("image_urls", "document_context")
    @classmethod
    def _not_too_many(cls, value: tuple[Any, ...], info: ValidationInfo) -> tuple[Any, ...]:
        limits = _limits(info)
        images = info.field_name == "image_urls"
        highest = limits.context.max_images if images else limits.context.max_documents
        if len(value) > highest:
            raise violation(f"has more than the service's limit of {highest} items")
        return value

    @classmethod
    def conflicts(cls, values: Mapping[str, Any]) -> Iterable[FieldViolation]:
        if values["session_id"] and values["history"]:
            yield FieldViolation("history", "cannot be combined with session_id: the session has its own history")

    def to_domain(self) -> TurnRequest:
        return TurnRequest(
            message=self.message,
            matter_context=self.matter_context.to_domain() if self.matter_context else None,
            image_urls=self.image_urls,
            document_context=tuple(document.to_domain() for document in self.document_context),
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
    decision: Annotated[int, known(_DECISIONS)]
    user_id: UserId
