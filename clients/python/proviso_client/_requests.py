"""Requests as both clients make them, and the fields that callers may give by name."""

from collections.abc import Iterable, Mapping
from typing import Any, TypedDict, TypeVar
from uuid import uuid4

from google.protobuf.message import Message

from proviso_client.v1.chat_pb2 import ChatOptions, ChatRequest, HistoryMessage, OnDisconnect
from proviso_client.v1.context_pb2 import ContextItemRef, ContextItemType, DocumentContext, MatterContext
from proviso_client.v1.tools_pb2 import IqlComparison

Fields = Mapping[str, Any]
"""A message as a mapping of its fields, which protobuf takes in its place."""

RequestT = TypeVar("RequestT", bound=Message)


class AssetFields(TypedDict, total=False):
    """What comes with a message. `matter_id` and `document_id` are short for a `matter_context` of the two."""

    matter_id: str
    document_id: str
    matter_context: MatterContext | Fields
    image_urls: Iterable[str]
    document_context: Iterable[DocumentContext | Fields]
    selected_assets: Iterable[str]


class ChatFields(AssetFields, total=False):
    """The fields of ChatRequest; see chat.proto for what they mean and their limits."""

    session_id: str
    history: Iterable[HistoryMessage | Fields]
    request_id: str
    on_disconnect: OnDisconnect | str
    options: ChatOptions | Fields


class SearchFields(TypedDict, total=False):
    """The fields of SearchRequest beside matter and query."""

    max_results: int
    threshold: float
    semantic_weight: float
    include_context: bool
    document_ids: Iterable[str]


class IqlFields(TypedDict, total=False):
    """The fields of ExecuteIqlRequest beside matter and query."""

    document_ids: Iterable[str]
    model: str
    min_score: float
    comparison: IqlComparison | str
    max_matches: int
    explain: bool


class ExtractFields(TypedDict, total=False):
    """The fields of ExtractRequest beside matter and question."""

    document_ids: Iterable[str]
    min_confidence: float
    max_alternatives: int


class ClassifyFields(TypedDict, total=False):
    """The fields of ClassifyRequest beside the matter."""

    clause_types: Iterable[str]
    document_ids: Iterable[str]
    min_confidence: float
    max_clauses: int


class TextFields(TypedDict, total=False):
    """The fields of GetDocumentTextRequest beside the matter; one of `document_id` and `filename` is needed."""

    document_id: str
    filename: str
    max_length: int
    start: int
    page: int
    heading: str


def chat_request(message: str, fields: ChatFields) -> ChatRequest:
    """With a request_id, so that a call whose answer was lost can be repeated. Raises ValueError, as `with_matter`."""
    return ChatRequest(message=message, **{"request_id": str(uuid4()), **with_matter(fields)})


def with_matter(fields: AssetFields) -> dict[str, Any]:
    """The fields with `matter_context` in the place of its short forms. Raises ValueError where both are given."""
    plain: dict[str, Any] = dict(fields)
    named = {name: plain.pop(name) for name in ("matter_id", "document_id") if name in plain}
    if named and "matter_context" in plain:
        raise ValueError("give either matter_context, or matter_id and document_id")
    return plain | ({"matter_context": named} if named else {})


def item_ref(kind: "ContextItemType | str", name: str, server_name: str = "") -> ContextItemRef:
    """A rule, a reference, or a tool of a server; `kind` is a ContextItemType or the word."""
    if isinstance(kind, str) and not kind.startswith("CONTEXT_ITEM_TYPE_"):
        kind = f"CONTEXT_ITEM_TYPE_{kind.upper()}"
    return ContextItemRef(type=kind, name=name, server_name=server_name)


def for_user(request: RequestT, user_id: str) -> RequestT:
    """The request with the client's user, where it has a place for one that is empty."""
    if user_id and "user_id" in request.DESCRIPTOR.fields_by_name and not getattr(request, "user_id"):  # noqa: B009
        setattr(request, "user_id", user_id)  # noqa: B010
    return request
