# ruff: noqa: N802  methods have the names of the contract
"""SessionService."""

from uuid import uuid4

from proviso.v1 import sessions_pb2 as pb
from proviso.v1.sessions_pb2_grpc import SessionServiceServicer
from proviso_service.api.answer_size import fitting_page
from proviso_service.api.convert.context import request_context
from proviso_service.api.convert.rebuilding import rebuilt_request
from proviso_service.api.convert.sessions import chat_message, session
from proviso_service.api.domain import Domain
from proviso_service.api.errors import NotBuilt
from proviso_service.api.identity import Context
from proviso_service.api.requests.base import parse
from proviso_service.api.requests.sessions import (
    CreateSessionRequestModel,
    DeleteSessionRequestModel,
    GetSessionRequestModel,
    ListMessagesRequestModel,
    ListSessionsRequestModel,
    PreviewRequestContextRequestModel,
    RebuildRequestRequestModel,
)
from proviso_service.paging import PageRequest

FEATURE = "the catalog"


class SessionServicer(SessionServiceServicer):
    def __init__(self, domain: Domain) -> None:
        self._domain = domain

    async def CreateSession(self, request: pb.CreateSessionRequest, context: Context) -> pb.CreateSessionResponse:
        asked = parse(CreateSessionRequestModel, request)
        caller = self._domain.identify(context, asked.user_id)
        session_id = asked.session_id or str(uuid4())
        items = self._domain.catalog.current.session_items()
        created = await self._domain.sessions.create(caller, session_id, items)
        return pb.CreateSessionResponse(session=session(created))

    async def GetSession(self, request: pb.GetSessionRequest, context: Context) -> pb.GetSessionResponse:
        asked = parse(GetSessionRequestModel, request)
        caller = self._domain.identify(context, asked.user_id)
        return pb.GetSessionResponse(session=session(await self._domain.sessions.get(caller, asked.session_id)))

    async def ListSessions(self, request: pb.ListSessionsRequest, context: Context) -> pb.ListSessionsResponse:
        asked = parse(ListSessionsRequestModel, request)
        caller = self._domain.identify(context, asked.user_id)

        async def answer(page: PageRequest) -> pb.ListSessionsResponse:
            found = await self._domain.sessions.list(caller, page)
            return pb.ListSessionsResponse(
                sessions=[session(item) for item in found.items], next_page_token=found.next_token
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
            return pb.ListMessagesResponse(
                messages=[chat_message(item) for item in found.items], next_page_token=found.next_token
            )

        return await fitting_page(asked.page, answer)

    async def AddContextItem(self, request: pb.AddContextItemRequest, context: Context) -> pb.AddContextItemResponse:
        raise NotBuilt("AddContextItem", FEATURE)

    async def RemoveContextItem(
        self, request: pb.RemoveContextItemRequest, context: Context
    ) -> pb.RemoveContextItemResponse:
        raise NotBuilt("RemoveContextItem", FEATURE)

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
        raise NotBuilt("SuggestRemovals", FEATURE)
