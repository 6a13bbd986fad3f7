"""Rules on names: the same name must come out of every generator, and be usable in every language."""

import keyword
import re
from collections.abc import Iterator
from typing import Final

from google.protobuf.descriptor_pb2 import (
    DescriptorProto,
    EnumDescriptorProto,
    FieldDescriptorProto,
    MethodDescriptorProto,
    OneofDescriptorProto,
    ServiceDescriptorProto,
)

from tests.contract_guard.elements import Contract, Descriptor, Element
from tests.contract_guard.kinds import fields

_SNAKE: Final = re.compile(r"[a-z][a-z0-9]*(_[a-z][a-z0-9]*)*")
_WORDS: Final = re.compile(r"([A-Z][a-z]+)+")
_TYPE: Final = re.compile(r"[A-Z][A-Za-z0-9]*")


def words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_JAVASCRIPT_WORDS: Final = words("""
    await break case catch class const continue debugger default delete do else enum export extends false finally for
    function if implements import in instanceof interface let new null package private protected public return static
    super switch this throw true try typeof var void while with yield
""")
_JAVASCRIPT_MEMBERS: Final = words("""
    constructor hasOwnProperty isPrototypeOf propertyIsEnumerable prototype then toJSON toLocaleString toString valueOf
""")
_CLIENT_METHODS: Final = words("""
    close getChannel makeBidiStreamRequest makeClientStreamRequest makeServerStreamRequest makeUnaryRequest waitForReady
""")
_GO_METHODS: Final = words("Descriptor Marshal ProtoMessage ProtoReflect Reset String Unmarshal")
_PYTHON_WORDS: Final = frozenset(keyword.kwlist)
_PYTHON_TYPES: Final = words("bool bytes float int str")


def names_come_out_the_same(contract: Contract) -> Iterator[str]:
    for element in contract.elements:
        name = element.descriptor.name
        match element.descriptor:
            case FieldDescriptorProto() | OneofDescriptorProto() if not _SNAKE.fullmatch(name):
                yield (
                    f"{element}: not words in lower case, each with a letter first; ts-proto, NestJS's loader and Go "
                    "make different names of it"
                )
            case MethodDescriptorProto() if not _WORDS.fullmatch(name):
                yield f"{element}: not words with one capital each; NestJS's loader and ts-proto name it differently"
            case DescriptorProto() | EnumDescriptorProto() | ServiceDescriptorProto() if not _TYPE.fullmatch(name):
                yield f"{element}: a type's name begins with a capital and has no underscore, which Go nests names with"


def json_names_are_derived(contract: Contract) -> Iterator[str]:
    for field, descriptor in fields(contract):
        if descriptor.json_name not in ("", camel(descriptor.name)):
            yield f"{field}: has a json_name of its own; NestJS's loader does not follow it, ts-proto does"


def no_reserved_words(contract: Contract) -> Iterator[str]:
    for element in contract.elements:
        if languages := list(_reserving(element.descriptor)):
            yield f"{element}: a word that {' and '.join(languages)} keep for themselves"


def members_are_distinct(contract: Contract) -> Iterator[str]:
    """Of a message: fields and oneofs, as JavaScript's properties and as Go's members and getters."""
    for message in _messages(contract):
        own = [e for e in contract.elements if e.parent is message.descriptor and _is_member(e.descriptor)]
        yield from clashes((camel(e.descriptor.name), e.name) for e in own)
        yield from clashes((name, e.name) for e in own for name in _go_members(e))
        for member in own:
            if go(member.descriptor.name) in _GO_METHODS:
                yield f"{member}: every message has a method {go(member.descriptor.name)} in Go"


def enums_are_prefixed(contract: Contract) -> Iterator[str]:
    for element in contract.elements:
        if not isinstance(element.descriptor, EnumDescriptorProto):
            continue
        enum = element.descriptor
        prefix = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", enum.name).upper() + "_"
        for value in enum.value:
            if not value.name.startswith(prefix):
                yield f"{element}.{value.name}: does not begin with {prefix}; in Python values share the package"
        if not any(value.number == 0 and value.name == f"{prefix}UNSPECIFIED" for value in enum.value):
            yield f"{element}: no {prefix}UNSPECIFIED = 0; what is absent would read as something that was said"
        if enum.options.allow_alias:
            yield f"{element}: two names for one number; which one JavaScript shows is chance"


def camel(name: str) -> str:
    """The name in JavaScript and JSON, as protoc derives it."""
    first, *rest = name.split("_")
    return first + "".join(word[:1].upper() + word[1:] for word in rest)


def go(name: str) -> str:
    """The name in Go, of words in lower case."""
    return "".join(word[:1].upper() + word[1:] for word in name.split("_"))


def clashes(named: Iterator[tuple[str, str]]) -> Iterator[str]:
    """What two elements both become; takes names as generated, with the elements that they are of."""
    taken: dict[str, str] = {}
    for name, element in named:
        if (other := taken.setdefault(name, element)) != element:
            yield f"{element}: generated code calls it {name}, and so it calls {other}"


def _go_members(element: Element) -> tuple[str, str]:
    name = go(element.descriptor.name)
    return name, f"Get{name}"


def _messages(contract: Contract) -> Iterator[Element]:
    return (e for e in contract.elements if isinstance(e.descriptor, DescriptorProto))


def _is_member(descriptor: Descriptor) -> bool:
    return isinstance(descriptor, FieldDescriptorProto | OneofDescriptorProto)


def _reserving(descriptor: Descriptor) -> Iterator[str]:
    if descriptor.name in _PYTHON_WORDS:
        yield "Python's syntax"
    if descriptor.name == "DESCRIPTOR" or (_is_member(descriptor) and descriptor.name in _PYTHON_TYPES):
        yield "Python's type stubs"
    if _is_member(descriptor) or isinstance(descriptor, MethodDescriptorProto):
        name = camel(descriptor.name)
        name = name[:1].lower() + name[1:]
        if name in _JAVASCRIPT_WORDS:
            yield "JavaScript's syntax"
        if name in _JAVASCRIPT_MEMBERS:
            yield "JavaScript's objects and promises"
        if isinstance(descriptor, MethodDescriptorProto) and name in _CLIENT_METHODS:
            yield "clients of grpc-js, and so of NestJS,"
