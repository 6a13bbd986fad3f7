"""Every kind of fault has a sentence of ours; nothing of pydantic's own words, nor of the value, comes out."""

from typing import Any

import pytest
from pydantic import ValidationError
from pydantic_core import InitErrorDetails, PydanticCustomError

from proviso_service.value_faults import OTHERWISE, REFUSED, SENTENCES, refusal, words_for

VALUE = "what the caller has sent"

SAID: list[tuple[str, dict[str, Any], str]] = [
    ("missing", {}, "is missing"),
    ("extra_forbidden", {}, "is not a field that is known here"),
    ("invalid_key", {}, "has a name that is not text"),
    ("none_required", {}, "must be left out"),
    ("string_type", {}, "must be text"),
    ("string_unicode", {}, "must be text"),
    ("string_too_short", {"min_length": 1}, "must not be empty"),
    ("string_too_short", {"min_length": 2}, "must have at least 2 characters"),
    ("string_too_long", {"max_length": 1}, "must have at most 1 character"),
    ("string_too_long", {"max_length": 32_000}, "must have at most 32000 characters"),
    ("string_pattern_mismatch", {"pattern": "^a+$"}, "does not have the form that is needed here"),
    ("bool_type", {}, "must be true or false"),
    ("bool_parsing", {}, "must be true or false"),
    ("int_type", {}, "must be a whole number"),
    ("int_parsing", {}, "must be a whole number"),
    ("int_parsing_size", {}, "is too large a number"),
    ("int_from_float", {}, "must be a whole number"),
    ("float_type", {}, "must be a number"),
    ("float_parsing", {}, "must be a number"),
    ("finite_number", {}, "must be a finite number"),
    ("greater_than", {"gt": 0.0}, "must be more than 0"),
    ("greater_than_equal", {"ge": -1_000}, "must be at least -1000"),
    ("less_than", {"lt": 0.5}, "must be less than 0.5"),
    ("less_than_equal", {"le": 20}, "must be at most 20"),
    ("multiple_of", {"multiple_of": 4}, "must be a multiple of 4"),
    ("enum", {"expected": "'always' or 'agent'"}, "must be 'always' or 'agent'"),
    ("literal_error", {"expected": "'contract' or 'vendor'"}, "must be 'contract' or 'vendor'"),
    ("list_type", {}, "must be a list"),
    ("tuple_type", {}, "must be a list"),
    ("too_short", {"field_type": "List", "min_length": 1, "actual_length": 0}, "must not be empty"),
    ("too_short", {"field_type": "List", "min_length": 3, "actual_length": 0}, "must have at least 3 items"),
    ("too_long", {"field_type": "Tuple", "max_length": 5, "actual_length": 6}, "must have at most 5 items"),
    ("dict_type", {}, "must be fields with values"),
    ("mapping_type", {"error": "no mapping"}, "must be fields with values"),
    ("model_type", {"class_name": "SearchRequestModel"}, "must be fields with values"),
    ("model_attributes_type", {}, "must be fields with values"),
    (
        "union_tag_invalid",
        {"discriminator": "kind", "tag": VALUE, "expected_tags": "'a', 'b'"},
        "must say which kind it is of",
    ),
    ("union_tag_not_found", {"discriminator": "kind"}, "must say which kind it is of"),
    ("url_type", {}, "must be a web address"),
    ("url_parsing", {"error": "empty host"}, "must be a web address"),
    ("url_scheme", {"expected_schemes": "'https'"}, "must be a web address"),
    ("url_syntax_violation", {"error": "a backslash"}, "must be a web address"),
]


def words_of(kind: str | PydanticCustomError, limits: dict[str, Any]) -> tuple[str, str]:
    """Our words for a fault, and pydantic's."""
    line = InitErrorDetails(type=kind, loc=("field",), input=VALUE, ctx=limits)
    (fault,) = ValidationError.from_exception_data("Model", [line]).errors()
    return words_for(fault), fault["msg"]


@pytest.mark.parametrize(("kind", "limits", "sentence"), SAID)
def test_a_kind_of_fault_has_its_sentence(kind: str, limits: dict[str, Any], sentence: str) -> None:
    ours, theirs = words_of(kind, limits)
    assert ours == sentence
    assert theirs not in ours


def test_every_sentence_of_the_table_is_tested() -> None:
    assert {kind for kind, *_ in SAID} | {REFUSED, "path_type"} == SENTENCES.keys()


@pytest.mark.parametrize("text", ["must be 64 hexadecimal digits", "holds {braces}", "%s {0} {description}"])
def test_what_a_validator_says_itself_is_said_as_it_is(text: str) -> None:
    assert words_of(refusal(text), {}) == (text, text)


@pytest.mark.parametrize(
    ("kind", "limits"),
    [
        ("value_error", {"error": ValueError(f"Invalid IPv6 URL {VALUE}")}),
        ("assertion_error", {"error": AssertionError(VALUE)}),
        ("is_instance_of", {"class": "Secret"}),
        (PydanticCustomError("of_some_library", "{value} is wrong", {"value": VALUE}), {}),
    ],
)
def test_an_unknown_kind_says_nothing_of_a_library_nor_of_the_value(
    kind: str | PydanticCustomError, limits: dict[str, Any]
) -> None:
    assert words_of(kind, limits)[0] == OTHERWISE
