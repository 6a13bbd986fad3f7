"""Validates requests: a protobuf message becomes a model with checked values, or an error that names every violation.
Tells who makes a call, too.

Here are the parts that several services share; the models of a service's own requests stand beside its servicer.
"""

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Annotated, Any, ClassVar, TypeVar
from urllib.parse import urlsplit

import grpc
from google.protobuf import field_mask_pb2
from google.protobuf.descriptor import Descriptor
from google.protobuf.message import Message
from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    ValidationInfo,
    field_validator,
)
from pydantic_core import PydanticCustomError

from proviso_client.v1 import context_pb2
from proviso_service.api.convert.values import ITEM_TYPES
from proviso_service.context.model import DocumentSummary, ItemRef, ItemType, MatterContext, image_name
from proviso_service.errors import FieldViolation, InvalidRequest, NotAllowed
from proviso_service.identity import NEVER_RETRIED, Caller, RetryKey, Role, current_act
from proviso_service.matters import DOCUMENTATION
from proviso_service.paging import DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE, PageRequest
from proviso_service.turns import TurnConfig
from proviso_service.value_faults import SENTENCES, refusal, words_for

Context = grpc.aio.ServicerContext[Any, Any]
"""What gRPC knows of a call."""

Identify = Callable[[Context, str], Caller]
"""Finds the caller from the call and the `user_id` of its request, which is empty if the request names none."""


def acting_caller(context: Context, user_id: str) -> Caller:
    """The caller of the call that is running, who may act for the user whom its request names. Raises NotAllowed."""
    del context  # the interceptor has read it
    caller = current_act.get().caller
    if not user_id or user_id == caller.user:
        return caller
    if Role.ACT_FOR_USERS not in caller.roles:
        raise NotAllowed("user_id needs a credential with the role act_for_users: leave it empty")
    return caller.for_user(user_id)


D = TypeVar("D")
R = TypeVar("R", bound="RequestModel")

MAX_ITEMS = 1_000
"""The longest list that any request may hold."""

_SENTENCE = "sentence"
"""The kind of violation whose words name the field themselves."""

_WORDING = {**SENTENCES, _SENTENCE: "{sentence}", "model_type": "must be set"}
"""Pydantic calls an absent message a value of the wrong type."""

_WEB = re.compile(r"[hH][tT][tT][pP][sS]?://[^/?#]")
_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")


@dataclass(frozen=True, slots=True)
class RequestLimits:
    """What requests are checked against beside the limits of the contract: the service's own limits of turns, and the
    names of the chat models that a request may choose from."""

    turns: TurnConfig
    chat_models: tuple[str, ...] = ()


