# ruff: noqa: N802  methods have the names of the contract
"""MatterService."""

from collections.abc import AsyncIterator
from contextlib import aclosing

from proviso_client.v1 import matters_pb2 as pb
from proviso_client.v1.matters_pb2_grpc import MatterServiceServicer
from proviso_service.api.convert.matters import document, matter, progress
from proviso_service.api.domain import Domain
from proviso_service.api.identity import Context
from proviso_service.api.requests.base import parse
from proviso_service.api.requests.matters import (
    CreateMatterRequestModel,
    DeleteDocumentRequestModel,
    DeleteMatterRequestModel,
    GetDocumentRequestModel,
    GetMatterRequestModel,
    ListDocumentsRequestModel,
    ListMattersRequestModel,
    WatchDocumentsRequestModel,
)
from proviso_service.api.uploads import Upload


class MatterServicer(MatterServiceServicer):
    def __init__(self, domain: Domain) -> None:
        self._domain = domain
        self._matters = domain.matters

    async def CreateMatter(self, request: pb.CreateMatterRequest, context: Context) -> pb.CreateMatterResponse:
        asked = parse(CreateMatterRequestModel, request)
        caller = self._domain.identify(context, asked.user_id)
        return pb.CreateMatterResponse(matter=matter(await self._matters.create(caller.tenant, asked.name)))

    async def GetMatter(self, request: pb.GetMatterRequest, context: Context) -> pb.GetMatterResponse:
        asked = parse(GetMatterRequestModel, request)
        found = await self._matters.get(self._tenant(context), asked.matter_id)
        return pb.GetMatterResponse(matter=matter(found))

    async def ListMatters(self, request: pb.ListMattersRequest, context: Context) -> pb.ListMattersResponse:
        asked = parse(ListMattersRequestModel, request)
        found = await self._matters.list(self._tenant(context), asked.page, asked.name)
        return pb.ListMattersResponse(matters=[matter(item) for item in found.items], next_page_token=found.next_token)

    async def DeleteMatter(self, request: pb.DeleteMatterRequest, context: Context) -> pb.DeleteMatterResponse:
        asked = parse(DeleteMatterRequestModel, request)
        await self._matters.delete(self._tenant(context), asked.matter_id)
        return pb.DeleteMatterResponse()

    async def UploadDocument(
        self, requests: AsyncIterator[pb.UploadDocumentRequest], context: Context
    ) -> pb.UploadDocumentResponse:
        upload = Upload(requests, self._domain.limits.upload_idle_s)
        header = await upload.header()
        async with aclosing(upload.pieces()) as pieces:
            stored = await self._matters.upload(self._tenant(context), header, pieces)
        return pb.UploadDocumentResponse(document=document(stored.document), already_existed=stored.already_existed)

    async def GetDocument(self, request: pb.GetDocumentRequest, context: Context) -> pb.GetDocumentResponse:
        asked = parse(GetDocumentRequestModel, request)
        found = await self._matters.get_document(self._tenant(context), asked.matter_id, asked.document_id)
        return pb.GetDocumentResponse(document=document(found))

    async def ListDocuments(self, request: pb.ListDocumentsRequest, context: Context) -> pb.ListDocumentsResponse:
        asked = parse(ListDocumentsRequestModel, request)
        found = await self._matters.list_documents(self._tenant(context), asked.matter_id, asked.page)
        return pb.ListDocumentsResponse(
            documents=[document(item) for item in found.items], next_page_token=found.next_token
        )

    async def DeleteDocument(self, request: pb.DeleteDocumentRequest, context: Context) -> pb.DeleteDocumentResponse:
        asked = parse(DeleteDocumentRequestModel, request)
        await self._matters.delete_document(self._tenant(context), asked.matter_id, asked.document_id)
        return pb.DeleteDocumentResponse()

    async def WatchDocuments(
        self, request: pb.WatchDocumentsRequest, context: Context
    ) -> AsyncIterator[pb.WatchDocumentsResponse]:
        asked = parse(WatchDocumentsRequestModel, request)
        watch = self._matters.watch(self._tenant(context), asked.matter_id, asked.document_ids)
        async with aclosing(watch) as states:
            async for state in states:
                yield progress(state)

    def _tenant(self, context: Context) -> str:
        """Matters belong to a tenant; these requests name no user."""
        return self._domain.identify(context, "").tenant
