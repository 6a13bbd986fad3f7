"""Rules on what fields and messages may be: what every caller's generated code can read without help."""

from collections.abc import Iterator
from typing import Final

from google.protobuf.descriptor_pb2 import DescriptorProto, FieldDescriptorProto, MethodDescriptorProto

from tests.contract_guard.elements import Contract, Element

_LONG: Final = {
    FieldDescriptorProto.TYPE_INT64,
    FieldDescriptorProto.TYPE_UINT64,
    FieldDescriptorProto.TYPE_SINT64,
    FieldDescriptorProto.TYPE_FIXED64,
    FieldDescriptorProto.TYPE_SFIXED64,
}
_SHARED: Final = {".google.protobuf.Timestamp", ".google.protobuf.Duration"}
_SHARED_FILES: Final = {"google/protobuf/timestamp.proto", "google/protobuf/duration.proto"}


def proto3_only(contract: Contract) -> Iterator[str]:
    for file in contract.files:
        if file.syntax != "proto3":
            yield f"{file.name}: not proto3, which ts-proto and NestJS's loader are made for"


def no_groups(contract: Contract) -> Iterator[str]:
    for field, descriptor in fields(contract):
        if descriptor.type == FieldDescriptorProto.TYPE_GROUP:
            yield f"{field}: a group; ts-proto does not read groups"


def no_long_integers(contract: Contract) -> Iterator[str]:
    for field, part in _parts(contract):
        if part.type in _LONG:
            yield f"{field}: 64 bits; JavaScript gets a rounded number, a string or a Long, as it is set up"


def no_foreign_types(contract: Contract) -> Iterator[str]:
    for field, part in _parts(contract):
        if _is_foreign(part.type_name, contract) and part.type_name not in _SHARED:
            yield (
                f"{field}: a {part.type_name.removeprefix('.')}; wrappers, Any and Struct come out differently in "
                "ts-proto, in NestJS's loader and in JSON, so only Timestamp and Duration are shared"
            )
    for method in contract.elements:
        if isinstance(method.descriptor, MethodDescriptorProto):
            for name in (method.descriptor.input_type, method.descriptor.output_type):
                if _is_foreign(name, contract):
                    yield f"{method}: a {name.removeprefix('.')}; a message of its own can grow"


def no_foreign_files(contract: Contract) -> Iterator[str]:
    own = {file.name for file in contract.files}
    for file in contract.files:
        for name in sorted({*file.dependency} - own - _SHARED_FILES):
            yield f"{file.name}: imports {name}, which callers who load or compile the proto files may not have"
        for index in file.public_dependency:
            yield f"{file.name}: imports {file.dependency[index]} publicly; generated TypeScript does not pass it on"
        for extension in file.extension:
            yield f"{file.name}: {extension.name}: an extension; generated TypeScript leaves it out"


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


def _parts(contract: Contract) -> Iterator[tuple[Element, FieldDescriptorProto]]:
    """What fields are made of: a map of its key and value, any other of itself."""
    for field, descriptor in fields(contract):
        entry = map_entry(field)
        yield from ((field, part) for part in (entry.field if entry else [descriptor]))


def _is_foreign(type_name: str, contract: Contract) -> bool:
    return bool(type_name) and not any(type_name.startswith(f".{file.package}.") for file in contract.files)


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
