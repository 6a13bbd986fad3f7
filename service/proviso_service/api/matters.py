# ruff: noqa: N802  methods have the names of the contract
"""MatterService: matters and their documents."""

from collections.abc import AsyncIterator, Callable
from contextlib import aclosing
from typing import Annotated

from pydantic import ConfigDict, Field

from proviso_client.v1 import matters_pb2 as pb
from proviso_client.v1.matters_pb2_grpc import MatterServiceServicer
from proviso_service.access import Authorisation, MatterRole
from proviso_service.admission import Admission
from proviso_service.api.convert.matters import (
    MATTER_ROLES,
    content_header,
    document,
    document_page,
    matter,
    member,
    progress,
)
from proviso_service.api.convert.values import fitting_page
from proviso_service.api.request_models import (
    Context,
    CreatingRequest,
    DocumentId,
    DocumentIds,
    Identify,
    MatterId,
    MatterIdOrDocumentation,
    PagedRequest,
    RequestModel,
    UpdatingRequest,
    acting_caller,
    known,
    parse,
)
from proviso_service.api.sessions import conversations_about
from proviso_service.api.uploads import UPLOAD_IDLE_S, UPLOADS_AT_ONCE, Upload
from proviso_service.errors import MatterNotFound, NotAllowed
from proviso_service.identity import Role
from proviso_service.matters import Document, Matter, Matters, Member, MemberStore, Visibility
from proviso_service.paging import MAX_PAGE_SIZE, PageRequest
from proviso_service.reading import Span
from proviso_service.turns import SessionStore

MemberId = Annotated[str, Field(min_length=1, max_length=128)]


class CreateMatterRequestModel(CreatingRequest):
    proto = pb.CreateMatterRequest

    name: Annotated[str, Field(min_length=1, max_length=512)]


class MatterValuesModel(RequestModel):
    """What a request says of a matter; the fields that only the service sets are left out."""

    model_config = ConfigDict(extra="ignore")
    proto = pb.Matter

    matter_id: MatterId
    name: Annotated[str, Field(max_length=512)]
    notes: Annotated[str, Field(max_length=20_000)]


class UpdateMatterRequestModel(UpdatingRequest):
    proto = pb.UpdateMatterRequest
    thing = "matter"
    changeable = ("name", "notes")

    matter: MatterValuesModel


class GetMatterRequestModel(RequestModel):
    proto = pb.GetMatterRequest

    matter_id: MatterId


class ListMattersRequestModel(PagedRequest):
    proto = pb.ListMattersRequest

    name: Annotated[str, Field(max_length=512)]


class DeleteMatterRequestModel(RequestModel):
    proto = pb.DeleteMatterRequest

    matter_id: MatterId


class SetLegalHoldRequestModel(RequestModel):
    proto = pb.SetLegalHoldRequest

    matter_id: MatterId
    reason: Annotated[str, Field(min_length=1, max_length=1_000)]


class LiftLegalHoldRequestModel(RequestModel):
    proto = pb.LiftLegalHoldRequest

    matter_id: MatterId


class MatterMemberModel(RequestModel):
    """A member as a request names him; the field that only the service sets is left out."""

    model_config = ConfigDict(extra="ignore")
    proto = pb.MatterMember

    user_id: MemberId
    role: Annotated[MatterRole, known({number: role for role, number in MATTER_ROLES.items()})]


class GrantMatterAccessRequestModel(RequestModel):
    proto = pb.GrantMatterAccessRequest

    matter_id: MatterId
    member: MatterMemberModel


class RevokeMatterAccessRequestModel(RequestModel):
    proto = pb.RevokeMatterAccessRequest

    matter_id: MatterId
    member_user_id: MemberId


class ListMatterMembersRequestModel(PagedRequest):
    proto = pb.ListMatterMembersRequest

    matter_id: MatterId


class GetDocumentRequestModel(RequestModel):
    proto = pb.GetDocumentRequest

    matter_id: MatterIdOrDocumentation
    document_id: DocumentId


class ExportMatterRequestModel(RequestModel):
    proto = pb.ExportMatterRequest

    matter_id: MatterId
    all_conversations: bool


class GetDocumentContentRequestModel(RequestModel):
    proto = pb.GetDocumentContentRequest

    matter_id: MatterIdOrDocumentation
    document_id: DocumentId
    offset: Annotated[int, Field(ge=0)]
    length: Annotated[int, Field(ge=0)]


class GetDocumentPageRequestModel(RequestModel):
    proto = pb.GetDocumentPageRequest

    matter_id: MatterIdOrDocumentation
    document_id: DocumentId
    page: Annotated[int, Field(ge=1, le=1_000_000)]
    start: Annotated[int, Field(ge=0)]
    end: Annotated[int, Field(ge=0)]


class ListDocumentsRequestModel(PagedRequest):
    proto = pb.ListDocumentsRequest

    matter_id: MatterIdOrDocumentation


