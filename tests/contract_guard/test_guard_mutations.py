"""Breaking edits of the contract itself: the guard notices each, and says of what."""

import shutil
from pathlib import Path

import pytest

from tests.contract_guard.elements import PROTOS, Contract, compiled
from tests.contract_guard.names import NAMES_FILE, breaks, names_of, read
from tests.contract_guard.rules import RULES

FIELD = "  int32 sequence = 2;"
RPC = "  rpc Invoke(ChatRequest) returns (InvokeResponse);"
VALUE = "  TURN_STATE_ENDED = 3;"
HEARTBEAT = "// Heartbeat says nothing.\nmessage Heartbeat {}\n"
MESSAGE_LIMITS = "Limits: 0 to 32000 characters.\n  string message = 1;"


def beside(line: str, added: str) -> tuple[str, str]:
    """An edit that adds a line, with the comment that every element has."""
    return line, f"{line}\n  // More.\n  {added}"


EDITS: list[tuple[str, tuple[str, str], str]] = [
    # What fields are.
    ("chat", (FIELD, "  int64 sequence = 2;"), "AgentEvent.sequence: 64 bits"),
    ("chat", (FIELD, "  string sequence = 2;"), "was `2 int32` and is `2 string`"),
    ("chat", (FIELD, "  optional int32 sequence = 2;"), "is `2 optional int32`"),
    ("chat", (FIELD, "  repeated int32 sequence = 2;"), "is `2 repeated int32`"),
    ("chat", ("  optional int32 max_turns = 2;", "  int32 max_turns = 2;"), "was `2 optional int32`"),
    ("chat", (FIELD, "  int32 sequence = 99;"), "is `99 int32`"),
    ("chat", (FIELD, "  // All.\n  oneof place {\n    // One.\n    int32 sequence = 2;\n  }"), "of oneof place"),
    ("chat", ("  oneof event {", "  oneof what {"), "of oneof what"),
    ("chat", beside(FIELD, "google.protobuf.Struct extra = 99;"), "AgentEvent.extra: a google.protobuf.Struct"),
    ("chat", beside(FIELD, "google.protobuf.StringValue extra = 99;"), "a google.protobuf.StringValue"),
    ("chat", beside(FIELD, "google.protobuf.Any extra = 99;"), "AgentEvent.extra: a google.protobuf.Any"),
    ("chat", beside(FIELD, "map<int32, string> extra = 99;"), "a map whose keys are no strings"),
    ("chat", beside(FIELD, "map<string, int64> extra = 99;"), "AgentEvent.extra: 64 bits"),
    ("chat", beside(FIELD, "map<string, google.protobuf.Any> extra = 99;"), "AgentEvent.extra: a google.protobuf.Any"),
    # What names are.
    ("chat", (FIELD, "  int32 position = 2;"), "field AgentEvent.sequence is gone"),
    ("chat", ("rpc GetTurn(", "rpc FetchTurn("), "rpc ChatService.GetTurn is gone"),
    ("chat", ("service ChatService {", "service TalkService {"), "service ChatService is gone"),
    ("chat", (VALUE, "  TURN_STATE_OVER = 3;"), "value TurnState.TURN_STATE_ENDED is gone"),
    ("chat", (VALUE, "  TURN_STATE_ENDED = 4;"), "value TurnState.TURN_STATE_ENDED was `3`"),
    ("chat", beside(VALUE, "PAUSED = 4;"), "TurnState.PAUSED: does not begin with TURN_STATE_"),
    ("chat", beside(FIELD, "string import = 99;"), "a word that Python's syntax and JavaScript's syntax"),
    ("chat", beside(FIELD, "string str = 99;"), "a word that Python's type stubs"),
    ("chat", beside(FIELD, "string reset = 99;"), "every message has a method Reset in Go"),
    ("chat", beside(FIELD, "string getToken = 99;"), "AgentEvent.getToken: not words in lower case"),
    ("chat", beside(FIELD, "string get_token = 99;"), "generated code calls it GetToken"),
    (
        "chat",
        beside(RPC, "rpc Close(GetTurnRequest) returns (GetTurnResponse);"),
        "clients of grpc-js",
    ),
    ("chat", (FIELD, '  int32 sequence = 2 [json_name = "seq"];'), "has a json_name of its own"),
    # What calls are.
    ("chat", ("returns (stream AgentEvent)", "returns (AgentEvent)"), "rpc ChatService.Chat was"),
    ("chat", ("rpc Invoke(ChatRequest)", "rpc Invoke(GetTurnRequest)"), "rpc ChatService.Invoke was"),
    (
        "chat",
        beside(RPC, "rpc Ping(google.protobuf.Empty) returns (google.protobuf.Empty);"),
        "ChatService.Ping: a google.protobuf.Empty",
    ),
    ("chat", (MESSAGE_LIMITS, MESSAGE_LIMITS.replace("0 to", "1 to")), "limits ChatRequest.message were `0 to 32000"),
    # What files are.
    ("chat", (HEARTBEAT, ""), "message Heartbeat was `chat.proto` and is `turns.proto`"),
    ("errors", ("  reserved 16;\n", ""), "reserved ErrorReason.16 is gone"),
    ("chat", ('import "proviso/v1/turns.proto"', 'import public "proviso/v1/turns.proto"'), "turns.proto publicly"),
    ("chat", ("package proviso.v1;", 'package proviso.v1;\noption go_package = "proviso/v1";'), "sets go_package"),
]
SHARED = ("any", "empty", "struct", "wrappers")


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """The contract's files, to be edited."""
    shutil.copytree(PROTOS / "proviso", tmp_path / "proviso")
    return tmp_path


def faults(contract: Contract) -> list[str]:
    return [text for rule in RULES for text in rule(contract)] + breaks(read(NAMES_FILE), names_of(contract))


@pytest.mark.parametrize(("file", "edit", "problem"), EDITS, ids=[problem for _, _, problem in EDITS])
def test_an_edit_that_breaks_callers_is_noticed(copy: Path, file: str, edit: tuple[str, str], problem: str) -> None:
    path = copy / "proviso" / "v1" / f"{file}.proto"
    source = path.read_text(encoding="utf-8")
    old, new = edit
    assert old in source
    imports = "".join(f'import "google/protobuf/{name}.proto";\n' for name in SHARED if "google.protobuf" in new)
    path.write_text(source.replace(old, new, 1).replace("\nimport ", f"\n{imports}import ", 1), encoding="utf-8")
    if old == HEARTBEAT:
        moved_to = path.with_name("turns.proto")
        moved_to.write_text(f"{moved_to.read_text(encoding='utf-8')}\n{HEARTBEAT}", encoding="utf-8")
    found = faults(compiled(copy))
    assert any(problem in text for text in found), found


def test_the_contract_as_it_is_has_no_fault(copy: Path) -> None:
    assert not faults(compiled(copy))
