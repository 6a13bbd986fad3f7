"""Each rule of the guard catches the smallest contract that breaks it, and is silent on one that breaks none."""

from collections.abc import Callable
from pathlib import Path

import pytest
from google.protobuf.descriptor_pb2 import FileDescriptorProto

from tests.contract_guard import generated, kinds, naming
from tests.contract_guard.elements import Contract, compiled
from tests.contract_guard.rules import RULES, Rule

FOLDER = Path("proviso/v1")

HEADER = """\
syntax = "proto3";
package proviso.v1;
import "google/protobuf/duration.proto";
"""

FOREIGN = "".join(f'import "google/protobuf/{name}.proto";\n' for name in ("any", "descriptor", "empty", "wrappers"))

GOOD = """\
// Asks.
service AskService {
  // Asks once.
  rpc AskOnce(Question) returns (stream Answer);
}
// How it is.
enum HowItIs {
  // Not set.
  HOW_IT_IS_UNSPECIFIED = 0;
  // Well.
  HOW_IT_IS_WELL = 1;
}
// A question.
message Question {
  // What.
  string text = 1;
  // When.
  google.protobuf.Duration after = 2;
  // How often.
  optional int32 times = 3;
  // Words.
  map<string, int32> words = 4;
}
// An answer.
message Answer {
  // What.
  oneof event {
    // A text.
    string text = 1;
    // A question back.
    Question question = 2;
  }
  // Nested once.
  message Part {
    // Which.
    HowItIs how = 1;
  }
  // Parts.
  repeated Part parts = 3;
}
"""


@pytest.fixture
def contract_of(tmp_path: Path) -> Callable[..., Contract]:
    """Compiles sources, each a file of the package."""

    def build(*sources: str, folder: Path = FOLDER) -> Contract:
        (tmp_path / folder).mkdir(parents=True)
        for number, source in enumerate(sources):
            (tmp_path / folder / f"file{number}.proto").write_text(source, encoding="utf-8")
        return compiled(tmp_path)

    return build


def message(*fields: str) -> str:
    return "message Bad { " + " ".join(fields) + " }"


