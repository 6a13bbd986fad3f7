"""Parts of requests that name context."""

from typing import Annotated

from pydantic import Field, ValidationInfo, field_validator

from proviso_client.v1 import context_pb2
from proviso_service.api.convert.enums import ITEM_TYPES
from proviso_service.api.requests.base import RequestModel, known
from proviso_service.context.model import DocumentSummary, ItemRef, ItemType, MatterContext
from proviso_service.value_faults import refusal


class MatterContextModel(RequestModel):
    """Ids are taken as they are: a malformed one is answered in words."""

    proto = context_pb2.MatterContext

    matter_id: Annotated[str, Field(max_length=64)]
    matter_name: Annotated[str, Field(max_length=512)]
    document_id: Annotated[str, Field(max_length=64)]
    document_name: Annotated[str, Field(max_length=512)]

    def to_domain(self) -> MatterContext | None:
        """None when every field is empty: clients that fill in defaults send such a message for an absent one."""
        context = MatterContext(self.matter_id, self.matter_name, self.document_id, self.document_name)
        return None if context == MatterContext("") else context


class DocumentContextModel(RequestModel):
    proto = context_pb2.DocumentContext

    filename: Annotated[str, Field(min_length=1, max_length=255)]
    type: Annotated[str, Field(max_length=64)]
    summary: Annotated[str, Field(max_length=20_000)]

    def to_domain(self) -> DocumentSummary:
        return DocumentSummary(self.filename, self.type, self.summary)


class ContextItemRefModel(RequestModel):
    proto = context_pb2.ContextItemRef

    type: Annotated[ItemType, known({number: member for member, number in ITEM_TYPES.items()})]
    name: Annotated[str, Field(min_length=1, max_length=128)]
    server_name: Annotated[str, Field(max_length=128)]

    @field_validator("server_name")
    @classmethod
    def _of_tools_only(cls, value: str, info: ValidationInfo) -> str:
        kind = info.data.get("type")
        if kind is ItemType.TOOL and not value:
            raise refusal("must name the tool's server, proviso for the service's own tools")
        if kind in {ItemType.RULE, ItemType.REFERENCE} and value:
            raise refusal("must be empty: only tools have a server")
        return value

    def to_domain(self) -> ItemRef:
        return ItemRef(self.type, self.name, self.server_name)
