"""A model's arguments, checked against the schema of a server's tool."""

from collections.abc import Mapping
from itertools import islice
from typing import TYPE_CHECKING, Any

from proviso_service.mcp.schemas import ToolRefused

if TYPE_CHECKING:
    from jsonschema import ValidationError

MAX_PROBLEMS = 5
_MAX_PROBLEM_CHARS = 200


def check_schema(schema: Mapping[str, Any]) -> None:
    """ToolRefused where it is no JSON schema. Takes a while, the first time most of all: not for the event loop."""
    from jsonschema import Draft202012Validator, SchemaError

    try:
        Draft202012Validator.check_schema(schema)
    except SchemaError as error:
        raise ToolRefused(f"Its schema is not a JSON schema: {error.message[:_MAX_PROBLEM_CHARS]}") from error


class Arguments:
    """What fits one schema, as schemas.checked_schema makes them and `check_schema` accepts them."""

    def __init__(self, schema: Mapping[str, Any]) -> None:
        from jsonschema import Draft202012Validator

        self._validator = Draft202012Validator(schema)

    def problems(self, given: Mapping[str, Any]) -> list[str]:
        """What is wrong with arguments, each with its path; empty when they fit."""
        return [_said(error) for error in islice(self._validator.iter_errors(given), MAX_PROBLEMS)]


def _said(error: "ValidationError") -> str:
    path = ".".join(str(step) for step in error.absolute_path) or "arguments"
    message = error.message
    if len(message) > _MAX_PROBLEM_CHARS:  # it quotes the value
        message = f"does not fit {error.validator} {str(error.validator_value)[:_MAX_PROBLEM_CHARS]}"
    return f"{path}: {message}"
