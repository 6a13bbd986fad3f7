"""Rules on the package as a whole: the identifiers that generators make must not meet each other, nor a language's."""

from collections.abc import Iterator
from typing import Final

from google.protobuf.descriptor_pb2 import (
    DescriptorProto,
    EnumDescriptorProto,
    EnumValueDescriptorProto,
    FieldDescriptorProto,
    MethodDescriptorProto,
    ServiceDescriptorProto,
)

from tests.contract_guard.elements import Contract, Element
from tests.contract_guard.kinds import is_alternative
from tests.contract_guard.naming import clashes, go, words

_TYPESCRIPT_GLOBALS: Final = words("""
    Array BinaryReader BinaryWriter Boolean Buffer Date DeepPartial Error Exact Function Long Map Metadata Number Object
    Observable Partial Promise Proxy Record RegExp Set String Symbol Uint8Array
""")
_PACKAGE_OPTIONS: Final = (
    "csharp_namespace", "go_package", "java_multiple_files", "java_outer_classname", "java_package",
    "objc_class_prefix", "optimize_for", "php_namespace", "ruby_package", "swift_prefix",
)  # fmt: skip


def one_package(contract: Contract) -> Iterator[str]:
    packages = sorted({file.package for file in contract.files})
    if len(packages) > 1:
        yield f"more than one package ({', '.join(packages)}); a client of NestJS is given one"
    for file in contract.files:
        if file.name.rpartition("/")[0] != file.package.replace(".", "/"):
            yield f"{file.name}: not in the folder of its package {file.package}; Python imports it by its folder"


def no_package_options(contract: Contract) -> Iterator[str]:
    for file in contract.files:
        for option in _PACKAGE_OPTIONS:
            if file.options.HasField(option):
                yield f"{file.name}: sets {option}, which changes the code that callers in some languages have"


def types_have_names_of_their_own(contract: Contract) -> Iterator[str]:
    """Wherever they are nested: people and imports use the last part alone."""
    yield from clashes((e.descriptor.name, e.name) for e in _types(contract))


def go_identifiers_are_distinct(contract: Contract) -> Iterator[str]:
    yield from clashes((name, e.name) for e in contract.elements for name in in_go(e))


def typescript_identifiers_are_distinct(contract: Contract) -> Iterator[str]:
    yield from clashes((name, e.name) for e in contract.elements for name in in_typescript(e))
    for element in _types(contract):
        if element.descriptor.name in _TYPESCRIPT_GLOBALS:
            yield f"{element}: hides a name that generated TypeScript itself uses"


def everything_is_explained(contract: Contract) -> Iterator[str]:
    for element in contract.elements:
        if not element.comment:
            yield f"{element}: no comment above it; it is the documentation in every language"


def _types(contract: Contract) -> Iterator[Element]:
    kinds = (DescriptorProto, EnumDescriptorProto, ServiceDescriptorProto)
    return (e for e in contract.elements if isinstance(e.descriptor, kinds))


def in_go(element: Element) -> Iterator[str]:
    *around, last = element.name.split(".")
    scope = "_".join(around)
    match element.descriptor:
        case DescriptorProto():
            yield element.name.replace(".", "_")
        case EnumDescriptorProto():
            name = element.name.replace(".", "_")
            yield from (name, f"{name}_name", f"{name}_value")
        case EnumValueDescriptorProto():
            # Values of a nested enum stand beside it.
            yield f"{'_'.join(around[:-1]) or scope}_{last}"
        case FieldDescriptorProto() if is_alternative(element.descriptor):
            yield f"{scope}_{go(last)}"
        case ServiceDescriptorProto():
            yield from (f"{last}Client", f"New{last}Client", f"{last}Server", f"Register{last}Server")
            yield from (f"Unimplemented{last}Server", f"Unsafe{last}Server", f"{last}_ServiceDesc")
        case MethodDescriptorProto():
            yield f"{scope}_{last}_FullMethodName"
            if element.descriptor.client_streaming or element.descriptor.server_streaming:
                yield from (f"{scope}_{last}Client", f"{scope}_{last}Server")


def in_typescript(element: Element) -> Iterator[str]:
    name = element.name.replace(".", "_")
    match element.descriptor:
        case DescriptorProto():
            yield name
        case EnumDescriptorProto():
            function = name[:1].lower() + name[1:]
            yield from (name, f"{function}FromJSON", f"{function}ToJSON")
        case ServiceDescriptorProto():
            yield from (name, f"{name}Client", f"{name}Controller", f"{name}ControllerMethods")
