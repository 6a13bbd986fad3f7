"""This module builds the requests of both clients and defines the fields that callers may give by name."""

from collections.abc import Iterable, Mapping
from typing import Any, TypedDict, TypeVar
from uuid import uuid4

from google.protobuf.message import Message

from proviso_client.v1.chat_pb2 import ChatOptions, ChatRequest, HistoryMessage, OnDisconnect
from proviso_client.v1.context_pb2 import ContextItemRef, ContextItemType, DocumentContext, MatterContext
from proviso_client.v1.tools_pb2 import IqlComparison

Fields = Mapping[str, Any]
"""A mapping of field names to values can be given in place of a message. Protobuf accepts both."""

RequestT = TypeVar("RequestT", bound=Message)


class AssetFields(TypedDict, total=False):
    """Defines the fields for the matter, the documents and the images that accompany a message.

    `matter_id` and `document_id` are a short way to give a `matter_context` that holds the two."""

    matter_id: str
    document_id: str
    matter_context: MatterContext | Fields
    image_urls: Iterable[str]
    document_context: Iterable[DocumentContext | Fields]
    selected_assets: Iterable[str]


class ChatFields(AssetFields, total=False):
    """Defines the fields of ChatRequest. The file chat.proto explains them and their limits."""

    session_id: str
    history: Iterable[HistoryMessage | Fields]
    request_id: str
    on_disconnect: OnDisconnect | str
    options: ChatOptions | Fields


class SearchFields(TypedDict, total=False):
    """Defines the fields of SearchRequest other than the matter and the query."""

    max_results: int
    threshold: float
    semantic_weight: float
    include_context: bool
    document_ids: Iterable[str]


class IqlFields(TypedDict, total=False):
    """Defines the fields of ExecuteIqlRequest other than the matter and the query."""

    document_ids: Iterable[str]
    model: str
    min_score: float
    comparison: IqlComparison | str
    max_matches: int
    explain: bool


class ExtractFields(TypedDict, total=False):
    """Defines the fields of ExtractRequest other than the matter and the question."""

    document_ids: Iterable[str]
    min_confidence: float
    max_alternatives: int


class ClassifyFields(TypedDict, total=False):
    """Defines the fields of ClassifyRequest other than the matter."""

    clause_types: Iterable[str]
    document_ids: Iterable[str]
    min_confidence: float
    max_clauses: int


class TextFields(TypedDict, total=False):
    """Defines the fields of GetDocumentTextRequest other than the matter.

    The caller has to give one of `document_id` and `filename`."""

    document_id: str
    filename: str
    max_length: int
    start: int
    page: int
    heading: str


def chat_request(message: str, fields: ChatFields) -> ChatRequest:
    """Returns a ChatRequest for the message, and creates a request_id when the fields have none.

    With a request_id, the client can safely repeat a call whose answer was lost. Raises ValueError when the fields have
    both `matter_context` and one of its short forms."""
    return ChatRequest(message=message, **{"request_id": str(uuid4()), **with_matter(fields)})


def with_matter(fields: AssetFields) -> dict[str, Any]:
    """Returns the fields with `matter_id` and `document_id` replaced by a `matter_context`.

    Raises ValueError when the fields have both `matter_context` and one of its short forms."""
    plain: dict[str, Any] = dict(fields)
    named = {name: plain.pop(name) for name in ("matter_id", "document_id") if name in plain}
    if named and "matter_context" in plain:
        raise ValueError("give either matter_context, or matter_id and document_id")
    return plain | ({"matter_context": named} if named else {})


def item_ref(kind: "ContextItemType | str", name: str, server_name: str = "") -> ContextItemRef:
    """Returns a reference to a context item, which is a rule, a reference, or a tool of a server.

    `kind` is a ContextItemType or one of the words "rule", "reference" and "tool"."""
    if isinstance(kind, str) and not kind.startswith("CONTEXT_ITEM_TYPE_"):
        kind = f"CONTEXT_ITEM_TYPE_{kind.upper()}"
    return ContextItemRef(type=kind, name=name, server_name=server_name)


def for_user(request: RequestT, user_id: str) -> RequestT:
    """Sets the user of the request when it has a `user_id` field that is empty, and returns the request."""
    if user_id and "user_id" in request.DESCRIPTOR.fields_by_name and not getattr(request, "user_id"):  # noqa: B009
        setattr(request, "user_id", user_id)  # noqa: B010
    return request
