"""This module builds the requests of both clients and defines the fields that callers may give by name."""

from collections.abc import Iterable, Mapping
from typing import Any, TypedDict, TypeVar
from uuid import uuid4

from google.protobuf.field_mask_pb2 import FieldMask
from google.protobuf.message import Message

from proviso_client._credentials import Metadata
from proviso_client.v1.chat_pb2 import ChatOptions, ChatRequest, HistoryMessage, OnDisconnect
from proviso_client.v1.context_pb2 import ContextItemRef, ContextItemType, DocumentContext, MatterContext
from proviso_client.v1.tools_pb2 import IqlComparison

MATTER = "proviso-matter"
"""The metadata that names the matter of a call, by which a proxy may send all calls about a matter to one replica."""

Fields = Mapping[str, Any]
"""A mapping of field names to values can be given in place of a message. Protobuf accepts both."""

_WITH_MATTER = ("matter_context", "matter")
"""The fields in which a request may name its matter, where it has no `matter_id` of its own."""

RequestT = TypeVar("RequestT", bound=Message)
ThingT = TypeVar("ThingT", bound=Message)


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
    """Defines the fields of ChatRequest. The file chat.proto explains them and their limits.

    `history` holds the messages of a conversation that the caller keeps; it excludes `session_id`."""

    session_id: str
    history: Iterable[HistoryMessage | Fields]
    request_id: str
    on_disconnect: OnDisconnect | str
    options: ChatOptions | Fields


class SearchFields(TypedDict, total=False):
    """Defines the fields of SearchRequest other than the matter and the query."""

    page_size: int
    page_token: str
    min_score: float
    semantic_weight: float
    include_context: bool
    document_ids: Iterable[str]


class PageFields(TypedDict, total=False):
    """Defines the fields that ask for a page of a list."""

    page_size: int
    page_token: str


class IqlFields(TypedDict, total=False):
    """Defines the fields of ExecuteIqlRequest other than the matter and the query."""

    document_ids: Iterable[str]
    model: str
    min_score: float
    comparison: IqlComparison | str
    page_size: int
    page_token: str
    explain: bool


class ExtractFields(TypedDict, total=False):
    """Defines the fields of ExtractRequest other than the matter and the question."""

    document_ids: Iterable[str]
    min_score: float
    max_alternatives: int
    each_document: bool


class ClassifyFields(TypedDict, total=False):
    """Defines the fields of ClassifyRequest other than the matter."""

    clause_types: Iterable[str]
    document_ids: Iterable[str]
    min_score: float
    page_size: int
    page_token: str


class TextFields(TypedDict, total=False):
    """Defines the fields of GetDocumentTextRequest other than the matter.

    The caller has to give one of `document_id` and `filename`, and at most one of `start`, `page` and `heading`."""

    document_id: str
    filename: str
    start: int
    page: int
    heading: str
    max_chars: int


def chat_request(message: str, fields: ChatFields) -> ChatRequest:
    """Returns a ChatRequest for the message, and creates a request_id when the fields have none.

    With a request_id, the client can safely repeat a call whose answer was lost. Raises ValueError when the fields have
    both `matter_context` and one of its short forms, or both `session_id` and `history`."""
    plain = {"request_id": str(uuid4()), **with_matter(fields)}
    if plain.get("session_id") and plain.get("history"):
        raise ValueError("give either session_id or history: a session has its own history")
    if "history" in plain:
        plain["history"] = {"messages": plain["history"]}
    return ChatRequest(message=message, **plain)


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
    return ContextItemRef(type=enum_value("CONTEXT_ITEM_TYPE", kind), name=name, server_name=server_name)


def enum_value(prefix: str, value: int | str) -> Any:
    """Returns the value of an enum. A word such as "rule" is completed with the prefix of the enum's values."""
    if isinstance(value, str) and not value.startswith(prefix):
        return f"{prefix}_{value.upper()}"
    return value


def changed(thing: ThingT, **values: str | None) -> tuple[ThingT, FieldMask]:
    """Sets the values that are not None, and returns the thing and the mask that names them."""
    paths = [name for name, value in values.items() if value is not None]
    for name in paths:
        setattr(thing, name, values[name])
    return thing, FieldMask(paths=paths)


def for_user(request: RequestT, user_id: str) -> RequestT:
    """Sets the user of the request when it has a `user_id` field that is empty, and returns the request."""
    if user_id and "user_id" in request.DESCRIPTOR.fields_by_name and not getattr(request, "user_id"):  # noqa: B009
        setattr(request, "user_id", user_id)  # noqa: B010
    return request


def matter_metadata(request: Message) -> Metadata:
    """Returns the metadata that names the matter of a request, or nothing when the request is about none. An id that
    metadata cannot hold is left to the service, which refuses the request."""
    holders = [request] + [getattr(request, name) for name in _WITH_MATTER if name in request.DESCRIPTOR.fields_by_name]
    named = next((found for holder in holders if (found := getattr(holder, "matter_id", ""))), "")
    return matter_id_metadata(named)


def matter_id_metadata(matter_id: str) -> Metadata:
    """Returns the metadata that names a matter; see `matter_metadata`."""
    can_be_sent = matter_id.isascii() and matter_id.isprintable() and matter_id == matter_id.strip()
    return ((MATTER, matter_id),) if matter_id and can_be_sent else ()
