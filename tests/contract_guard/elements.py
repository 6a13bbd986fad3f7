"""The compiled contract and its elements: everything in it that has a name."""

import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from importlib.resources import files
from pathlib import Path

from google.protobuf.descriptor_pb2 import (
    DescriptorProto,
    EnumDescriptorProto,
    EnumValueDescriptorProto,
    FieldDescriptorProto,
    FileDescriptorProto,
    FileDescriptorSet,
    MethodDescriptorProto,
    OneofDescriptorProto,
    ServiceDescriptorProto,
)
from grpc_tools import protoc

PROTOS = Path(__file__).parents[2] / "protos"

Descriptor = (
    DescriptorProto
    | FieldDescriptorProto
    | OneofDescriptorProto
    | EnumDescriptorProto
    | EnumValueDescriptorProto
    | ServiceDescriptorProto
    | MethodDescriptorProto
)


@dataclass(frozen=True)
class Element:
    """`name` is "ChatRequest.message": without the package, with everything around it. `file` is "chat.proto"."""

    name: str
    descriptor: Descriptor
    parent: Descriptor | None
    depth: int
    comment: str
    file: str

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True)
class Contract:
    """The files of one package, without those that they import."""

    files: tuple[FileDescriptorProto, ...]

    @cached_property
    def elements(self) -> tuple[Element, ...]:
        """In the order of the files. Not those that protoc makes up: map entries, and oneofs of optional fields."""
        return tuple(element for file in self.files for element in _FileWalk(file).elements())


def compiled(folder: Path) -> Contract:
    """The proto files of a folder, with their comments."""
    sources = sorted(str(path.relative_to(folder)) for path in folder.rglob("*.proto"))
    with tempfile.TemporaryDirectory() as scratch:
        out = Path(scratch) / "contract.bin"
        well_known = files("grpc_tools") / "_proto"
        options = ["--include_source_info", f"--descriptor_set_out={out}", f"-I{folder}", f"-I{well_known}"]
        assert protoc.main(["protoc", *options, *sources]) == 0
        return Contract(tuple(FileDescriptorSet.FromString(out.read_bytes()).file))


class _FileWalk:
    """A descriptor's place in its file is a path of field numbers and indexes, as descriptor.proto explains."""

    def __init__(self, file: FileDescriptorProto) -> None:
        self._file = file
        self._comments = {tuple(at.path): at.leading_comments.strip() for at in file.source_code_info.location}

    def elements(self) -> Iterator[Element]:
        file = FileDescriptorProto
        for index, message in enumerate(self._file.message_type):
            yield from self._message(message, "", None, (file.MESSAGE_TYPE_FIELD_NUMBER, index), 0)
        for index, enum in enumerate(self._file.enum_type):
            yield from self._enum(enum, "", None, (file.ENUM_TYPE_FIELD_NUMBER, index), 0)
        for index, service in enumerate(self._file.service):
            place = (file.SERVICE_FIELD_NUMBER, index)
            yield self._element(service.name, service, None, place, 0)
            for number, method in enumerate(service.method):
                inner = (*place, ServiceDescriptorProto.METHOD_FIELD_NUMBER, number)
                yield self._element(f"{service.name}.{method.name}", method, service, inner, 1)

    def _message(
        self, message: DescriptorProto, scope: str, parent: Descriptor | None, place: tuple[int, ...], depth: int
    ) -> Iterator[Element]:
        name = f"{scope}{message.name}"
        if message.options.map_entry:
            return
        yield self._element(name, message, parent, place, depth)
        for number, field in enumerate(message.field):
            inner = (*place, DescriptorProto.FIELD_FIELD_NUMBER, number)
            yield self._element(f"{name}.{field.name}", field, message, inner, depth + 1)
        for number, oneof in enumerate(message.oneof_decl):
            if not _is_made_up(message, number):
                inner = (*place, DescriptorProto.ONEOF_DECL_FIELD_NUMBER, number)
                yield self._element(f"{name}.{oneof.name}", oneof, message, inner, depth + 1)
        for number, nested in enumerate(message.nested_type):
            inner = (*place, DescriptorProto.NESTED_TYPE_FIELD_NUMBER, number)
            yield from self._message(nested, f"{name}.", message, inner, depth + 1)
        for number, enum in enumerate(message.enum_type):
            inner = (*place, DescriptorProto.ENUM_TYPE_FIELD_NUMBER, number)
            yield from self._enum(enum, f"{name}.", message, inner, depth + 1)

    def _enum(
        self, enum: EnumDescriptorProto, scope: str, parent: Descriptor | None, place: tuple[int, ...], depth: int
    ) -> Iterator[Element]:
        yield self._element(f"{scope}{enum.name}", enum, parent, place, depth)
        for number, value in enumerate(enum.value):
            inner = (*place, EnumDescriptorProto.VALUE_FIELD_NUMBER, number)
            yield self._element(f"{scope}{enum.name}.{value.name}", value, enum, inner, depth + 1)

    def _element(
        self, name: str, descriptor: Descriptor, parent: Descriptor | None, place: tuple[int, ...], depth: int
    ) -> Element:
        file = self._file.name.rpartition("/")[2]
        return Element(name, descriptor, parent, depth, self._comments.get(place, ""), file)


def _is_made_up(message: DescriptorProto, oneof_index: int) -> bool:
    return any(field.proto3_optional and field.oneof_index == oneof_index for field in message.field)