class DeleteDocumentRequestModel(RequestModel):
    proto = pb.DeleteDocumentRequest

    matter_id: MatterIdOrDocumentation
    document_id: DocumentId


class WatchDocumentsRequestModel(RequestModel):
    proto = pb.WatchDocumentsRequest

    matter_id: MatterIdOrDocumentation
    document_ids: DocumentIds


class MatterServicer(MatterServiceServicer):
    """A caller who sends nothing for `upload_idle_s` seconds in the middle of an upload is cut off. `deleted` is called
    when something was deleted."""

    def __init__(
        self,
        matters: Matters,
        members: MemberStore,
        sessions: SessionStore,
        identify: Identify = acting_caller,
        upload_idle_s: float = UPLOAD_IDLE_S,
        deleted: Callable[[], None] = lambda: None,
    ) -> None:
        self._deleted = deleted
        self._sessions = sessions
        self._matters = matters
        self._members = members
        self._authorisation = Authorisation(members)
        self._identify = identify
        self._upload_idle_s = upload_idle_s
        self.admission = Admission("uploads", UPLOADS_AT_ONCE, on_loop=False)

    async def CreateMatter(self, request: pb.CreateMatterRequest, context: Context) -> pb.CreateMatterResponse:
        asked = parse(CreateMatterRequestModel, request)
        caller = self._identify(context, asked.user_id)
        if caller.matters is not None:
            raise NotAllowed("This credential opens some matters only: it makes none")
        made = await self._matters.create(caller.tenant, asked.name, asked.retry_key(caller), caller.user)
        return pb.CreateMatterResponse(matter=await self._shown(context, made))

    async def GetMatter(self, request: pb.GetMatterRequest, context: Context) -> pb.GetMatterResponse:
        asked = parse(GetMatterRequestModel, request)
        found = await self._matters.get(self._tenant(context), asked.matter_id)
        return pb.GetMatterResponse(matter=await self._shown(context, found))

    async def ListMatters(self, request: pb.ListMattersRequest, context: Context) -> pb.ListMattersResponse:
        asked = parse(ListMattersRequestModel, request)
        caller = self._identify(context, "")
        seen_by = Visibility(None if Role.ADMIN in caller.roles else caller.user, caller.matters)

        async def answer(page: PageRequest) -> pb.ListMattersResponse:
            found = await self._matters.list(caller.tenant, page, asked.name, seen_by)
            return pb.ListMattersResponse(
                matters=[matter(item, item.role or MatterRole.OWNER) for item in found.items],
                next_page_token=found.next_token,
                total_size=found.total_size,
            )

        return await fitting_page(asked.page, answer)

    async def UpdateMatter(self, request: pb.UpdateMatterRequest, context: Context) -> pb.UpdateMatterResponse:
        asked = parse(UpdateMatterRequestModel, request)
        changed = await self._matters.update(self._tenant(context), asked.matter.matter_id, **asked.changes)
        return pb.UpdateMatterResponse(matter=await self._shown(context, changed))

    async def DeleteMatter(self, request: pb.DeleteMatterRequest, context: Context) -> pb.DeleteMatterResponse:
        asked = parse(DeleteMatterRequestModel, request)
        deletion_id = await self._matters.delete(self._tenant(context), asked.matter_id)
        self._deleted()
        return pb.DeleteMatterResponse(deletion_id=deletion_id)

    async def SetLegalHold(self, request: pb.SetLegalHoldRequest, context: Context) -> pb.SetLegalHoldResponse:
        asked = parse(SetLegalHoldRequestModel, request)
        caller = self._identify(context, "")
        held = await self._matters.hold(caller.tenant, asked.matter_id, caller.user, asked.reason)
        return pb.SetLegalHoldResponse(matter=await self._shown(context, held))

    async def LiftLegalHold(self, request: pb.LiftLegalHoldRequest, context: Context) -> pb.LiftLegalHoldResponse:
        asked = parse(LiftLegalHoldRequestModel, request)
        caller = self._identify(context, "")
        freed = await self._matters.lift_hold(caller.tenant, asked.matter_id, caller.user)
        return pb.LiftLegalHoldResponse(matter=await self._shown(context, freed))

    async def GrantMatterAccess(
        self, request: pb.GrantMatterAccessRequest, context: Context
    ) -> pb.GrantMatterAccessResponse:
        asked = parse(GrantMatterAccessRequestModel, request)
        wanted = asked.member
        granted = await self._members.grant(self._tenant(context), asked.matter_id, wanted.user_id, wanted.role)
        return pb.GrantMatterAccessResponse(member=member(granted))

    async def RevokeMatterAccess(
        self, request: pb.RevokeMatterAccessRequest, context: Context
    ) -> pb.RevokeMatterAccessResponse:
        asked = parse(RevokeMatterAccessRequestModel, request)
        await self._members.revoke(self._tenant(context), asked.matter_id, asked.member_user_id)
        return pb.RevokeMatterAccessResponse()

    async def ListMatterMembers(
        self, request: pb.ListMatterMembersRequest, context: Context
    ) -> pb.ListMatterMembersResponse:
        asked = parse(ListMatterMembersRequestModel, request)
        found = await self._members.members(self._tenant(context), asked.matter_id, asked.page)
        return pb.ListMatterMembersResponse(
            members=[member(item) for item in found.items],
            next_page_token=found.next_token,
            total_size=found.total_size,
        )

    async def UploadDocument(
        self, requests: AsyncIterator[pb.UploadDocumentRequest], context: Context
    ) -> pb.UploadDocumentResponse:
        upload = Upload(requests, self._upload_idle_s)
        async with self.admission.one(self._identify(context, "")), aclosing(upload.pieces()) as pieces:
            stored = await self._matters.upload(self._tenant(context), await upload.header(), pieces)
        return pb.UploadDocumentResponse(
            document=self._document(stored.document), already_existed=stored.already_existed
        )

    def _document(self, value: Document) -> pb.Document:
        return document(value, self._matters.warnings_about(value))

    async def GetDocument(self, request: pb.GetDocumentRequest, context: Context) -> pb.GetDocumentResponse:
        asked = parse(GetDocumentRequestModel, request)
        found = await self._matters.get_document(self._tenant(context), asked.matter_id, asked.document_id)
        return pb.GetDocumentResponse(document=self._document(found))

    async def GetDocumentContent(
        self, request: pb.GetDocumentContentRequest, context: Context
    ) -> AsyncIterator[pb.GetDocumentContentResponse]:
        asked = parse(GetDocumentContentRequestModel, request)
        content = await self._matters.document_content(
            self._tenant(context), asked.matter_id, asked.document_id, asked.offset, asked.length
        )
        yield content_header(content)
        async with aclosing(content.pieces) as pieces:
            async for piece in pieces:
                yield pb.GetDocumentContentResponse(data=piece)

    async def ExportMatter(
        self, request: pb.ExportMatterRequest, context: Context
    ) -> AsyncIterator[pb.ExportMatterResponse]:
        asked, caller = parse(ExportMatterRequestModel, request), self._identify(context, "")
        tenant = caller.tenant
        if asked.all_conversations and Role.ADMIN not in caller.roles:
            raise NotAllowed("The conversations of all users need a credential with the role admin")
        await self._matters.get(tenant, asked.matter_id)
        members: list[Member] = []
        token = ""
        while True:
            page = await self._members.members(tenant, asked.matter_id, PageRequest(MAX_PAGE_SIZE, token))
            members += page.items
            token = page.next_token
            if not token:
                break
        whose = None if asked.all_conversations else caller.user
        conversations = conversations_about(self._sessions, tenant, asked.matter_id, whose)
        async with aclosing(await self._matters.export(tenant, asked.matter_id, members, conversations)) as pieces:
            async for piece in pieces:
                yield pb.ExportMatterResponse(data=piece)

    async def GetDocumentPage(self, request: pb.GetDocumentPageRequest, context: Context) -> pb.GetDocumentPageResponse:
        asked = parse(GetDocumentPageRequestModel, request)
        page = await self._matters.document_page(
            self._tenant(context), asked.matter_id, asked.document_id, asked.page, Span(asked.start, asked.end)
        )
        return document_page(page)

    async def ListDocuments(self, request: pb.ListDocumentsRequest, context: Context) -> pb.ListDocumentsResponse:
        asked = parse(ListDocumentsRequestModel, request)
        found = await self._matters.list_documents(self._tenant(context), asked.matter_id, asked.page)
        return pb.ListDocumentsResponse(
            documents=[self._document(item) for item in found.items],
            next_page_token=found.next_token,
            total_size=found.total_size,
        )

    async def DeleteDocument(self, request: pb.DeleteDocumentRequest, context: Context) -> pb.DeleteDocumentResponse:
        asked = parse(DeleteDocumentRequestModel, request)
        deletion_id = await self._matters.delete_document(self._tenant(context), asked.matter_id, asked.document_id)
        self._deleted()
        return pb.DeleteDocumentResponse(deletion_id=deletion_id)

    async def WatchDocuments(
        self, request: pb.WatchDocumentsRequest, context: Context
    ) -> AsyncIterator[pb.WatchDocumentsResponse]:
        asked = parse(WatchDocumentsRequestModel, request)
        watch = self._matters.watch(self._tenant(context), asked.matter_id, asked.document_ids)
        async with aclosing(watch) as states:
            async for state in states:
                yield progress(state, self._matters.warnings_about(state.document))

    async def _shown(self, context: Context, value: Matter) -> pb.Matter:
        """Raises MatterNotFound where the caller may see the matter no more, as one that an earlier call has made."""
        role = await self._authorisation.role_in(self._identify(context, ""), value.matter_id)
        if role is None:
            raise MatterNotFound(value.matter_id)
        return matter(value, role)

    def _tenant(self, context: Context) -> str:
        """Matters belong to a tenant, so these requests name no user."""
        return self._identify(context, "").tenant
