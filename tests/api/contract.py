"""The limits of the contract, read from the .proto sources: those that the fields' comments state for people, and the
annotations that state them for programs."""

import re
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from google.protobuf.descriptor_pb2 import DescriptorProto, FileDescriptorProto, FileDescriptorSet
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass
from grpc_tools import protoc

ROOT = Path(__file__).parents[2]
PROTOS = ROOT / "protos"
IMPORTS = ROOT / "build" / "imports"
INT32_MAX = 2**31 - 1
NO_VALUE = 99
"""A number that no enum of the contract has."""
_LIMITS = re.compile(r"Limits:\s+(\d+)\s+to\s+(\d+)\s*(characters|items)?\.")
_PATHS = re.compile(r"The fields to change: ([^;]+);")
_ONE_NEEDED = "One of these must be set."
_MESSAGE, _FIELD, _ONEOF = FileDescriptorProto.MESSAGE_TYPE_FIELD_NUMBER, 2, 8
_REQUIRED = 2  # of google.api.FieldBehavior


@dataclass(frozen=True)
class Limit:
    """`unit` is "characters", "items", or empty for numbers."""

    message: str
    field: str
    low: int
    high: int
    unit: str

    def __str__(self) -> str:
        return f"{self.message}.{self.field}"


@dataclass(frozen=True)
class Annotation:
    """What a field's annotations say: its buf.validate.FieldRules, and whether it must be set."""

    rules: Any
    required: bool

    def limit(self, message: str, field: str) -> Limit | None:
        kind = self.rules.WhichOneof("type")
        rules = kind and getattr(self.rules, kind)
        match kind:
            case "string" if rules.HasField("max_len"):
                return Limit(message, field, rules.min_len, rules.max_len, "characters")
            case "repeated" if rules.HasField("max_items"):
                return Limit(message, field, rules.min_items, rules.max_items, "items")
            case "int32" | "float" | "double":
                return Limit(message, field, rules.gte, rules.lte if rules.HasField("lte") else INT32_MAX, "")
        return None

    @property
    def paths(self) -> frozenset[str]:
        """What a field mask may name."""
        return frozenset(getattr(self.rules.field_mask, "in"))

    def refuses(self, value: object) -> bool:
        """Whether the rules of single texts and enum values refuse this one."""
        kind = self.rules.WhichOneof("type")
        of = self.rules.repeated.items if kind == "repeated" else self.rules
        match value:
            case str():
                rule = of.string
                pattern = r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}" if rule.uuid else rule.pattern
                ignored = of.HasField("ignore") and not value
                return not ignored and (len(value) < rule.min_len or not re.search(pattern, value))
            case int():
                rule, allowed = of.enum, getattr(of.enum, "in")
                unknown = value == NO_VALUE and rule.defined_only
                return unknown or value in rule.not_in or bool(allowed and value not in allowed)
        return False


@cache
def stated_limits() -> tuple[Limit, ...]:
    """Every `Limits:` of the contract."""
    return tuple(
        Limit(message.name, field.name, int(low), int(high), unit or "")
        for message, field, comment in _commented(_FIELD, "field")
        if (found := _LIMITS.search(comment))
        for low, high, unit in [found.groups()]
    )


@cache
def stated_paths() -> Mapping[tuple[str, str], frozenset[str]]:
    """What the comments of field masks say that may be named, by message and field."""
    return {
        (message.name, field.name): frozenset(re.findall(r"`(\w+)`", found[1]))
        for message, field, comment in _commented(_FIELD, "field")
        if (found := _PATHS.search(comment))
    }


@cache
def stated_choices() -> frozenset[tuple[str, str]]:
    """The oneofs, by message and name, of which a comment says that one field must be set."""
    stated = _commented(_ONEOF, "oneof_decl")
    return frozenset((message.name, oneof.name) for message, oneof, comment in stated if _ONE_NEEDED in comment)


def mentions() -> int:
    """How often the sources say `Limits:` at all."""
    return sum(path.read_text().count("Limits:") for path in PROTOS.rglob("*.proto"))


@cache
def annotations() -> Mapping[tuple[str, str], Annotation]:
    """By message and field; only fields that have any."""
    rules = _pool().FindExtensionByName("buf.validate.field")
    behavior = _pool().FindExtensionByName("google.api.field_behavior")
    return {
        (message.name, field.name): Annotation(options.Extensions[rules], _REQUIRED in options.Extensions[behavior])
        for message in _messages()
        for field in message.field
        if (options := _read("FieldOptions", field.options)).ListFields()
    }


@cache
def required_choices() -> Mapping[tuple[str, str], tuple[str, ...]]:
    """The oneofs, by message and name, of which the annotations say that one field must be set; and their fields."""
    rules = _pool().FindExtensionByName("buf.validate.oneof")
    return {
        (message.name, oneof.name): tuple(
            field.name for field in message.field if field.HasField("oneof_index") and field.oneof_index == index
        )
        for message in _messages()
        for index, oneof in enumerate(message.oneof_decl)
        if _read("OneofOptions", oneof.options).Extensions[rules].required
    }


def _messages() -> Iterator[DescriptorProto]:
    return (message for file in _compiled().file if file.package == "proviso.v1" for message in file.message_type)


@cache
def _pool() -> DescriptorPool:
    pool = DescriptorPool()
    for file in _compiled().file:
        pool.Add(file)
    return pool


def _read(kind: str, options: Message) -> Any:
    """The options with the annotations, which the package of protobuf does not know."""
    options_class: Any = GetMessageClass(_pool().FindMessageTypeByName(f"google.protobuf.{kind}"))
    return options_class.FromString(options.SerializeToString())


@cache
def _compiled() -> FileDescriptorSet:
    assert IMPORTS.exists(), "The files that the contract imports are missing: run make imports."
    sources = sorted(str(path.relative_to(PROTOS)) for path in PROTOS.rglob("*.proto"))
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "contract.bin"
        paths = [f"-I{path}" for path in (PROTOS, IMPORTS, files("grpc_tools") / "_proto")]
        options = ["--include_source_info", "--include_imports", f"--descriptor_set_out={out}", *paths]
        assert protoc.main(["protoc", *options, *sources]) == 0
        return FileDescriptorSet.FromString(out.read_bytes())


def _commented(part: int, parts: str) -> Iterator[tuple[DescriptorProto, Any, str]]:
    """Every message with each of its parts of one kind (its fields or oneofs) and the comment above that."""
    for file in _compiled().file:
        for location in file.source_code_info.location if file.package == "proviso.v1" else ():
            match tuple(location.path):
                case (kind, message_index, inside, index) if (kind, inside) == (_MESSAGE, part):
                    message = file.message_type[message_index]
                    yield message, getattr(message, parts)[index], " ".join(location.leading_comments.split())