BAD: list[tuple[Rule, str, str]] = [
    *(
        (kinds.no_long_integers, message(f"{kind} size = 1;"), "Bad.size: 64 bits")
        for kind in ("int64", "uint64", "sint64", "fixed64", "sfixed64", "repeated int64")
    ),
    (kinds.no_foreign_types, message("google.protobuf.StringValue name = 1;"), "Bad.name: a google.protobuf.StringV"),
    (kinds.no_foreign_types, message("google.protobuf.Any detail = 1;"), "Bad.detail: a google.protobuf.Any"),
    (kinds.no_long_integers, message("map<string, int64> sizes = 1;"), "Bad.sizes: 64 bits"),
    (
        kinds.no_foreign_types,
        message("map<string, google.protobuf.Any> details = 1;"),
        "Bad.details: a google",
    ),
    (
        kinds.no_foreign_types,
        "message Bad {} service BadService { rpc Ask(Bad) returns (google.protobuf.Empty); }",
        "BadService.Ask: a google.protobuf.Empty",
    ),
    (
        kinds.no_foreign_types,
        "message Bad {} service BadService { rpc Ask(google.protobuf.Duration) returns (Bad); }",
        "BadService.Ask: a google.protobuf.Duration",
    ),
    (kinds.no_foreign_files, message("google.protobuf.Any detail = 1;"), "imports google/protobuf/any.proto"),
    (kinds.no_foreign_files, "extend google.protobuf.FieldOptions { string unit = 50001; }", "unit: an extension"),
    (kinds.maps_have_string_keys, message("map<int32, string> names = 1;"), "Bad.names: a map"),
    (kinds.maps_have_string_keys, message("map<bool, string> names = 1;"), "Bad.names: a map"),
    (kinds.maps_have_string_keys, message("message Part { map<int32, string> names = 1; }"), "Bad.Part.names: a map"),
    (kinds.no_deep_nesting, message("message Inner { message Innermost {} }"), "Bad.Inner.Innermost: nested deeper"),
    (naming.names_come_out_the_same, message("string firstName = 1;"), "Bad.firstName"),
    (naming.names_come_out_the_same, message("string sha_256 = 1;"), "Bad.sha_256"),
    (naming.names_come_out_the_same, message("string _name = 1;"), "Bad._name"),
    (naming.names_come_out_the_same, message("string a__b = 1;"), "Bad.a__b"),
    (naming.names_come_out_the_same, message("oneof Kind { string name = 1; }"), "Bad.Kind"),
    (naming.names_come_out_the_same, "message Bad_Name {}", "Bad_Name: a type's name"),
    (naming.names_come_out_the_same, "enum bad { BAD_UNSPECIFIED = 0; }", "bad: a type's name"),
    (
        naming.names_come_out_the_same,
        "message Bad {} service BadService { rpc ExecuteIQL(Bad) returns (Bad); }",
        "BadService.ExecuteIQL",
    ),
    (naming.json_names_are_derived, message('string name = 1 [json_name = "label"];'), "Bad.name: has a json_name"),
    (naming.no_reserved_words, message("string from = 1;"), "Bad.from: a word that Python's syntax"),
    (naming.no_reserved_words, message("string delete = 1;"), "Bad.delete: a word that JavaScript's syntax"),
    (naming.no_reserved_words, message("string constructor = 1;"), "Bad.constructor: a word that JavaScript's objects"),
    (naming.no_reserved_words, message("string to_string = 1;"), "Bad.to_string: a word that JavaScript's objects"),
    *((naming.no_reserved_words, message(f"string {word} = 1;"), "Python's type stubs") for word in ("int", "bytes")),
    (naming.no_reserved_words, "message DESCRIPTOR {}", "DESCRIPTOR: a word that Python's type stubs"),
    (
        naming.no_reserved_words,
        "message Bad {} service BadService { rpc GetChannel(Bad) returns (Bad); }",
        "BadService.GetChannel: a word that clients of grpc-js",
    ),
    (naming.no_reserved_words, "message None {}", "None: a word that Python's syntax"),
    (
        naming.no_reserved_words,
        "message Bad {} service BadService { rpc Then(Bad) returns (Bad); }",
        "BadService.Then: a word that JavaScript's objects",
    ),
    (naming.members_are_distinct, message("string name = 1; string get_name = 2;"), "Bad.get_name: generated code"),
    (naming.members_are_distinct, message("string string = 1;"), "Bad.string: every message has a method String"),
    (
        naming.members_are_distinct,
        message("oneof some_kind { string name = 1; } string someKind = 2;"),
        "generated code calls it someKind",
    ),
    (naming.enums_are_prefixed, "enum Bad { BAD_UNSPECIFIED = 0; WORSE = 1; }", "Bad.WORSE: does not begin with BAD_"),
    (naming.enums_are_prefixed, "enum Bad { BAD_GOOD = 0; }", "Bad: no BAD_UNSPECIFIED = 0"),
    (
        naming.enums_are_prefixed,
        "enum Bad { option allow_alias = true; BAD_UNSPECIFIED = 0; BAD_NONE = 0; }",
        "Bad: two names for one number",
    ),
    *(
        (generated.no_package_options, f'option {option} = "a.b/c;d";', f"sets {option}")
        for option in ("go_package", "java_package", "csharp_namespace")
    ),
    (generated.no_package_options, "option java_multiple_files = true;", "sets java_multiple_files"),
    (
        generated.types_have_names_of_their_own,
        "message Bad { message Part {} } message Part {}",
        "Part: generated code calls it Part, and so it calls Bad.Part",
    ),
    (
        generated.types_have_names_of_their_own,
        "message Bad { message Part {} } message Worse { enum Part { PART_UNSPECIFIED = 0; } }",
        "Worse.Part: generated code calls it Part",
    ),
    (
        generated.go_identifiers_are_distinct,
        message("message Name {} oneof kind { string name = 1; }"),
        "generated code calls it Bad_Name",
    ),
    (
        generated.go_identifiers_are_distinct,
        "message Bad_Name {} " + message("oneof kind { string name = 1; }"),
        "generated code calls it Bad_Name",
    ),
    (
        generated.go_identifiers_are_distinct,
        "message BadServiceClient {} message Bad {} service BadService { rpc Ask(Bad) returns (Bad); }",
        "generated code calls it BadServiceClient",
    ),
    (
        generated.go_identifiers_are_distinct,
        "message Bad { enum Kind { KIND_UNSPECIFIED = 0; } } message Bad_KIND_UNSPECIFIED {}",
        "generated code calls it Bad_KIND_UNSPECIFIED",
    ),
    (
        generated.go_identifiers_are_distinct,
        "message BadService_AskClient {} message Bad {} service BadService { rpc Ask(Bad) returns (stream Bad); }",
        "generated code calls it BadService_AskClient",
    ),
    (generated.typescript_identifiers_are_distinct, "message Date {}", "Date: hides a name"),
    (
        generated.typescript_identifiers_are_distinct,
        "message BadServiceController {} message Bad {} service BadService { rpc Ask(Bad) returns (Bad); }",
        "generated code calls it BadServiceController",
    ),
]


