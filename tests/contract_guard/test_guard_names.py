"""What is kept of the contract's names: additions are free, all else is told with what it breaks."""

from pathlib import Path

import pytest

from tests.contract_guard.elements import Contract, compiled
from tests.contract_guard.names import breaks, names_of, read, update

SOURCE = """\
syntax = "proto3";
package proviso.v1;
service AskService { rpc Ask(Question) returns (stream Answer); }
enum Kind { KIND_UNSPECIFIED = 0; KIND_OPEN = 1; }
message Question {
  // What. Limits: 1 to 10 characters.
  string text = 1; optional int32 times = 2; map<string, Kind> kinds = 3; }
message Answer { oneof event { string text = 1; Question question = 2; } repeated string words = 3; string note = 4;
  reserved 9, 20 to 29; reserved "old"; }
message Nothing {}
"""


def compiled_from(folder: Path, source: str) -> Contract:
    folder.mkdir()
    (folder / "ask.proto").write_text(source, encoding="utf-8")
    return compiled(folder)


def test_a_name_is_kept_with_all_that_its_encoding_depends_on(tmp_path: Path) -> None:
    assert names_of(compiled_from(tmp_path / "a", SOURCE)) == {
        "service AskService": "ask.proto",
        "rpc AskService.Ask": "(proviso.v1.Question) returns (stream proviso.v1.Answer)",
        "enum Kind": "ask.proto",
        "value Kind.KIND_UNSPECIFIED": "0",
        "value Kind.KIND_OPEN": "1",
        "message Question": "ask.proto",
        "field Question.text": "1 string",
        "limits Question.text": "1 to 10 characters",
        "field Question.times": "2 optional int32",
        "field Question.kinds": "3 map<string, proviso.v1.Kind>",
        "message Answer": "ask.proto",
        "reserved Answer.9": "",
        "reserved Answer.20 to 29": "",
        "reserved Answer.old": "",
        "field Answer.text": "1 string of oneof event",
        "field Answer.question": "2 proviso.v1.Question of oneof event",
        "field Answer.words": "3 repeated string",
        "field Answer.note": "4 string",
        "message Nothing": "ask.proto",
    }


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("stream Answer", "Answer", "rpc AskService.Ask was"),
        ("rpc Ask(Question)", "rpc Ask(stream Question)", "another kind of call"),
        ("rpc Ask(", "rpc AskAgain(", "rpc AskService.Ask is gone: callers of it get UNIMPLEMENTED"),
        ("message Nothing {}", "", "message Nothing is gone"),
        ("string note = 4;", "", "field Answer.note is gone"),
        ("string note = 4;", "string remark = 4;", "field Answer.note is gone"),
        ("string note = 4;", "string note = 5;", "`4 string` and is `5 string`"),
        ("string note = 4;", "bytes note = 4;", "`4 string` and is `4 bytes`"),
        ("string note = 4;", "optional string note = 4;", "`4 string` and is `4 optional string`"),
        ("string note = 4;", "oneof more { string note = 4; }", "is `4 string of oneof more`"),
        ("repeated string", "string", "field Answer.words was `3 repeated string`"),
        ("map<string, Kind>", "map<string, string>", "is `3 map<string, string>`"),
        ("KIND_OPEN = 1", "KIND_OPEN = 2", "older stubs take it for another value"),
        ("KIND_OPEN = 1;", "", "value Kind.KIND_OPEN is gone"),
        ("reserved 9, 20 to 29;", "reserved 20 to 29;", "reserved Answer.9 is gone"),
        ("reserved 9, 20 to 29;", "reserved 9, 20 to 28;", "reserved Answer.20 to 29 is gone"),
        ('reserved "old";', "", "reserved Answer.old is gone"),
        ("1 to 10 characters", "1 to 9 characters", "limits Question.text were `1 to 10 characters`"),
        ("1 to 10 characters", "2 to 10 characters", "limits Question.text were `1 to 10 characters`"),
        ("1 to 10 characters", "1 to 10 items", "limits Question.text were `1 to 10 characters`"),
        ("optional int32 times", "\n  // Limits: 1 to 5.\n  optional int32 times", "limits Question.times are new"),
    ],
)
def test_a_change_is_told_with_what_it_breaks(tmp_path: Path, old: str, new: str, problem: str) -> None:
    kept = names_of(compiled_from(tmp_path / "before", SOURCE))
    found = names_of(compiled_from(tmp_path / "after", SOURCE.replace(old, new)))
    assert problem in "\n".join(breaks(kept, found))
    names = tmp_path / "names.txt"
    assert not update(names, kept)
    before = names.read_bytes()
    assert update(names, found)
    assert names.read_bytes() == before


def test_additions_break_nothing_and_are_kept_from_then_on(tmp_path: Path) -> None:
    names = tmp_path / "names.txt"
    update(names, names_of(compiled_from(tmp_path / "before", SOURCE)))
    added = SOURCE.replace("string note = 4;", "string note = 4; string more = 5;").replace("1 to 10", "0 to 20")
    added += "message New {\n  // Limits: 1 to 5 items.\n  repeated string a = 1; }"
    found = names_of(compiled_from(tmp_path / "after", added))
    assert not update(names, found)
    assert read(names) == found
