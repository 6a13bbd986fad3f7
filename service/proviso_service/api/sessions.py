# ruff: noqa: N802  methods have the names of the contract
"""SessionService."""

from functools import partial
from uuid import uuid4

from proviso_client.v1 import sessions_pb2 as pb
from proviso_client.v1.sessions_pb2_grpc import SessionServiceServicer
from proviso_service.api.answer_size import fitting_page
from proviso_service.api.convert.context import request_context
from proviso_service.api.convert.rebuilding import rebuilt_request
from proviso_service.api.convert.sessions import chat_message, removal_suggestion, session
from proviso_service.api.domain import Domain
from proviso_service.api.identity import Context
from proviso_service.api.requests.base import parse
from proviso_service.api.requests.sessions import (
    AddContextItemRequestModel,
    CreateSessionRequestModel,
    DeleteSessionRequestModel,
    GetSessionRequestModel,
    ListMessagesRequestModel,
    ListSessionsRequestModel,
    PreviewRequestContextRequestModel,
    RebuildRequestRequestModel,
    RemoveContextItemRequestModel,
    SuggestRemovalsRequestModel,
)
from proviso_service.context.catalog.catalog import with_added, with_removed
from proviso_service.context.model import ItemsChange
from proviso_service.paging import PageRequest
from proviso_service.turns import (
    ANSWERS_LOOKED_AT,
    Session,
    mark_missing_in_message,
    mark_missing_in_session,
    removal_suggestions,
)

FEATURE = "the catalog"


class SessionServicer(SessionServiceServicer):
    def __init__(self, domain: Domain) -> None:
        self._domain = domain

    async def CreateSession(self, request: pb.CreateSessionRequest, context: Context) -> pb.CreateSessionResponse:
        asked = parse(CreateSessionRequestModel, request)
        caller = self._domain.identify(context, asked.user_id)
        session_id = asked.session_id or str(uuid4())
        new = self._domain.catalog.current.new_session()
        created = await self._domain.sessions.create(caller, session_id, new)
        return pb.CreateSessionResponse(session=self._shown(created))

    async def GetSession(self, request: pb.GetSessionRequest, context: Context) -> pb.GetSessionResponse:
        asked = parse(GetSessionRequestModel, request)
        caller = self._domain.identify(context, asked.user_id)
        return pb.GetSessionResponse(session=self._shown(await self._domain.sessions.get(caller, asked.session_id)))

    async def ListSessions(self, request: pb.ListSessionsRequest, context: Context) -> pb.ListSessionsResponse:
        asked = parse(ListSessionsRequestModel, request)
        caller = self._domain.identify(context, asked.user_id)

        async def answer(page: PageRequest) -> pb.ListSessionsResponse:
            found = await self._domain.sessions.list(caller, page)
            return pb.ListSessionsResponse(
                sessions=[self._shown(item) for item in found.items], next_page_token=found.next_token
            )

        return await fitting_page(asked.page, answer)

    async def DeleteSession(self, request: pb.DeleteSessionRequest, context: Context) -> pb.DeleteSessionResponse:
        asked = parse(DeleteSessionRequestModel, request)
        caller = self._domain.identify(context, asked.user_id)
        await self._domain.sessions.delete(caller, asked.session_id)
        return pb.DeleteSessionResponse()

    async def ListMessages(self, request: pb.ListMessagesRequest, context: Context) -> pb.ListMessagesResponse:
        asked = parse(ListMessagesRequestModel, request)
        caller = self._domain.identify(context, asked.user_id)

        async def answer(page: PageRequest) -> pb.ListMessagesResponse:
            found = await self._domain.sessions.messages(caller, asked.session_id, page)
            catalog = self._domain.catalog.current
            return pb.ListMessagesResponse(
                messages=[chat_message(mark_missing_in_message(item, catalog)) for item in found.items],
                next_page_token=found.next_token,
            )

        return await fitting_page(asked.page, answer)

    async def AddContextItem(self, request: pb.AddContextItemRequest, context: Context) -> pb.AddContextItemResponse:
        asked = parse(AddContextItemRequestModel, request)
        change = partial(with_added, ref=asked.item.to_domain(), catalog=self._domain.catalog.current)
        return pb.AddContextItemResponse(session=await self._changed(asked, change, context))

    async def RemoveContextItem(
        self, request: pb.RemoveContextItemRequest, context: Context
    ) -> pb.RemoveContextItemResponse:
        asked = parse(RemoveContextItemRequestModel, request)
        change = partial(with_removed, ref=asked.item.to_domain(), catalog=self._domain.catalog.current)
        return pb.RemoveContextItemResponse(session=await self._changed(asked, change, context))

    async def PreviewRequestContext(
        self, request: pb.PreviewRequestContextRequest, context: Context
    ) -> pb.PreviewRequestContextResponse:
        asked = parse(PreviewRequestContextRequestModel, request, context=self._domain.limits)
        caller = self._domain.identify(context, asked.user_id)
        preview = await self._domain.preview(caller, asked.to_domain())
        return pb.PreviewRequestContextResponse(request_context=request_context(preview))

    async def RebuildRequest(self, request: pb.RebuildRequestRequest, context: Context) -> pb.RebuildRequestResponse:
        asked = parse(RebuildRequestRequestModel, request)
        caller = self._domain.identify(context, asked.user_id)
        return rebuilt_request(await self._domain.rebuilder.rebuild(caller, asked.turn_id))

    async def SuggestRemovals(self, request: pb.SuggestRemovalsRequest, context: Context) -> pb.SuggestRemovalsResponse:
        asked = parse(SuggestRemovalsRequestModel, request)
        caller = self._domain.identify(context, asked.user_id)
        found = await self._domain.sessions.get(caller, asked.session_id)
        contexts = await self._domain.sessions.recent_contexts(caller, asked.session_id, ANSWERS_LOOKED_AT)
        suggested = removal_suggestions(found.items, contexts)
        return pb.SuggestRemovalsResponse(
            suggestions=[removal_suggestion(one) for one in suggested], answers=len(contexts)
        )

    async def _changed(
        self, asked: AddContextItemRequestModel | RemoveContextItemRequestModel, change: ItemsChange, context: Context
    ) -> pb.Session:
        caller = self._domain.identify(context, asked.user_id)
        return self._shown(await self._domain.sessions.change_items(caller, asked.session_id, change))

    def _shown(self, value: Session) -> pb.Session:
        """As it is handed out: with marks on the items that have left the catalog."""
        return session(mark_missing_in_session(value, self._domain.catalog.current))
