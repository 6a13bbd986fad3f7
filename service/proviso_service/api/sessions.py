# ruff: noqa: N802  methods have the names of the contract
"""SessionService: conversations, the items that belong to them, and the requests that their turns made."""

import json
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from functools import partial
from typing import Annotated
from uuid import uuid4

from google.protobuf.json_format import MessageToDict
from pydantic import ConfigDict, Field

from proviso_client.v1 import sessions_pb2 as pb
from proviso_client.v1.sessions_pb2_grpc import SessionServiceServicer
from proviso_service.agent.rebuilding import RequestRebuilder
from proviso_service.api.convert.context import request_context
from proviso_service.api.convert.sessions import (
    answer_rating,
    chat_message,
    rebuilt_request,
    removal_suggestion,
    session,
)
from proviso_service.api.convert.values import RATING_REASONS, RATINGS, fitting_page, or_none
from proviso_service.api.request_models import (
    Context,
    ContextItemRefModel,
    CreatingRequest,
    Identify,
    MatterContextModel,
    PagedRequest,
    RequestLimits,
    RequestModel,
    SessionId,
    TurnId,
    UpdatingRequest,
    UserId,
    WithAssets,
    acting_caller,
    known,
    parse,
)
from proviso_service.context.catalog.catalog import CatalogHolder, with_added, with_removed
from proviso_service.context.model import ItemsChange, RequestContext
from proviso_service.errors import SessionNotFound
from proviso_service.identity import Caller
from proviso_service.paging import PageRequest
from proviso_service.turns import (
    ANSWERS_LOOKED_AT,
    Rating,
    RatingReason,
    Session,
    SessionStore,
    TurnRequest,
    mark_in_session,
    mark_missing_in_message,
    removal_suggestions,
)

_EXPORTED_AT_ONCE = 50


class CreateSessionRequestModel(CreatingRequest):
    proto = pb.CreateSessionRequest

    session_id: Annotated[str, Field(max_length=128)]


class ContinueSessionRequestModel(CreatingRequest):
    proto = pb.ContinueSessionRequest

    session_id: SessionId
    new_session_id: Annotated[str, Field(max_length=128)]


class GetSessionRequestModel(RequestModel):
    proto = pb.GetSessionRequest

    session_id: SessionId
    user_id: UserId


class ListSessionsRequestModel(PagedRequest):
    proto = pb.ListSessionsRequest

    user_id: UserId


class SessionValuesModel(RequestModel):
    """What a request says of a session; the fields that only the service sets are left out."""

    model_config = ConfigDict(extra="ignore")
    proto = pb.Session

    session_id: SessionId
    title: Annotated[str, Field(max_length=512)]
    notes: Annotated[str, Field(max_length=20_000)]


class UpdateSessionRequestModel(UpdatingRequest):
    proto = pb.UpdateSessionRequest
    thing = "session"
    changeable = ("title", "notes")

    session: SessionValuesModel
    user_id: UserId


class DeleteSessionRequestModel(RequestModel):
    proto = pb.DeleteSessionRequest

    session_id: SessionId
    user_id: UserId


class AddContextItemRequestModel(RequestModel):
    proto = pb.AddContextItemRequest

    session_id: SessionId
    user_id: UserId
    item: ContextItemRefModel


class RemoveContextItemRequestModel(RequestModel):
    proto = pb.RemoveContextItemRequest

    session_id: SessionId
    user_id: UserId
    item: ContextItemRefModel


class ListMessagesRequestModel(PagedRequest):
    proto = pb.ListMessagesRequest

    session_id: SessionId
    user_id: UserId


class PreviewRequestContextRequestModel(WithAssets):
    proto = pb.PreviewRequestContextRequest

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
    proto = pb.RebuildRequestRequest

    turn_id: TurnId
    user_id: UserId


class SuggestRemovalsRequestModel(RequestModel):
    proto = pb.SuggestRemovalsRequest

    session_id: SessionId
    user_id: UserId


class RateAnswerRequestModel(RequestModel):
    proto = pb.RateAnswerRequest

    turn_id: TurnId
    user_id: UserId
    rating: Annotated[Rating | None, known(or_none(RATINGS))]
    reason: Annotated[RatingReason | None, known(or_none(RATING_REASONS))]
    text: Annotated[str, Field(max_length=2_000)]


