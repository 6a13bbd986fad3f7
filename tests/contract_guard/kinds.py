"""Rules on what fields may be: what every caller's generated code can read without help."""

from collections.abc import Iterator
from typing import Final

from google.protobuf.descriptor_pb2 import DescriptorProto, FieldDescriptorProto

from tests.contract_guard.elements import Contract, Element

_LONG: Final = {
    FieldDescriptorProto.TYPE_INT64,
    FieldDescriptorProto.TYPE_UINT64,
    FieldDescriptorProto.TYPE_SINT64,
    FieldDescriptorProto.TYPE_FIXED64,
    FieldDescriptorProto.TYPE_SFIXED64,
}
_SHARED: Final = {".google.protobuf.Timestamp", ".google.protobuf.Duration"}


def proto3_only(contract: Contract) -> Iterator[str]:
    for file in contract.files:
        if file.syntax != "proto3":
            yield f"{file.name}: not proto3, which ts-proto and NestJS's loader are made for"


def no_groups(contract: Contract) -> Iterator[str]:
    for field, descriptor in fields(contract):
        if descriptor.type == FieldDescriptorProto.TYPE_GROUP:
            yield f"{field}: a group; ts-proto does not read groups"


def no_long_integers(contract: Contract) -> Iterator[str]:
    for field, descriptor in fields(contract):
        if descriptor.type in _LONG:
            yield f"{field}: 64 bits; JavaScript gets a rounded number, a string or a Long, as it is set up"


def no_foreign_types(contract: Contract) -> Iterator[str]:
    own = {f".{file.package}." for file in contract.files}
    for field, descriptor in fields(contract):
        name = descriptor.type_name
        if name and name not in _SHARED and not any(name.startswith(package) for package in own):
            yield (
                f"{field}: a {name.removeprefix('.')}; wrappers, Any and Struct come out differently in ts-proto, in "
                "NestJS's loader and in JSON, so only Timestamp and Duration are shared"
            )


def maps_have_string_keys(contract: Contract) -> Iterator[str]:
    for field, descriptor in fields(contract):
        entry = map_entry(field)
        if entry and entry.field[0].type != descriptor.TYPE_STRING:
            yield f"{field}: a map whose keys are no strings; those of JavaScript's objects are"


def no_deep_nesting(contract: Contract) -> Iterator[str]:
    for element in contract.elements:
        if isinstance(element.descriptor, DescriptorProto) and element.depth > 1:
            yield f"{element}: nested deeper than once; its name in Go, TypeScript and Java becomes unreadable"


def fields(contract: Contract) -> Iterator[tuple[Element, FieldDescriptorProto]]:
    for element in contract.elements:
        if isinstance(element.descriptor, FieldDescriptorProto):
            yield element, element.descriptor


def map_entry(field: Element) -> DescriptorProto | None:
    """What protoc makes of a map field: a message of key and value, nested beside it."""
    message, descriptor = field.parent, field.descriptor
    if isinstance(message, DescriptorProto) and isinstance(descriptor, FieldDescriptorProto):
        for nested in message.nested_type:
            if nested.options.map_entry and descriptor.type_name.endswith(f"{message.name}.{nested.name}"):
                return nested
    return None


def is_alternative(field: FieldDescriptorProto) -> bool:
    """Of a oneof that the source has; an optional field is in one that protoc makes up."""
    return field.HasField("oneof_index") and not field.proto3_optional
