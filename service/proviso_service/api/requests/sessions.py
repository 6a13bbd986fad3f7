"""Requests of SessionService."""

from typing import Annotated

from pydantic import Field

from proviso_client.v1 import sessions_pb2
from proviso_service.api.requests.assets import WithAssets
from proviso_service.api.requests.base import PagedRequest, RequestModel, SessionId, TurnId, UserId
from proviso_service.api.requests.context import ContextItemRefModel, MatterContextModel
from proviso_service.turns import TurnRequest


class CreateSessionRequestModel(RequestModel):
    proto = sessions_pb2.CreateSessionRequest

    session_id: Annotated[str, Field(max_length=128)]
    user_id: UserId


class GetSessionRequestModel(RequestModel):
    proto = sessions_pb2.GetSessionRequest

    session_id: SessionId
    user_id: UserId


class ListSessionsRequestModel(PagedRequest):
    proto = sessions_pb2.ListSessionsRequest

    user_id: UserId


class DeleteSessionRequestModel(RequestModel):
    proto = sessions_pb2.DeleteSessionRequest

    session_id: SessionId
    user_id: UserId


class AddContextItemRequestModel(RequestModel):
    proto = sessions_pb2.AddContextItemRequest

    session_id: SessionId
    user_id: UserId
    item: ContextItemRefModel


class RemoveContextItemRequestModel(RequestModel):
    proto = sessions_pb2.RemoveContextItemRequest

    session_id: SessionId
    user_id: UserId
    item: ContextItemRefModel


class ListMessagesRequestModel(PagedRequest):
    proto = sessions_pb2.ListMessagesRequest

    session_id: SessionId
    user_id: UserId


class PreviewRequestContextRequestModel(WithAssets):
    proto = sessions_pb2.PreviewRequestContextRequest

    session_id: Annotated[str, Field(max_length=128)]
    user_id: UserId
    message: Annotated[str, Field(max_length=32_000)]
    matter_context: MatterContextModel | None

    def to_domain(self) -> TurnRequest:
        """The message as Chat would be sent it."""
        return TurnRequest(
            message=self.message,
            matter_context=self.matter_context.to_domain() if self.matter_context else None,
            image_urls=self.image_urls,
            document_context=self.documents(),
            session_id=self.session_id,
            selected_assets=self.selected_assets,
        )


class RebuildRequestRequestModel(RequestModel):
    proto = sessions_pb2.RebuildRequestRequest

    turn_id: TurnId
    user_id: UserId


class SuggestRemovalsRequestModel(RequestModel):
    proto = sessions_pb2.SuggestRemovalsRequest

    session_id: SessionId
    user_id: UserId
