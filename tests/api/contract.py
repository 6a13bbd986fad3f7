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

from google.protobuf.descriptor_pb2 import FileDescriptorProto, FileDescriptorSet
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message_factory import GetMessageClass
from grpc_tools import protoc

ROOT = Path(__file__).parents[2]
PROTOS = ROOT / "protos"
IMPORTS = ROOT / "build" / "imports"
INT32_MAX = 2**31 - 1
NO_VALUE = 99
"""A number that no enum of the contract has."""
_LIMITS = re.compile(r"Limits:\s+(\d+)\s+to\s+(\d+)\s*(characters|items)?\.")
_MESSAGE, _FIELD = (FileDescriptorProto.MESSAGE_TYPE_FIELD_NUMBER, 2)
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
    return tuple(limit for file in _compiled().file for limit in _limits(file))


def mentions() -> int:
    """How often the sources say `Limits:` at all."""
    return sum(path.read_text().count("Limits:") for path in PROTOS.rglob("*.proto"))


@cache
def annotations() -> Mapping[tuple[str, str], Annotation]:
    """By message and field; only fields that have any."""
    pool = DescriptorPool()
    for file in _compiled().file:
        pool.Add(file)
    options_class: Any = GetMessageClass(pool.FindMessageTypeByName("google.protobuf.FieldOptions"))
    rules = pool.FindExtensionByName("buf.validate.field")
    behavior = pool.FindExtensionByName("google.api.field_behavior")
    return {
        (message.name, field.name): Annotation(options.Extensions[rules], _REQUIRED in options.Extensions[behavior])
        for file in _compiled().file
        if file.package == "proviso.v1"
        for message in file.message_type
        for field in message.field
        if (options := options_class.FromString(field.options.SerializeToString())).ListFields()
    }


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


def _limits(file: FileDescriptorProto) -> Iterator[Limit]:
    for location in file.source_code_info.location if file.package == "proviso.v1" else ():
        match tuple(location.path):
            case (kind, message_index, inside, field_index) if (kind, inside) == (_MESSAGE, _FIELD):
                message = file.message_type[message_index]
                comment = " ".join(location.leading_comments.split())
                if found := _LIMITS.search(comment):
                    low, high, unit = found.groups()
                    yield Limit(message.name, message.field[field_index].name, int(low), int(high), unit or "")
