"""From a protobuf request to a validated model, or to every violation at once."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Any, ClassVar, TypeVar

from google.protobuf.message import Message
from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError
from pydantic_core import PydanticCustomError

from proviso_service.errors import FieldViolation, InvalidRequest
from proviso_service.matters import DOCUMENTATION
from proviso_service.paging import PageRequest
from proviso_service.value_faults import SENTENCES, refusal, words_for

D = TypeVar("D")
R = TypeVar("R", bound="RequestModel")

MAX_ITEMS = 1_000
"""The longest list that any request may hold."""

_SENTENCE = "sentence"
"""The kind of a violation that is told in words which name the field."""

_WORDING = {**SENTENCES, _SENTENCE: "{sentence}", "model_type": "must be set"}
"""A message that is a field's value is of its type, or not there."""

_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")


class RequestModel(BaseModel):
    """A request message: its fields under their proto names. A field without a value in the request is None where the
    contract tells absent from empty, else the proto default."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)
    proto: ClassVar[type[Message]]

    @classmethod
    def conflicts(cls, values: Mapping[str, Any]) -> Iterable[FieldViolation]:
        """Rules over several fields. Checked also where single fields are wrong, so that all is told at once."""
        return ()


class PagedRequest(RequestModel):
    """A request for a page of a list."""

    page_size: Annotated[int, Field(ge=0, le=1_000_000)]
    page_token: Annotated[str, Field(max_length=512)]

    @property
    def page(self) -> PageRequest:
        return PageRequest.of(self.page_size, self.page_token)


def parse(model: type[R], request: Message, *, context: object = None, within: str = "") -> R:
    """The validated request. `context` is what validators compare with; `within` is the path of the field that holds
    the message, empty for a whole request. Raises InvalidRequest with every violation."""
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
    """Turns an enum's number into the domain's member."""

    def member(number: int) -> D:
        if number not in values:
            raise refusal(description)
        return values[number]

    return BeforeValidator(member)


def at_most(count: int) -> BeforeValidator:
    """Bounds a list ahead of its items, so that an endless one costs and says little."""

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
    """Canonical form; ids are compared as text, so letters become lower case."""
    if not _UUID.fullmatch(value.lower()):
        raise PydanticCustomError(_SENTENCE, "{sentence}", {"sentence": f"Invalid {kind} ID format"})
    return value.lower()


def _matter_or_documentation(value: str) -> str:
    return value if value == DOCUMENTATION else _uuid_of("matter", value)


MatterId = Annotated[str, _uuid("matter")]
MatterIdOrDocumentation = Annotated[str, AfterValidator(_matter_or_documentation)]
"""For methods about documents."""
DocumentId = Annotated[str, _uuid("document")]
OptionalMatterId = Annotated[str, Field(max_length=64), _uuid("matter", optional=True)]
OptionalDocumentId = Annotated[str, Field(max_length=64), _uuid("document", optional=True)]
DocumentIds = Annotated[tuple[DocumentId, ...], at_most(1_000)]
SessionId = Annotated[str, Field(min_length=1, max_length=128)]
UserId = Annotated[str, Field(max_length=128)]
TurnId = Annotated[str, Field(min_length=1, max_length=64)]
Fraction = Annotated[float, Field(ge=0, le=1)]


def _plain(message: Message) -> dict[str, Any]:
    """Fields as Python values; absent messages and absent optional scalars are None. Of a list that is too long anyway
    no more is taken than shows it."""
    return {field.name: _value(message, field) for field in message.DESCRIPTOR.fields}


def _value(message: Message, field: Any) -> Any:
    if field.has_presence and not message.HasField(field.name):
        return None
    value = getattr(message, field.name)
    if not field.is_repeated:
        return value if field.message_type is None else _plain(value)
    items = value[: MAX_ITEMS + 1]
    return items if field.message_type is None else [_plain(item) for item in items]


def _violations(error: ValidationError) -> Iterator[FieldViolation]:
    for detail in error.errors(include_url=False, include_input=False):
        path = ""
        for part in detail["loc"]:
            path = f"{path}[{part}]" if isinstance(part, int) else _join(path, part)
        yield FieldViolation(path, words_for(detail, _WORDING), detail["type"] == _SENTENCE)


def _join(parent: str, child: str) -> str:
    return f"{parent}.{child}" if parent and child else parent or child
