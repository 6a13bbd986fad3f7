# ruff: noqa: N802 - methods are named as in the contract
"""A SessionService that holds what a test puts in."""

from dataclasses import dataclass, field

import grpc
from google.protobuf.message import Message

from proviso_client.v1 import context_pb2, sessions_pb2, sessions_pb2_grpc


@dataclass
class ScriptedSessions(sessions_pb2_grpc.SessionServiceServicer):
    """Sessions by id, with the messages of all of them in `pages`. Adding `unknown` items fails. `preview` and
    `rebuilt` are the answers to those calls, whose requests are remembered."""

    sessions: dict[str, sessions_pb2.Session] = field(default_factory=dict)
    pages: list[list[sessions_pb2.ChatMessage]] = field(default_factory=lambda: [[]])
    unknown: set[str] = field(default_factory=set)
    preview: context_pb2.RequestContext = field(default_factory=context_pb2.RequestContext)
    previews: list[sessions_pb2.PreviewRequestContextRequest] = field(default_factory=list)
    rebuilt: sessions_pb2.RebuildRequestResponse = field(default_factory=sessions_pb2.RebuildRequestResponse)
    rebuilds: list[str] = field(default_factory=list)
    rated: list[sessions_pb2.RateAnswerRequest] = field(default_factory=list)

    def CreateSession(
        self, request: sessions_pb2.CreateSessionRequest, context: grpc.ServicerContext
    ) -> sessions_pb2.CreateSessionResponse:
        if request.session_id in self.sessions:
            abort(context, grpc.StatusCode.ALREADY_EXISTS, "SESSION_EXISTS", "There is one")
        self.sessions[request.session_id] = sessions_pb2.Session(session_id=request.session_id)
        return sessions_pb2.CreateSessionResponse(session=self.sessions[request.session_id])

    def ContinueSession(
        self, request: sessions_pb2.ContinueSessionRequest, context: grpc.ServicerContext
    ) -> sessions_pb2.ContinueSessionResponse:
        before = self._session(request.session_id, context)
        made = sessions_pb2.Session(session_id=request.new_session_id, items=before.items, message_count=4)
        self.sessions[request.new_session_id] = made
        return sessions_pb2.ContinueSessionResponse(session=made)

    def UpdateSession(
        self, request: sessions_pb2.UpdateSessionRequest, context: grpc.ServicerContext
    ) -> sessions_pb2.UpdateSessionResponse:
        session = self._session(request.session.session_id, context)
        session.title = request.session.title
        return sessions_pb2.UpdateSessionResponse(session=session)

    def RateAnswer(
        self, request: sessions_pb2.RateAnswerRequest, context: grpc.ServicerContext
    ) -> sessions_pb2.RateAnswerResponse:
        self.rated.append(request)
        return sessions_pb2.RateAnswerResponse()

    def AddContextItem(
        self, request: sessions_pb2.AddContextItemRequest, context: grpc.ServicerContext
    ) -> sessions_pb2.AddContextItemResponse:
        if request.item.name in self.unknown:
            message = f"There is no rule '{request.item.name}'; near: 'Plain English'"
            abort(context, grpc.StatusCode.NOT_FOUND, "CONTEXT_ITEM_NOT_FOUND", message)
        session = self._session(request.session_id, context)
        session.items.add(item=request.item, include_mode=context_pb2.INCLUDE_MODE_MANUAL)
        return sessions_pb2.AddContextItemResponse(session=session)

    def RemoveContextItem(
        self, request: sessions_pb2.RemoveContextItemRequest, context: grpc.ServicerContext
    ) -> sessions_pb2.RemoveContextItemResponse:
        session = self._session(request.session_id, context)
        kept = [item for item in session.items if item.item != request.item]
        del session.items[:]
        session.items.extend(kept)
        return sessions_pb2.RemoveContextItemResponse(session=session)

    def ListMessages(
        self, request: sessions_pb2.ListMessagesRequest, context: grpc.ServicerContext
    ) -> sessions_pb2.ListMessagesResponse:
        self._session(request.session_id, context)
        number = int(request.page_token or 0)
        following = str(number + 1) if number + 1 < len(self.pages) else ""
        return sessions_pb2.ListMessagesResponse(messages=self.pages[number], next_page_token=following)

    def PreviewRequestContext(
        self, request: sessions_pb2.PreviewRequestContextRequest, context: grpc.ServicerContext
    ) -> sessions_pb2.PreviewRequestContextResponse:
        self.previews.append(request)
        return sessions_pb2.PreviewRequestContextResponse(request_context=self.preview)

    def RebuildRequest(
        self, request: sessions_pb2.RebuildRequestRequest, context: grpc.ServicerContext
    ) -> sessions_pb2.RebuildRequestResponse:
        self.rebuilds.append(request.turn_id)
        return self.rebuilt

    def _session(self, session_id: str, context: grpc.ServicerContext) -> sessions_pb2.Session:
        if session_id not in self.sessions:
            abort(context, grpc.StatusCode.NOT_FOUND, "SESSION_NOT_FOUND", f"There is no session '{session_id}'")
        return self.sessions[session_id]


def abort(context: grpc.ServicerContext, code: grpc.StatusCode, reason: str, message: str, **metadata: str) -> None:
    """Fails a call as Proviso does, with an ErrorInfo, and for a message "field: description" with a BadRequest."""
    from google.rpc import error_details_pb2, status_pb2  # type: ignore[import-untyped]
    from grpc_status import rpc_status

    details: list[Message] = [error_details_pb2.ErrorInfo(reason=reason, domain="proviso.v1", metadata=metadata)]
    name, separator, description = message.partition(": ")
    if reason == "INVALID_REQUEST" and separator:
        violation = error_details_pb2.BadRequest.FieldViolation(field=name, description=description)
        details.append(error_details_pb2.BadRequest(field_violations=[violation]))
    status = status_pb2.Status(code=code.value[0], message=message)
    for detail in details:
        status.details.add().Pack(detail)
    context.abort_with_status(rpc_status.to_status(status))
