"""What callers rely on, kept in `contract_names.txt`: a line for each service, rpc, message, field, enum and value, for
the limits of each field, and for what is reserved.

`python -m tests.contract_guard.names` adds the new ones. One that is gone or has changed breaks callers, and is
refused; where that is meant, before the first release, its line is taken out by hand and the changelog says so."""

import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from google.protobuf.descriptor_pb2 import (
    DescriptorProto,
    EnumDescriptorProto,
    EnumValueDescriptorProto,
    FieldDescriptorProto,
    MethodDescriptorProto,
    ServiceDescriptorProto,
)

from tests.contract_guard.elements import PROTOS, Contract, Element, compiled
from tests.contract_guard.kinds import is_alternative, map_entry

NAMES_FILE = Path(__file__).parent / "contract_names.txt"

_LIMITS: Final = re.compile(r"Limits:\s+(\d+)\s+to\s+(\d+)\s*(characters|items)?\.")

_GONE: Final = {
    "service": "callers of its methods get UNIMPLEMENTED",
    "rpc": "callers of it get UNIMPLEMENTED",
    "message": "code that makes or reads it no longer compiles",
    "field": "code that uses it no longer compiles, and what callers with older stubs send in it is ignored",
    "enum": "code that uses it no longer compiles",
    "value": "code that uses it no longer compiles",
    "reserved": "it could be used again, for something else than older stubs take it for",
}
_MOVED: Final = "Python and TypeScript import it from a module named after its file"
_REFUSED: Final = "requests that were good are refused"
_CHANGED: Final = {
    "service": _MOVED,
    "rpc": "callers with older stubs make another kind of call, or send and expect another message",
    "message": _MOVED,
    "field": "callers with older stubs read another value or none, and code that uses it no longer compiles",
    "enum": _MOVED,
    "value": "callers with older stubs take it for another value",
}


def names_of(contract: Contract) -> dict[str, str]:
    """What each name stands for, for example {"field ResumeChatRequest.turn_id": "1 string"}."""
    return dict(entry for element in contract.elements for entry in _entries(element))


def read(path: Path) -> dict[str, str]:
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    return {name: meaning for name, _, meaning in (line.partition(" = ") for line in lines if line)}


def breaks(kept: Mapping[str, str], found: Mapping[str, str]) -> list[str]:
    """What was relied on and is gone or different, and what that breaks."""
    problems = []
    for name, meaning in kept.items():
        kind = name.partition(" ")[0]
        if kind == "limits":
            continue
        if name not in found:
            problems.append(f"{name} is gone: {_GONE[kind]}")
        elif found[name] != meaning:
            problems.append(f"{name} was `{meaning}` and is `{found[name]}`: {_CHANGED[kind]}")
    return problems + list(_narrowed(kept, found))


def _narrowed(kept: Mapping[str, str], found: Mapping[str, str]) -> Iterator[str]:
    """Limits may widen, or go, but not tighten, nor come to a field that had none."""
    for name, now in found.items():
        kind, _, field = name.partition(" ")
        if kind != "limits" or f"field {field}" not in kept:
            continue
        if name not in kept:
            yield f"{name} are new: {_REFUSED}"
        elif not _allows(now, kept[name]):
            yield f"{name} were `{kept[name]}` and are `{now}`: {_REFUSED}"


def _allows(limits: str, others: str) -> bool:
    (low, _, high, *unit), (other_low, _, other_high, *other_unit) = limits.split(), others.split()
    return unit == other_unit and int(low) <= int(other_low) and int(other_high) <= int(high)


def update(path: Path, found: Mapping[str, str]) -> list[str]:
    """Adds what is new, unless something is broken; returns what is."""
    problems = breaks(read(path), found)
    if not problems:
        lines = (f"{name} = {meaning}" if meaning else name for name, meaning in found.items())
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return problems


def _entries(element: Element) -> Iterator[tuple[str, str]]:
    match element.descriptor:
        case MethodDescriptorProto():
            yield f"rpc {element}", _method(element.descriptor)
        case ServiceDescriptorProto():
            yield f"service {element}", element.file
        case DescriptorProto():
            yield f"message {element}", element.file
            yield from _reserved(element, element.descriptor, end_offset=-1)
        case FieldDescriptorProto():
            yield f"field {element}", _field(element, element.descriptor)
            if limits := _LIMITS.search(element.comment):
                low, high, unit = limits.groups(default="")
                yield f"limits {element}", f"{low} to {high} {unit}".rstrip()
        case EnumDescriptorProto():
            yield f"enum {element}", element.file
            yield from _reserved(element, element.descriptor, end_offset=0)
        case EnumValueDescriptorProto():
            yield f"value {element}", str(element.descriptor.number)


def _reserved(
    element: Element, descriptor: DescriptorProto | EnumDescriptorProto, end_offset: int
) -> Iterator[tuple[str, str]]:
    """Numbers and names that nothing may have. In descriptors the end of a message's range is exclusive, that of an
    enum's is not."""
    for numbers in descriptor.reserved_range:
        last = numbers.end + end_offset
        yield f"reserved {element}.{numbers.start}" + (f" to {last}" if last > numbers.start else ""), ""
    for name in descriptor.reserved_name:
        yield f"reserved {element}.{name}", ""


def _method(method: MethodDescriptorProto) -> str:
    asked = "stream " * method.client_streaming + method.input_type.removeprefix(".")
    answered = "stream " * method.server_streaming + method.output_type.removeprefix(".")
    return f"({asked}) returns ({answered})"


def _field(element: Element, field: FieldDescriptorProto) -> str:
    if entry := map_entry(element):
        key, value = (_kind(part) for part in entry.field)
        return f"{field.number} map<{key}, {value}>"
    label = "repeated " * (field.label == FieldDescriptorProto.LABEL_REPEATED) + "optional " * field.proto3_optional
    return f"{field.number} {label}{_kind(field)}{_oneof(element, field)}"


def _kind(field: FieldDescriptorProto) -> str:
    return field.type_name.removeprefix(".") or field.Type.Name(field.type).removeprefix("TYPE_").lower()


def _oneof(element: Element, field: FieldDescriptorProto) -> str:
    if not isinstance(element.parent, DescriptorProto) or not is_alternative(field):
        return ""
    return f" of oneof {element.parent.oneof_decl[field.oneof_index].name}"


def main() -> int:
    problems = update(NAMES_FILE, names_of(compiled(PROTOS)))
    print("\n".join(problems) or "every name of the contract is kept")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
