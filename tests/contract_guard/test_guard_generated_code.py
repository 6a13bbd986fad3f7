"""The names that the guard reckons with are those of the generated code, in Python, TypeScript and Go."""

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from google.protobuf.descriptor_pb2 import (
    EnumValueDescriptorProto,
    FieldDescriptorProto,
    MethodDescriptorProto,
    OneofDescriptorProto,
    ServiceDescriptorProto,
)

from tests.contract_guard.elements import PROTOS, Contract, Element, compiled
from tests.contract_guard.generated import in_go, in_typescript
from tests.contract_guard.kinds import is_alternative
from tests.contract_guard.naming import camel, go

CLIENTS = PROTOS.parent / "clients"
TYPESCRIPT = CLIENTS / "typescript" / "src"

_INSIDE = r".*\n(?:  .*\n|\n)*?"
"""The rest of a line, and lines of the block that it opens."""


@pytest.fixture(scope="module")
def contract() -> Contract:
    return compiled(PROTOS)


def test_python_has_every_element_under_its_name(contract: Contract) -> None:
    assert not [str(element) for element in contract.elements if not _is_in_python(element)]


def test_typescript_has_every_element_under_its_name(contract: Contract) -> None:
    missing = []
    for element in contract.elements:
        code = _typescript("stubs", element)
        both = code + _typescript("es", element)  # ts-proto has the parts of a service, protobuf-es the service
        missing += [name for name in in_typescript(element) if not _declares(both, name) and not name.endswith("JSON")]
        missing += [str(element) for pattern in _stub_patterns(element) if not _found(pattern, code)]
    assert not missing


def test_typescript_for_connect_has_every_field_and_method_under_its_name(contract: Contract) -> None:
    missing = []
    for element in contract.elements:
        scope, name = _camel_in_scope(element)
        match element.descriptor:
            case FieldDescriptorProto() if is_alternative(element.descriptor):
                pattern = rf'^export type {scope} = {_INSIDE}    case: "{name}";'
            case FieldDescriptorProto():
                pattern = rf"^export type {scope} = {_INSIDE}  {name}\??: "
            case MethodDescriptorProto():
                pattern = rf"^export const {scope}: {_INSIDE}  {name}: "
            case _:
                continue
        missing += [] if _found(pattern, _typescript("es", element)) else [str(element)]
    assert not missing


@pytest.mark.timeout(300)  # Go builds the generators when its cache is empty
def test_go_has_every_element_under_its_name(contract: Contract, tmp_path: Path) -> None:
    module = tmp_path / "go"
    shutil.copytree(CLIENTS / "go", module, ignore=shutil.ignore_patterns("gen"))
    buf = Path(sys.executable).parent / "buf"
    subprocess.run([buf, "generate", str(PROTOS.parent)], cwd=module, check=True, timeout=280)
    code = "".join(path.read_text("utf-8") for path in module.glob("gen/proviso/v1/*.go"))
    words = set(re.findall(r"\w+", code))
    assert not [name for element in contract.elements for name in in_go(element) if name not in words]
    getters = [_go_getter(e) for e in contract.elements if isinstance(e.descriptor, FieldDescriptorProto)]
    assert not [getter for getter in getters if getter not in code]


def test_the_loader_is_given_every_file_that_has_a_service(contract: Contract) -> None:
    source = (TYPESCRIPT / "loader.ts").read_text(encoding="utf-8")
    [listed] = re.findall(r"protoFiles: readonly string\[\] = \[(.*?)\]", source)
    files = {
        e.file.removesuffix(".proto") for e in contract.elements if isinstance(e.descriptor, ServiceDescriptorProto)
    }
    assert set(re.findall(r'"(\w+)"', listed)) == files


def _is_in_python(element: Element) -> bool:
    module = import_module(f"proviso.v1.{element.file.removesuffix('.proto')}_pb2")
    *around, last = element.name.split(".")
    match element.descriptor:
        case ServiceDescriptorProto():
            return hasattr(import_module(f"{module.__name__}_grpc"), f"{last}Stub")
        case MethodDescriptorProto():
            return hasattr(getattr(import_module(f"{module.__name__}_grpc"), f"{around[0]}Servicer"), last)
        case EnumValueDescriptorProto():
            around = around[:-1]
    scope: Any = module
    for name in around:
        scope = getattr(scope, name)
    if isinstance(element.descriptor, FieldDescriptorProto):
        return hasattr(scope(), last)
    if isinstance(element.descriptor, OneofDescriptorProto):
        return last in scope.DESCRIPTOR.oneofs_by_name
    return hasattr(scope, last)


def _typescript(kind: str, element: Element) -> str:
    name = element.file.removesuffix(".proto") + ("_pb" if kind == "es" else "")
    return (TYPESCRIPT / kind / "proviso" / "v1" / f"{name}.ts").read_text(encoding="utf-8")


def _declares(code: str, name: str) -> bool:
    return _found(rf"^export (?:interface|const|function) {name}\b", code)


def _stub_patterns(element: Element) -> Iterator[str]:
    scope, name = _camel_in_scope(element)
    match element.descriptor:
        case FieldDescriptorProto():
            yield rf"^export interface {scope} {_INSIDE}  {name}\??:"
        case EnumValueDescriptorProto(name=value):
            yield rf'^export const {scope} = {_INSIDE}  {value}: "{value}",'
        case MethodDescriptorProto():
            yield rf"^export interface {scope}Client {_INSIDE}  {name}\("


def _camel_in_scope(element: Element) -> tuple[str, str]:
    """What an element stands in, as TypeScript names it, and its name there."""
    *around, last = element.name.split(".")
    name = camel(last)
    return "_".join(around), name[:1].lower() + name[1:]


def _found(pattern: str, code: str) -> bool:
    return bool(re.search(pattern, code, re.MULTILINE))


def _go_getter(field: Element) -> str:
    *around, last = field.name.split(".")
    return f"func (x *{'_'.join(around)}) Get{go(last)}() "