@pytest.mark.parametrize(("rule", "source", "problem"), BAD, ids=[f"{rule.__name__} {text}" for rule, text, _ in BAD])
def test_a_rule_catches_what_breaks_it(
    rule: Rule, source: str, problem: str, contract_of: Callable[..., Contract]
) -> None:
    found = list(rule(contract_of(HEADER + FOREIGN + source)))
    assert any(problem in text for text in found), found


@pytest.mark.parametrize(
    "element",
    ["Asks.", "Asks once.", "How it is.", "Not set.", "Well.", "A question.", "How often.", "What.", "A text.",
     "Nested once.", "Which."],
)  # fmt: skip
def test_a_missing_comment_is_noticed_wherever_it_is(element: str, contract_of: Callable[..., Contract]) -> None:
    assert list(generated.everything_is_explained(contract_of(HEADER + GOOD.replace(f"// {element}\n", ""))))


@pytest.mark.parametrize("syntax", ['syntax = "proto2";', 'edition = "2023";'])
def test_another_syntax_is_noticed(syntax: str, contract_of: Callable[..., Contract]) -> None:
    assert list(kinds.proto3_only(contract_of(f"{syntax}\npackage proviso.v1;\nmessage Bad {{}}")))


def test_a_group_is_noticed(contract_of: Callable[..., Contract]) -> None:
    group = 'syntax = "proto2"; package proviso.v1; message Bad { optional group Part = 1 {} }'
    assert "Bad.part: a group" in "\n".join(kinds.no_groups(contract_of(group)))


def test_a_public_import_is_noticed(contract_of: Callable[..., Contract]) -> None:
    importing = 'syntax = "proto3"; package proviso.v1; import public "proviso/v1/file0.proto";'
    assert "file0.proto publicly" in "\n".join(kinds.no_foreign_files(contract_of(HEADER + GOOD, importing)))


def test_a_second_package_is_noticed(contract_of: Callable[..., Contract]) -> None:
    contract = contract_of(HEADER + GOOD, 'syntax = "proto3"; package proviso.v2;')
    assert list(generated.one_package(contract))


def test_a_file_outside_its_packages_folder_is_noticed(contract_of: Callable[..., Contract]) -> None:
    assert list(generated.one_package(contract_of(HEADER + GOOD, folder=Path("proviso"))))


def test_names_that_only_protoc_itself_refuses_are_noticed() -> None:
    file = FileDescriptorProto(name="proviso/v1/bad.proto", package="proviso.v1", syntax="proto3")
    bad = file.message_type.add(name="Bad")
    bad.field.add(name="first_name", number=1)
    bad.field.add(name="firstName", number=2)
    assert any("firstName" in problem for problem in naming.members_are_distinct(Contract((file,))))


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_a_rule_is_silent_on_a_contract_without_faults(rule: Rule, contract_of: Callable[..., Contract]) -> None:
    assert not list(rule(contract_of(HEADER + GOOD)))


def test_every_rule_has_a_contract_that_breaks_it() -> None:
    elsewhere = {kinds.proto3_only, kinds.no_groups, generated.one_package, generated.everything_is_explained}
    assert {rule for rule, _, _ in BAD} | elsewhere == set(RULES)