class RequestModel(BaseModel):
    """A request message; its fields have their proto names. A field that is not set is None if the contract tells an
    absent value from an empty one, and else the proto default."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)
    proto: ClassVar[type[Message]]

    @classmethod
    def conflicts(cls, values: Mapping[str, Any]) -> Iterable[FieldViolation]:
        """Checks rules about several fields. They are checked even if single fields are wrong, so that a caller is told
        of everything at once."""
        return ()


class PagedRequest(RequestModel):
    """A request for a page of a list. A page_size of 0 means `usual_size`, and a larger one than `largest_size` means
    this."""

    usual_size: ClassVar[int] = DEFAULT_PAGE_SIZE
    largest_size: ClassVar[int] = MAX_PAGE_SIZE
    page_size: Annotated[int, Field(ge=0, le=1_000_000)]
    page_token: Annotated[str, Field(max_length=512)]

    @property
    def page(self) -> PageRequest:
        return PageRequest(min(self.page_size or self.usual_size, self.largest_size), self.page_token)


class CreatingRequest(RequestModel):
    """A request that makes something, and makes it once however often it is sent under the same `request_id`."""

    user_id: Annotated[str, Field(max_length=128)]
    request_id: Annotated[str, Field(max_length=128)]

    def retry_key(self, caller: Caller) -> RetryKey:
        """What a retry of this request has in common with it. Fields at their default are left out of the hash, so that
        a field that is added later changes no earlier one."""
        if not self.request_id:
            return NEVER_RETRIED
        values = self.model_dump(exclude={"user_id", "request_id"})
        payload = json.dumps([self.proto.DESCRIPTOR.name, {name: v for name, v in values.items() if v}], sort_keys=True)
        return RetryKey(caller.user, self.request_id, hashlib.sha256(payload.encode()).hexdigest())


class FieldMaskModel(RequestModel):
    proto = field_mask_pb2.FieldMask

    paths: tuple[str, ...]


class UpdatingRequest(RequestModel):
    """A request that changes fields of one thing, as in AIP-134; `changeable` names them. The thing is the request's
    field of the name `thing`."""

    thing: ClassVar[str]
    changeable: ClassVar[tuple[str, ...]]

    update_mask: FieldMaskModel | None

    @classmethod
    def conflicts(cls, values: Mapping[str, Any]) -> Iterable[FieldViolation]:
        for path in (values["update_mask"] or {"paths": ()})["paths"]:
            if path not in cls.changeable:
                allowed = " and ".join(cls.changeable)
                yield FieldViolation(
                    "update_mask", f"{path[:50]!r} is not a field that can be changed: these are {allowed}"
                )

    @property
    def changes(self) -> dict[str, str]:
        """The new values by the name of their field: those that the mask names, or without one those that are not
        empty."""
        values = getattr(self, self.thing)
        asked = self.update_mask.paths if self.update_mask else ()
        return {name: getattr(values, name) for name in asked or self.changeable if asked or getattr(values, name)}


def parse(model: type[R], request: Message, *, context: object = None, within: str = "") -> R:
    """The validated request. `context` is given to validators, which compare with it; `within` is the path of the field
    that holds the message, and is empty for a whole request. Raises InvalidRequest with every violation."""
    values = _plain(request)
    violations = list(model.conflicts(values))
    try:
        parsed = model.model_validate(values, context=context)
    except ValidationError as error:
        violations[:0] = _violations(error)
    if violations:
        raise InvalidRequest([replace(v, field=_join(within, v.field)) for v in violations])
    return parsed


def known(values: Mapping[int, D], description: str = "is not a known value") -> BeforeValidator:
    """A validator that turns the number of an enum value into the member of the domain enum."""

    def member(number: int) -> D:
        if number not in values:
            raise refusal(description)
        return values[number]

    return BeforeValidator(member)


def at_most(count: int) -> BeforeValidator:
    """A validator that checks the length of a list before its items, so that an endless list costs little."""

    def check(items: Sequence[Any]) -> Sequence[Any]:
        if len(items) > count:
            raise refusal(f"has more than {count} items")
        return items

    return BeforeValidator(check)


def _uuid(kind: str, *, optional: bool = False) -> AfterValidator:
    def check(value: str) -> str:
        return value if optional and not value else _uuid_of(kind, value)

    return AfterValidator(check)


def _uuid_of(kind: str, value: str) -> str:
    """The id in lower case, because ids are compared as text."""
    if not _UUID.fullmatch(value.lower()):
        raise PydanticCustomError(_SENTENCE, "{sentence}", {"sentence": f"Invalid {kind} ID format"})
    return value.lower()


def _matter_or_documentation(value: str) -> str:
    return value if value == DOCUMENTATION else _uuid_of("matter", value)


MatterId = Annotated[str, _uuid("matter")]
MatterIdOrDocumentation = Annotated[str, AfterValidator(_matter_or_documentation)]
"""The matter of a document, or the documentation."""
DocumentId = Annotated[str, _uuid("document")]
OptionalMatterId = Annotated[str, Field(max_length=64), _uuid("matter", optional=True)]
DeletionId = Annotated[str, _uuid("deletion")]
DocumentIds = Annotated[tuple[DocumentId, ...], at_most(1_000)]
SessionId = Annotated[str, Field(min_length=1, max_length=128)]
UserId = Annotated[str, Field(max_length=128)]
TurnId = Annotated[str, Field(min_length=1, max_length=64)]
Fraction = Annotated[float, Field(ge=0, le=1)]


def _plain(message: Message) -> dict[str, Any]:
    """The fields as Python values; absent messages and absent optional scalars are None. A list is cut behind the first
    item that is too many."""
    values: dict[str, Any] = {}
    for name, has_presence, is_repeated, is_message in _fields_of(message.DESCRIPTOR):
        if has_presence and not message.HasField(name):
            values[name] = None
            continue
        value = getattr(message, name)
        if is_repeated:
            value = value[: MAX_ITEMS + 1]
            values[name] = [_plain(item) for item in value] if is_message else value
        else:
            values[name] = _plain(value) if is_message else value
    return values


@lru_cache(maxsize=1_000)
def _fields_of(descriptor: Descriptor) -> tuple[tuple[str, bool, bool, bool], ...]:
    """Of each field its name, and whether it has presence, is repeated and holds messages. There are as many kinds of
    messages as the contract has."""
    return tuple(
        (field.name, field.has_presence, field.is_repeated, field.message_type is not None)
        for field in descriptor.fields
    )


def _violations(error: ValidationError) -> Iterator[FieldViolation]:
    for detail in error.errors(include_url=False, include_input=False):
        path = ""
        for part in detail["loc"]:
            path = f"{path}[{part}]" if isinstance(part, int) else _join(path, part)
        yield FieldViolation(path, words_for(detail, _WORDING), detail["type"] == _SENTENCE)


def _join(parent: str, child: str) -> str:
    return f"{parent}.{child}" if parent and child else parent or child


class MatterContextModel(RequestModel):
    """The matter that a message is about. Malformed ids are accepted here, because the agent answers them in words."""

    proto = context_pb2.MatterContext

    matter_id: Annotated[str, Field(max_length=64)]
    matter_name: Annotated[str, Field(max_length=512)]
    document_id: Annotated[str, Field(max_length=64)]
    document_name: Annotated[str, Field(max_length=512)]

    def to_domain(self) -> MatterContext | None:
        """None if every field is empty, because clients that fill in defaults send such a message for an absent one."""
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


def _web_url(url: str) -> str:
    """Refuses what is no URL of the web at all. Everything else that can be wrong with an image's URL is noted in its
    turn, which goes on without the image."""
    try:
        sound = bool(_WEB.match(url) and urlsplit(url).hostname)
    except ValueError:
        sound = False
    if not sound:
        raise refusal("must be an https URL")
    return url


def limits_of(info: ValidationInfo) -> RequestLimits:
    """The limits that the request is validated with."""
    limits = info.context
    assert isinstance(limits, RequestLimits)  # noqa: S101 - the servicer passes them
    return limits


ImageUrl = Annotated[str, AfterValidator(_web_url)]
AssetName = Annotated[str, Field(min_length=1)]


class WithAssets(RequestModel):
    """A request with a user's message, to which images and summaries of documents can be attached."""

    image_urls: Annotated[tuple[ImageUrl, ...], at_most(5)]
    document_context: Annotated[tuple[DocumentContextModel, ...], at_most(20)]
    selected_assets: Annotated[tuple[AssetName, ...], at_most(25)]

    @classmethod
    def conflicts(cls, values: Mapping[str, Any]) -> Iterable[FieldViolation]:
        images = values["image_urls"]
        names = {*images, *map(image_name, images), *(document["filename"] for document in values["document_context"])}
        for place, name in enumerate(values["selected_assets"]):
            if name not in names:
                yield FieldViolation(f"selected_assets[{place}]", "is neither a file name nor a URL of this message")

    def documents(self) -> tuple[DocumentSummary, ...]:
        return tuple(document.to_domain() for document in self.document_context)
