"""Tests of the schemas of servers' tools: which are checked, which a model is shown, and which are refused."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from proviso_service.mcp.listing import shown_schema
from proviso_service.mcp.schemas import (
    MAX_PROBLEMS,
    MAX_SCHEMA_CHARS,
    ArgumentValidator,
    ToolRefused,
    check_schema,
    checked_schema,
)

NODE = {"type": "object", "properties": {"label": {"type": "string"}, "next": {"$ref": "#/$defs/node"}}}
DOUBLING = {
    f"a{i}": {"type": "object", "properties": {"l": {"$ref": f"#/$defs/a{i + 1}"}, "r": {"$ref": f"#/$defs/a{i + 1}"}}}
    for i in range(11)
}


def _of(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


def _shown(**properties: Any) -> Any:
    return shown_schema(checked_schema(_of(**properties)))["properties"]


@pytest.mark.parametrize(
    ("schema", "reason"),
    [
        ({"type": "array", "items": {}}, "does not describe an object"),
        ({"type": "string"}, "does not describe an object"),
        ({"type": ["string", "null"]}, "does not describe an object"),
        (_of(a={"$ref": "https://example.com/schema.json"}), "not a place inside it"),
        (_of(a={"$ref": "other.json#/a"}), "not a place inside it"),
        (_of(a={"$ref": "#/$defs/gone"}), "which it does not hold"),
        (_of(a={"$ref": "#anchor"}), "not a place inside it"),
        (_of(a="string"), "not a JSON schema"),
        (_of(a={"description": "x" * MAX_SCHEMA_CHARS}), "longer than"),
        ({"$defs": {**DOUBLING, "a11": {}}, "properties": {"a": {"$ref": "#/$defs/a0"}}}, "longer than"),
        (_of(a=json.loads('{"items":' * 40 + "{}" + "}" * 40)), "levels deep"),
    ],
)
def test_what_cannot_be_used_is_refused_with_a_reason(schema: dict[str, Any], reason: str) -> None:
    with pytest.raises(ToolRefused, match=reason):
        checked_schema(schema)


@pytest.mark.parametrize(
    ("given_schema", "shown"),
    [
        ({"type": ["string", "null"]}, {"anyOf": [{"type": "string"}, {"type": "null"}]}),
        ({"const": "x"}, {"type": "string", "enum": ["x"]}),
        ({"enum": [1, 2], "description": "Size."}, {"type": "integer", "description": "Size. One of: 1, 2"}),
        ({"type": "array"}, {"type": "array", "items": {"type": "string"}}),
        (
            {"type": "array", "items": [{"type": "string"}, {"type": "number"}]},
            {"type": "array", "items": {"anyOf": [{"type": "string"}, {"type": "number"}]}},
        ),
        ({"oneOf": [{"type": "string"}, {"type": "integer"}]}, {"anyOf": [{"type": "string"}, {"type": "integer"}]}),
        (
            {"allOf": [_of(p={"type": "string"}) | {"required": ["p"]}, _of(q={"type": "number"})]},
            _of(p={"type": "string"}, q={"type": "number"}) | {"required": ["p"]},
        ),
        (
            {"type": "object", "additionalProperties": {"type": "string"}},
            _of() | {"additionalProperties": {"type": "string"}},
        ),
        ({}, {"type": "string"}),
        (True, {"type": "string"}),
        ({"type": "string", "pattern": "(a+)+$", "format": "date", "minLength": 2}, {"type": "string", "minLength": 2}),
    ],
)
def test_a_model_is_shown_words_that_every_provider_knows(given_schema: Any, shown: dict[str, Any]) -> None:
    assert _shown(a=given_schema) == {"a": shown}


def test_a_property_that_nothing_fits_is_not_shown() -> None:
    assert _shown(a=False) == {}


def test_alternatives_at_the_top_are_shown_as_optional_properties_and_checked_as_alternatives() -> None:
    either = {"anyOf": [_of(id={"type": "string"}) | {"required": ["id"]}, {"required": ["name"]}]}
    schema = checked_schema(either | {"properties": {"name": {"type": "string"}}})

    assert shown_schema(schema) == _of(id={"type": "string"}, name={"type": "string"})
    assert ArgumentValidator(schema).problems({"name": "n"}) == []
    assert len(ArgumentValidator(schema).problems({})) == 1


def test_references_are_followed_once_into_themselves() -> None:
    schema = checked_schema(_of(root={"$ref": "#/$defs/node"}) | {"$defs": {"node": NODE}})
    end = {"type": "object", "properties": {}}

    assert shown_schema(schema)["properties"]["root"]["properties"] == {"label": {"type": "string"}, "next": end}
    assert (
        ArgumentValidator(schema).problems({"root": {"label": "a", "next": {"label": 1}}}) == []
    )  # the server sees to it
    assert ArgumentValidator(schema).problems({"root": {"label": 1}}) == ["root.label: 1 is not of type 'string'"]


def test_a_description_beside_a_reference_is_kept() -> None:
    schema = checked_schema(
        _of(a={"$ref": "#/$defs/t", "description": "This one."}) | {"$defs": {"t": {"type": "string"}}}
    )

    assert shown_schema(schema)["properties"]["a"] == {"type": "string", "description": "This one."}


def test_a_pattern_that_takes_for_ever_is_not_tried() -> None:
    names = {"patternProperties": {"(a+)+$": {}}, "additionalProperties": False}
    schema = checked_schema(_of(a={"type": "string", "pattern": "(a|a)*$"}) | names)

    assert ArgumentValidator(schema).problems({"a": "a" * 100 + "!", "b" * 100: 1}) == []


def test_problems_are_few_short_and_tell_where() -> None:
    schema = checked_schema(_of(items={"type": "array", "items": {"type": "integer"}}))
    problems = ArgumentValidator(schema).problems({"items": ["x" * 10_000, *"abcdefgh"]})

    assert len(problems) == MAX_PROBLEMS
    assert problems[0] == "items.0: does not fit type integer"
    assert problems[1] == "items.1: 'a' is not of type 'integer'"


def test_what_is_no_schema_is_refused() -> None:
    with pytest.raises(ToolRefused, match="not a JSON schema"):
        check_schema(checked_schema(_of(a={"type": "colour"})))


_LEAVES = st.sampled_from(
    [
        {"type": "string"},
        {"type": "integer", "minimum": 0},
        {"type": ["string", "null"]},
        {"enum": ["a", 1]},
        {},
        True,
        {"$ref": "#"},
    ]
)
_SCHEMAS = st.recursive(
    _LEAVES,
    lambda inner: st.one_of(
        st.builds(lambda items: {"type": "array", "items": items}, inner),
        st.builds(lambda one, two: {"anyOf": [one, two]}, inner, inner),
        st.builds(lambda one, two: {"oneOf": [one, two]}, inner, inner),
        st.builds(lambda one, two: {"allOf": [one, two]}, inner, inner),
        st.builds(
            lambda properties, required: {"type": "object", "properties": properties, "required": sorted(required)},
            st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
            st.sets(st.sampled_from("abc"), max_size=1),
        ),
    ),
    max_leaves=6,
)
_VALUES = st.recursive(
    st.one_of(st.none(), st.integers(-2, 2), st.sampled_from("ab")),
    lambda inner: st.one_of(st.lists(inner, max_size=2), st.dictionaries(st.sampled_from("abc"), inner, max_size=2)),
    max_leaves=5,
)


@given(st.dictionaries(st.sampled_from("abc"), _SCHEMAS, max_size=3), st.dictionaries(st.sampled_from("abc"), _VALUES))
def test_nothing_is_forbidden_that_the_servers_schema_allows(
    properties: dict[str, Any], arguments: dict[str, Any]
) -> None:
    schema = _of(**properties)
    checked = checked_schema(schema)

    assert Draft202012Validator.check_schema(shown_schema(checked)) is None
    if Draft202012Validator(schema).is_valid(arguments):
        assert ArgumentValidator(checked).problems(arguments) == []
