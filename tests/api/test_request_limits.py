"""The limits of the request models are those that the contract's field comments and annotations state."""

from collections.abc import Iterator

import pytest
from google.protobuf.field_mask_pb2 import FieldMask
from google.protobuf.message import Message

from proviso_client.v1.tools_pb2 import GetDocumentTextRequest
from proviso_service.api import access, catalog, chat, maintenance, matters, request_models, sessions, tools, uploads
from proviso_service.api.request_models import RequestLimits, RequestModel, parse
from proviso_service.errors import InvalidRequest
from proviso_service.turns import TurnConfig
from tests.api.contract import (
    INT32_MAX,
    NO_VALUE,
    Limit,
    annotations,
    mentions,
    required_choices,
    stated_choices,
    stated_limits,
    stated_paths,
)

MODELS: dict[str, type[RequestModel]] = {
    model.proto.DESCRIPTOR.name: model
    for module in (access, catalog, chat, maintenance, matters, request_models, sessions, tools, uploads)
    for model in vars(module).values()
    if isinstance(model, type) and issubclass(model, RequestModel) and "proto" in vars(model)
}
LONGEST_NAME = "\N{CAT FACE}" * 128
WIDEST = RequestLimits(
    TurnConfig(max_turns=100, max_tool_calls=100, max_context_chars=1_000_000),
    chat_models=(LONGEST_NAME,),
)

UUID = "25e70284-6124-4a2b-9c89-0123456789ab"
ITEMS: dict[str, object] = {
    "image_urls": "https://example.org/a.png",
    "document_ids": UUID,
    "clause_types": "Termination",
    "selected_assets": "https://example.org/a.png",
}
FORMATTED = {"document_id": UUID, "matter_id": UUID, "sha256": "0a" * 32}
"""Texts of which not every one of an allowed length is allowed."""

IN_WORDS = {"MatterContext"}
"""Messages whose malformed ids are answered in words, so that any text will do."""

UNTOLD = {"selected_assets", "model"}
"""Fields whose texts are checked in a way that no annotation tells."""

TEXTS = (
    *("", "x", UUID, UUID.upper(), "documentation", "0a" * 32),
    *("https://a.example/b.png?c", "HTTP://a.example", "ftp://a.example", "https:/a.example", "//a.example"),
    *(" https://a.example", "ht\ntps://a.example", "https://", "https:///b.png", "https://?b", "https://#b"),
)
"""Some are ids or addresses, and some nearly so."""

OVER = [limit for limit in stated_limits() if limit.high < INT32_MAX]
UNDER = [limit for limit in stated_limits() if limit.low > 0 or not limit.unit]


def violated_fields(message: Message) -> set[str]:
    try:
        parse(MODELS[message.DESCRIPTOR.name], message, context=WIDEST)
    except InvalidRequest as error:
        return {violation.field for violation in error.violations}
    return set()


def with_size(limit: Limit, size: int) -> Message:
    """A message whose limited field has this size."""
    message = MODELS[limit.message].proto()
    if isinstance(message, GetDocumentTextRequest) and limit.field != "filename":
        message.filename = "a.md"  # the one message that needs one of two fields
    field = message.DESCRIPTOR.fields_by_name[limit.field]
    if limit.unit == "characters":
        setattr(message, limit.field, "\N{CAT FACE}" * size)
    elif limit.unit != "items":
        setattr(message, limit.field, size)
    elif field.message_type is None:
        getattr(message, limit.field).extend([ITEMS[limit.field]] * size)
    else:
        for _ in range(size):
            getattr(message, limit.field).add()
    return message


def samples(name: str) -> Iterator[tuple[str, object, Message]]:
    """Messages with one field set to one value, for every field with a text or an enum value."""
    for field in MODELS[name].proto.DESCRIPTOR.fields:
        texts = TEXTS if field.cpp_type == field.CPPTYPE_STRING else ()
        values = (
            (*(field.enum_type.values_by_number if field.enum_type else ()), NO_VALUE) if field.enum_type else texts
        )
        for value in values if field.name not in UNTOLD else ():
            message = MODELS[name].proto()
            if isinstance(message, GetDocumentTextRequest) and field.name != "filename":
                message.filename = "a.md"
            if field.is_repeated:
                getattr(message, field.name).append(value)
            else:
                setattr(message, field.name, value)
            yield field.name, value, message


def test_every_mention_of_limits_is_read() -> None:
    assert len(stated_limits()) == mentions() > 50


def test_every_stated_limit_is_annotated_and_the_other_way_round() -> None:
    annotated = {annotation.limit(*field) for field, annotation in annotations().items()}
    assert annotated - {None} == set(stated_limits())


@pytest.mark.parametrize("name", sorted(MODELS))
def test_what_must_be_set_is_annotated(name: str) -> None:
    required = {
        field for (message, field), annotation in annotations().items() if message == name and annotation.required
    }
    first_choices = {fields[0] for (message, _), fields in required_choices().items() if message == name}
    assert violated_fields(MODELS[name].proto()) == required | first_choices


def test_choices_that_must_be_made_are_stated_and_annotated() -> None:
    assert stated_choices() == required_choices().keys() != set()


@pytest.mark.parametrize(("name", "field"), sorted(stated_paths()))
def test_what_a_field_mask_may_name_is_stated_and_annotated(name: str, field: str) -> None:
    proto = MODELS[name].proto
    thing = proto.DESCRIPTOR.fields[0].message_type
    assert thing is not None
    names = {"*", "", *thing.fields_by_name}
    allowed = {path for path in names if field not in violated_fields(proto(**{field: FieldMask(paths=[path])}))}
    assert allowed == stated_paths()[name, field] == annotations()[name, field].paths


def test_every_field_mask_states_what_it_may_name() -> None:
    masks = {
        (name, field.name)
        for name, model in MODELS.items()
        for field in model.proto.DESCRIPTOR.fields
        if field.message_type is FieldMask.DESCRIPTOR
    }
    assert stated_paths().keys() == masks != set()


@pytest.mark.parametrize("name", sorted(MODELS))
def test_the_annotations_allow_the_ids_and_values_that_the_service_allows(name: str) -> None:
    for field, value, message in samples(name):
        annotation = annotations().get((name, field))
        refused = any(violated.split("[")[0] == field for violated in violated_fields(message))
        assert refused == (annotation is not None and annotation.refuses(value)), (field, value)


def test_every_request_message_has_a_model() -> None:
    assert {limit.message for limit in stated_limits()} <= MODELS.keys()


@pytest.mark.parametrize("limit", OVER, ids=str)
def test_more_than_a_field_allows_is_a_violation(limit: Limit) -> None:
    assert limit.field in violated_fields(with_size(limit, limit.high + 1))


@pytest.mark.parametrize("limit", UNDER, ids=str)
def test_less_than_a_field_allows_is_a_violation(limit: Limit) -> None:
    assert limit.field in violated_fields(with_size(limit, limit.low - 1))


@pytest.mark.parametrize("limit", stated_limits(), ids=str)
def test_as_much_as_a_field_allows_is_allowed(limit: Limit) -> None:
    for size in (limit.low, limit.high):
        message = with_size(limit, size)
        if size and limit.unit == "characters" and limit.field in FORMATTED and limit.message not in IN_WORDS:
            setattr(message, limit.field, FORMATTED[limit.field])
        assert limit.field not in violated_fields(message)