async def conversations_about(
    sessions: SessionStore, tenant: str, matter_id: str, user: str | None
) -> AsyncGenerator[AsyncGenerator[bytes, None], None]:
    """Yields each session about a matter as JSON, in pieces: its user, its id, and the messages of turns that may know
    something of the matter, written as the contract's ChatMessage; only those of one user where one is given. A session
    that is deleted meanwhile has no more messages from there on."""
    for caller, session_id in await sessions.about(tenant, matter_id, user):
        yield _conversation(sessions, caller, session_id, matter_id)


async def _conversation(
    sessions: SessionStore, caller: Caller, session_id: str, matter_id: str
) -> AsyncGenerator[bytes, None]:
    head = json.dumps({"user_id": caller.user, "session_id": session_id}, ensure_ascii=False)
    yield f'{head[:-1]}, "messages": ['.encode()
    separator, token = "", ""
    while True:
        try:
            page = await sessions.messages(caller, session_id, PageRequest(_EXPORTED_AT_ONCE, token), matter_id)
        except SessionNotFound:
            break
        for message in page.items:
            fields = MessageToDict(chat_message(message), preserving_proto_field_name=True)
            yield f"{separator}\n{json.dumps(fields, ensure_ascii=False)}".encode()
            separator = ","
        token = page.next_token
        if not token:
            break
    yield b"\n]}"


