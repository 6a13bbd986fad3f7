"""Requests of MatterService."""

from typing import Annotated

from pydantic import AfterValidator, Field

from proviso_client.v1 import matters_pb2
from proviso_service.api.requests.base import (
    DocumentId,
    DocumentIds,
    MatterId,
    MatterIdOrDocumentation,
    PagedRequest,
    RequestModel,
    UserId,
)
from proviso_service.matters import UploadHeader
from proviso_service.value_faults import refusal

SHA256_HEX_DIGITS = 64


def _sha256(value: str) -> str:
    """Empty, or the digest with lower-case letters."""
    if value and (len(value) != SHA256_HEX_DIGITS or not set(value) <= set("0123456789abcdefABCDEF")):
        raise refusal("must be 64 hexadecimal digits")
    return value.lower()


class CreateMatterRequestModel(RequestModel):
    proto = matters_pb2.CreateMatterRequest

    name: Annotated[str, Field(min_length=1, max_length=512)]
    user_id: UserId


class GetMatterRequestModel(RequestModel):
    proto = matters_pb2.GetMatterRequest

    matter_id: MatterId


class ListMattersRequestModel(PagedRequest):
    proto = matters_pb2.ListMattersRequest

    name: Annotated[str, Field(max_length=512)]


class DeleteMatterRequestModel(RequestModel):
    proto = matters_pb2.DeleteMatterRequest

    matter_id: MatterId


class UploadHeaderModel(RequestModel):
    proto = matters_pb2.UploadHeader

    matter_id: MatterIdOrDocumentation
    filename: Annotated[str, Field(min_length=1, max_length=255)]
    sha256: Annotated[str, Field(max_length=64), AfterValidator(_sha256)]

    def to_domain(self) -> UploadHeader:
        return UploadHeader(self.matter_id, self.filename, self.sha256)


class GetDocumentRequestModel(RequestModel):
    proto = matters_pb2.GetDocumentRequest

    matter_id: MatterIdOrDocumentation
    document_id: DocumentId


class ListDocumentsRequestModel(PagedRequest):
    proto = matters_pb2.ListDocumentsRequest

    matter_id: MatterIdOrDocumentation


class DeleteDocumentRequestModel(RequestModel):
    proto = matters_pb2.DeleteDocumentRequest

    matter_id: MatterIdOrDocumentation
    document_id: DocumentId


class WatchDocumentsRequestModel(RequestModel):
    proto = matters_pb2.WatchDocumentsRequest

    matter_id: MatterIdOrDocumentation
    document_ids: DocumentIds
