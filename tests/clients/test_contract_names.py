"""What `buf lint` and `buf breaking` do not check of the contract: one name for one thing in every language, and that
the committed image of the contract really stops a break."""

import keyword
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from google.protobuf.descriptor_pb2 import DescriptorProto, FieldDescriptorProto, FileDescriptorProto, FileDescriptorSet

from proviso_client.v1.errors_pb2 import ErrorReason
from tests.support.go_smoke import BUILD_LIMIT_S, ROOT, GoModule

TYPESCRIPT = ROOT / "clients" / "typescript" / "src"
BUF = Path(sys.executable).parent / "buf"
IMAGE = ROOT / "protos" / "contract.binpb"

SHARED_TYPES = {"google.protobuf.Timestamp", "google.protobuf.Duration", "google.protobuf.FieldMask"}
JAVASCRIPT_WORDS = {"case", "constructor", "default", "delete", "export", "function", "new", "prototype", "this", "var"}
GO_METHODS = {"descriptor", "reset", "string"}
TURN_ID = "string turn_id = 1;"


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> list[FileDescriptorProto]:
    """The compiled files of the package proviso.v1."""
    image = tmp_path_factory.mktemp("contract") / "image.binpb"
    subprocess.run([BUF, "build", "protos", "-o", image], cwd=ROOT, check=True, timeout=60)
    return [file for file in FileDescriptorSet.FromString(image.read_bytes()).file if file.package == "proviso.v1"]


@pytest.mark.parametrize(
    ("old", "new", "breaks"),
    [
        pytest.param(TURN_ID, "", True, id="a field is deleted"),
        pytest.param(TURN_ID, "string id = 1;", True, id="a field is renamed"),
        pytest.param(TURN_ID, "string turn_id = 15;", True, id="a field has another number"),
        pytest.param(TURN_ID, "bytes turn_id = 1;", True, id="a field has another type"),
        pytest.param("returns (stream AgentEvent)", "returns (AgentEvent)", True, id="a stream becomes one answer"),
        pytest.param(TURN_ID, f"{TURN_ID}\n  string added = 99;", False, id="a field is added"),
    ],
)
def test_breaks_of_the_contract_are_refused_and_additions_are_not(
    old: str, new: str, breaks: bool, tmp_path: Path
) -> None:
    shutil.copytree(ROOT / "protos" / "proviso", tmp_path / "protos" / "proviso")
    shutil.copytree(ROOT / "build" / "imports", tmp_path / "build" / "imports")
    shutil.copy(ROOT / "buf.yaml", tmp_path)
    chat = tmp_path / "protos" / "proviso" / "v1" / "chat.proto"
    changed = chat.read_text(encoding="utf-8").replace(old, new, 1)
    assert changed != chat.read_text(encoding="utf-8")
    chat.write_text(changed, encoding="utf-8")
    done = subprocess.run(
        [BUF, "breaking", "protos", "--against", IMAGE],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == (100 if breaks else 0), (
        done.stdout + done.stderr
    )  # buf's status for a break that it found


def test_every_name_and_type_comes_out_of_all_generators_alike(files: list[FileDescriptorProto]) -> None:
    for field in fields(files):
        assert re.fullmatch(r"[a-z][a-z0-9]*(_[a-z][a-z0-9]*)*", field.name), field.name
        assert field.json_name == camel(field.name), (
            f"{field.name}: ts-proto and NestJS's loader disagree on JSON names"
        )
        assert field.name not in {*keyword.kwlist, *JAVASCRIPT_WORDS, *GO_METHODS}, field.name
        assert "INT64" not in field.Type.Name(field.type), f"{field.name}: JavaScript rounds numbers of 64 bits"
        foreign = field.type_name.startswith(".google.")
        assert not foreign or field.type_name[1:] in SHARED_TYPES, f"{field.name}: read differently in each language"
    for name in (method.name for file in files for service in file.service for method in service.method):
        assert re.fullmatch(r"([A-Z][a-z]+)+", name), f"{name}: NestJS's loader and ts-proto spell it differently"
    types = [name for file in files for name in type_names(file)]
    assert len(set(types)) == len(types), "two types have one name; people and imports use its last part alone"


def test_every_unary_method_that_may_be_sent_again_says_so(files: list[FileDescriptorProto]) -> None:
    methods = [method for file in files for service in file.service for method in service.method]
    unary = [method for method in methods if not method.client_streaming and not method.server_streaming]
    silent = {method.name for method in unary if not method.options.idempotency_level}
    assert silent == {"Invoke", "CreateMatter", "CreateSession", "ContinueSession"}
    for method in methods:
        reads = re.match("Get|List|Parse|Preview|Suggest|Search", method.name) is not None
        changes = re.match("Add|Cancel|Decide|Delete|Remove|Update", method.name) is not None
        level = method.options.IdempotencyLevel.Name(method.options.idempotency_level)
        assert not reads or level == "NO_SIDE_EFFECTS", method.name
        assert not changes or level == "IDEMPOTENT", method.name


def test_both_typescript_stubs_have_every_name(files: list[FileDescriptorProto]) -> None:
    for file in files:
        stem = file.name.removesuffix(".proto")
        wanted = {camel(field.name) for field in fields([file])} | set(type_names(file))
        wanted |= {method.name[0].lower() + method.name[1:] for service in file.service for method in service.method}
        for path in (TYPESCRIPT / "stubs" / f"{stem}.ts", TYPESCRIPT / "es" / f"{stem}_pb.ts"):
            assert not wanted - set(re.findall(r"[a-zA-Z0-9]+", path.read_text(encoding="utf-8"))), path
    source = (TYPESCRIPT / "loader.ts").read_text(encoding="utf-8")
    [listed] = re.findall(r"protoFiles: readonly string\[\] = \[([^]]*)\]", source)
    assert set(re.findall(r'"(\w+)"', listed)) == {Path(file.name).stem for file in files if file.service}


@pytest.mark.timeout(BUILD_LIMIT_S + 30)  # a first build, with nothing in Go's cache
def test_the_go_stubs_have_every_name(files: list[FileDescriptorProto], go_module: GoModule) -> None:
    code = "".join(path.read_text("utf-8") for path in (go_module.folder / "gen/proviso/v1").glob("*.go"))
    wanted = {f"Get{camel(f'_{field.name}')}" for field in fields(files)}
    assert not (wanted | {name for file in files for name in type_names(file)}) - set(re.findall(r"[a-zA-Z0-9]+", code))
    reasons = re.findall(r'Reason\w+ += "(\w+)"', (go_module.folder / "proviso/failure.go").read_text("utf-8"))
    assert reasons
    assert {f"ERROR_REASON_{reason}" for reason in reasons} <= set(ErrorReason.keys())


def fields(files: list[FileDescriptorProto]) -> list[FieldDescriptorProto]:
    return [field for file in files for message in messages(file) for field in message.field]


def messages(file: FileDescriptorProto) -> list[DescriptorProto]:
    nested = [inner for message in file.message_type for inner in message.nested_type]
    return [message for message in [*file.message_type, *nested] if not message.options.map_entry]


def type_names(file: FileDescriptorProto) -> list[str]:
    enums = [*file.enum_type, *(enum for message in messages(file) for enum in message.enum_type)]
    declared = [*(message.name for message in messages(file)), *(enum.name for enum in enums)]
    return declared + [service.name for service in file.service]


def camel(name: str) -> str:
    """The name in JavaScript and JSON; with an underscore first, the name in Go."""
    first, *rest = name.split("_")
    return first + "".join(word[:1].upper() + word[1:] for word in rest)
