"""Whatever is wrong with a value of any model that takes some from outside, it is told in sentences of ours."""

import importlib
import math
import pkgutil
import re
from collections.abc import Iterator
from typing import Any

import pytest
from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.field_mask_pb2 import FieldMask
from google.protobuf.message_factory import GetMessageClass
from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails
from pydantic_settings import BaseSettings

import proviso_service.api
import proviso_service.tools
from proviso_client.v1.chat_pb2 import LeaveOut
from proviso_client.v1.maintenance_pb2 import RebuildIndexRequest
from proviso_service.api.request_models import RequestLimits, RequestModel, parse
from proviso_service.context.catalog.schema import Fields
from proviso_service.errors import InvalidRequest
from proviso_service.settings import Section
from proviso_service.tools.base import ToolArgs, UncheckedArgs
from proviso_service.turns import TurnConfig
from proviso_service.value_faults import OTHERWISE, REFUSED, SENTENCES, words_for

LIMITS = RequestLimits(TurnConfig())
for package in (proviso_service.api, proviso_service.tools):
    for module in pkgutil.iter_modules(package.__path__, f"{package.__name__}."):
        importlib.import_module(module.name)


def models_of(base: type[BaseModel]) -> Iterator[type[Any]]:
    """Those of the service that stand for something, without the bases of others."""
    for model in base.__subclasses__():
        yield from models_of(model)
        if model.__module__.startswith("proviso_service") and model is not UncheckedArgs and model.model_fields:
            yield model


def named(models: Iterator[type[Any]]) -> list[Any]:
    return [pytest.param(model, id=model.__name__) for model in sorted(set(models), key=lambda model: model.__name__)]


REQUESTS = named(model for model in models_of(RequestModel) if "proto" in vars(model))
OTHERS = named(model for base in (ToolArgs, Fields, Section, BaseSettings) for model in models_of(base))

THEIRS = re.compile("should|input|error|permitted|pydantic", re.IGNORECASE)
"""What pydantic's words have in common, and ours never hold."""

TEXTS = ["", "x", "\x00\n", "x" * 100_001, "https://", "http://[", "http://me:pw@x", "b#/?\ud800"]
WHOLE_NUMBERS = [-(2**31), -1, 0, 101, 2**31 - 1]
NUMBERS = [*WHOLE_NUMBERS, 10**30, -0.5, 1.5, math.nan, math.inf, -math.inf]
SINGLE = [*TEXTS, *NUMBERS, None, True, b"\xff", object()]
ANYTHING = [*SINGLE, [], {}, *([one] for one in SINGLE), *({"x": one} for one in SINGLE), ["x"] * 300, {"": {}}, {1: 2}]
ANYTHING += [{f"x{number}": {} for number in range(300)}, {"x": {"command": 1, "env": 2}}, {"x": {"url": 3}}]


def faults_of(model: type[BaseModel], values: dict[str, Any]) -> list[ErrorDetails]:
    try:
        model.model_validate(values, context=LIMITS)
    except ValidationError as error:
        return error.errors()
    return []


def values_for(field: Any) -> list[Any]:
    """What a message may hold in a field: any value of the field's type."""
    kinds: dict[int, list[Any]] = {
        FieldDescriptor.CPPTYPE_STRING: TEXTS[:-1],
        FieldDescriptor.CPPTYPE_INT32: WHOLE_NUMBERS,
        FieldDescriptor.CPPTYPE_INT64: [0],
        FieldDescriptor.CPPTYPE_ENUM: WHOLE_NUMBERS,
        FieldDescriptor.CPPTYPE_DOUBLE: [-0.5, 1.5, math.nan, math.inf],
        FieldDescriptor.CPPTYPE_FLOAT: [-0.5, 1.5, math.nan, math.inf],
        FieldDescriptor.CPPTYPE_BOOL: [True],
    }
    if field.message_type is None:
        return kinds[field.cpp_type]
    return [
        GetMessageClass(field.message_type)(**{inner.name: [value] if inner.is_repeated else value})
        for inner in field.message_type.fields
        for value in values_for(inner)
    ]


@pytest.mark.parametrize("model", REQUESTS)
def test_what_is_wrong_with_a_request_is_told_in_our_words(model: type[RequestModel]) -> None:
    told: list[str] = []
    for field in model.proto.DESCRIPTOR.fields:
        for value in values_for(field):
            for given in ([value], [value] * 1_001) if field.is_repeated else (value,):
                try:
                    parse(model, model.proto(**{field.name: given}), context=LIMITS)
                except InvalidRequest as error:
                    told += (violation.description for violation in error.violations)
    assert told or model.proto in (LeaveOut, FieldMask, RebuildIndexRequest)  # of these any value will do
    assert OTHERWISE not in told
    assert not [text for text in told if THEIRS.search(text) or "x" * 99 in text]


@pytest.mark.parametrize("model", OTHERS)
def test_what_is_wrong_with_fields_arguments_and_settings_is_told_in_our_words(model: type[BaseModel]) -> None:
    names = [str(field.validation_alias or name) for name, field in model.model_fields.items()]
    faults = [
        fault for name in [*names, "unheard_of"] for value in ANYTHING for fault in faults_of(model, {name: value})
    ]
    assert len({fault["type"] for fault in faults}) > 1
    assert {fault["type"] for fault in faults} <= SENTENCES.keys()
    assert not [fault for fault in faults if fault["type"] != REFUSED and fault["msg"] in words_for(fault)]