class SessionServicer(SessionServiceServicer):
    """`preview` gives the request context that a message would have. `deleted` is called with the turns of each session
    that was deleted."""

    def __init__(
        self,
        sessions: SessionStore,
        catalog: CatalogHolder,
        preview: Callable[[Caller, TurnRequest], Awaitable[RequestContext]],
        rebuilder: RequestRebuilder,
        limits: RequestLimits,
        identify: Identify = acting_caller,
        deleted: Callable[[Sequence[str]], None] = lambda _turn_ids: None,
    ) -> None:
        self._deleted = deleted
        self._sessions = sessions
        self._catalog = catalog
        self._preview = preview
        self._rebuilder = rebuilder
        self._limits = limits
        self._identify = identify

    async def CreateSession(self, request: pb.CreateSessionRequest, context: Context) -> pb.CreateSessionResponse:
        asked = parse(CreateSessionRequestModel, request)
        caller = self._identify(context, asked.user_id)
        session_id = asked.session_id or str(uuid4())
        new = self._catalog.current.new_session
        created = await self._sessions.create(caller, session_id, new, asked.retry_key(caller))
        return pb.CreateSessionResponse(session=self._shown(created))

    async def ContinueSession(self, request: pb.ContinueSessionRequest, context: Context) -> pb.ContinueSessionResponse:
        asked = parse(ContinueSessionRequestModel, request)
        caller = self._identify(context, asked.user_id)
        new_id = asked.new_session_id or str(uuid4())
        max_chars = self._limits.turns.max_context_chars // 3
        made = await self._sessions.go_on(caller, asked.session_id, new_id, max_chars, asked.retry_key(caller))
        return pb.ContinueSessionResponse(session=self._shown(made))

    async def GetSession(self, request: pb.GetSessionRequest, context: Context) -> pb.GetSessionResponse:
        asked = parse(GetSessionRequestModel, request)
        caller = self._identify(context, asked.user_id)
        return pb.GetSessionResponse(session=self._shown(await self._sessions.get(caller, asked.session_id)))

    async def ListSessions(self, request: pb.ListSessionsRequest, context: Context) -> pb.ListSessionsResponse:
        asked = parse(ListSessionsRequestModel, request)
        caller = self._identify(context, asked.user_id)

        async def answer(page: PageRequest) -> pb.ListSessionsResponse:
            found = await self._sessions.list(caller, page)
            return pb.ListSessionsResponse(
                sessions=[self._shown(item) for item in found.items],
                next_page_token=found.next_token,
                total_size=found.total_size,
            )

        return await fitting_page(asked.page, answer)

    async def UpdateSession(self, request: pb.UpdateSessionRequest, context: Context) -> pb.UpdateSessionResponse:
        asked = parse(UpdateSessionRequestModel, request)
        caller = self._identify(context, asked.user_id)
        changed = await self._sessions.update(caller, asked.session.session_id, **asked.changes)
        return pb.UpdateSessionResponse(session=self._shown(changed))

    async def DeleteSession(self, request: pb.DeleteSessionRequest, context: Context) -> pb.DeleteSessionResponse:
        asked = parse(DeleteSessionRequestModel, request)
        caller = self._identify(context, asked.user_id)
        deleted = await self._sessions.delete(caller, asked.session_id)
        self._deleted(deleted.turn_ids)
        return pb.DeleteSessionResponse(deletion_id=deleted.deletion_id)

    async def ListMessages(self, request: pb.ListMessagesRequest, context: Context) -> pb.ListMessagesResponse:
        asked = parse(ListMessagesRequestModel, request)
        caller = self._identify(context, asked.user_id)

        async def answer(page: PageRequest) -> pb.ListMessagesResponse:
            found = await self._sessions.messages(caller, asked.session_id, page)
            catalog = self._catalog.current
            return pb.ListMessagesResponse(
                messages=[chat_message(mark_missing_in_message(item, catalog)) for item in found.items],
                next_page_token=found.next_token,
                total_size=found.total_size,
            )

        return await fitting_page(asked.page, answer)

    async def AddContextItem(self, request: pb.AddContextItemRequest, context: Context) -> pb.AddContextItemResponse:
        asked = parse(AddContextItemRequestModel, request)
        change = partial(with_added, ref=asked.item.to_domain(), catalog=self._catalog.current)
        return pb.AddContextItemResponse(session=await self._changed(asked, change, context))

    async def RemoveContextItem(
        self, request: pb.RemoveContextItemRequest, context: Context
    ) -> pb.RemoveContextItemResponse:
        asked = parse(RemoveContextItemRequestModel, request)
        change = partial(with_removed, ref=asked.item.to_domain(), catalog=self._catalog.current)
        return pb.RemoveContextItemResponse(session=await self._changed(asked, change, context))

    async def PreviewRequestContext(
        self, request: pb.PreviewRequestContextRequest, context: Context
    ) -> pb.PreviewRequestContextResponse:
        asked = parse(PreviewRequestContextRequestModel, request, context=self._limits)
        caller = self._identify(context, asked.user_id)
        preview = await self._preview(caller, asked.to_domain())
        return pb.PreviewRequestContextResponse(request_context=request_context(preview))

    async def RebuildRequest(self, request: pb.RebuildRequestRequest, context: Context) -> pb.RebuildRequestResponse:
        asked = parse(RebuildRequestRequestModel, request)
        caller = self._identify(context, asked.user_id)
        return rebuilt_request(await self._rebuilder.rebuild(caller, asked.turn_id))

    async def SuggestRemovals(self, request: pb.SuggestRemovalsRequest, context: Context) -> pb.SuggestRemovalsResponse:
        asked = parse(SuggestRemovalsRequestModel, request)
        caller = self._identify(context, asked.user_id)
        found = await self._sessions.get(caller, asked.session_id)
        contexts = await self._sessions.recent_contexts(caller, asked.session_id, ANSWERS_LOOKED_AT)
        suggested = removal_suggestions(mark_in_session(found, self._catalog.current).items, contexts)
        return pb.SuggestRemovalsResponse(
            suggestions=[removal_suggestion(one) for one in suggested], answers=len(contexts)
        )

    async def RateAnswer(self, request: pb.RateAnswerRequest, context: Context) -> pb.RateAnswerResponse:
        asked = parse(RateAnswerRequestModel, request)
        caller = self._identify(context, asked.user_id)
        kept = await self._sessions.rate(caller, asked.turn_id, asked.rating, asked.reason, asked.text)
        return pb.RateAnswerResponse(rating=answer_rating(kept))

    async def _changed(
        self, asked: AddContextItemRequestModel | RemoveContextItemRequestModel, change: ItemsChange, context: Context
    ) -> pb.Session:
        caller = self._identify(context, asked.user_id)
        return self._shown(await self._sessions.change_items(caller, asked.session_id, change))

    def _shown(self, value: Session) -> pb.Session:
        """The session as callers see it: items that are no longer in the catalog are marked."""
        return session(mark_in_session(value, self._catalog.current))
