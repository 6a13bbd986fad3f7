"""Makes the schemas that servers give for the arguments of their tools safe to check arguments against.

A server's schema may refer to other places or to itself, grow without end when its references are followed, or hold
patterns that take very long to match. `checked_schema` makes a schema of it that is a tree of limited size, without
references and patterns. It never forbids what the server's own schema allows; what it leaves out, the server checks.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

if TYPE_CHECKING:
    from jsonschema import ValidationError

Schema = dict[str, Any]

MAX_SCHEMA_CHARS = 32_000
"""The longest schema, as JSON, before references are followed and after."""

MAX_DEPTH = 24

_ANNOTATIONS = frozenset({"default", "deprecated", "description", "examples", "title"})
_KEPT = _ANNOTATIONS | {
    "const",
    "dependentRequired",
    "enum",
    "exclusiveMaximum",
    "exclusiveMinimum",
    "maxItems",
    "maxLength",
    "maxProperties",
    "maximum",
    "minItems",
    "minLength",
    "minProperties",
    "minimum",
    "multipleOf",
    "required",
    "type",
}


class ToolRefused(Exception):
    """A tool cannot be used. The message is a sentence about the tool, which it calls "it"."""


def checked_schema(given: Mapping[str, Any]) -> Schema:
    """The server's schema of a tool's arguments in the form that this module describes. Raises ToolRefused."""
    if len(json.dumps(given)) > MAX_SCHEMA_CHARS:
        raise ToolRefused(f"Its schema is longer than {MAX_SCHEMA_CHARS} characters.")
    tree = _SchemaReader(given).read(given, _SchemaPosition())
    kind = tree.get("type", "object")
    if kind != "object" and not (isinstance(kind, list) and "object" in kind):
        raise ToolRefused("Its schema does not describe an object of named arguments.")
    return tree | {"type": "object"}


@dataclass(frozen=True, slots=True)
class _SchemaPosition:
    """Where in the tree a schema stands: how deep, and inside which references."""

    depth: int = 0
    references: frozenset[str] = frozenset()

    def below(self) -> "_SchemaPosition":
        return _SchemaPosition(self.depth + 1, self.references)

    def inside(self, reference: str) -> "_SchemaPosition":
        return _SchemaPosition(self.depth + 1, self.references | {reference})


class _SchemaReader:
    """Reads a schema into a tree, within MAX_SCHEMA_CHARS and MAX_DEPTH."""

    def __init__(self, root: Mapping[str, Any]) -> None:
        self._root = root
        self._chars_left = MAX_SCHEMA_CHARS

    def read(self, node: Any, place: _SchemaPosition) -> Schema:
        if isinstance(node, bool):
            return {} if node else {"not": {}}
        if not isinstance(node, Mapping):
            raise ToolRefused("Its schema is not a JSON schema.")
        if place.depth > MAX_DEPTH:
            raise ToolRefused(f"Its schema is nested more than {MAX_DEPTH} levels deep.")
        own = {name: self._charged(name, value) for name, value in node.items() if name in _KEPT}
        _drop_old_bounds(own)
        own |= self._properties(node, place) | self._items(node, place) | self._alternatives(node, place)
        if "$ref" not in node:
            return own
        target = self._referenced(str(node["$ref"]), place)
        return target | own if own.keys() <= _ANNOTATIONS else own | {"allOf": [target, *own.get("allOf", ())]}

    def _charged(self, name: str, value: Any) -> Any:
        """The value, whose size is subtracted from the characters that are left."""
        self._chars_left -= len(name) + len(json.dumps(value))
        if self._chars_left < 0:
            raise ToolRefused(f"Its schema is longer than {MAX_SCHEMA_CHARS} characters with its references followed.")
        return value

    def _properties(self, node: Mapping[str, Any], place: _SchemaPosition) -> Schema:
        read: Schema = {}
        if isinstance(properties := node.get("properties"), Mapping):
            read["properties"] = {
                self._charged(name, name): self.read(value, place.below()) for name, value in properties.items()
            }
        # Patterns are left out, so a name that only a pattern allows would count as an additional property.
        if "additionalProperties" in node and "patternProperties" not in node:
            additional = node["additionalProperties"]
            read["additionalProperties"] = (
                additional if isinstance(additional, bool) else self.read(additional, place.below())
            )
        return read

    def _items(self, node: Mapping[str, Any], place: _SchemaPosition) -> Schema:
        items, first = node.get("items"), node.get("prefixItems")
        if isinstance(items, list):  # before draft 2020-12
            items, first = node.get("additionalItems"), items
        read: Schema = {}
        if isinstance(first, list) and first:
            read["prefixItems"] = [self.read(one, place.below()) for one in first]
        if items is not None:
            read["items"] = self.read(items, place.below())
        return read

    def _alternatives(self, node: Mapping[str, Any], place: _SchemaPosition) -> Schema:
        """The alternatives of a schema. `oneOf` becomes `anyOf`: since keywords are left out, two of them may fit."""
        groups = [
            [self.read(one, place.below()) for one in node[name]]
            for name in ("anyOf", "oneOf")
            if isinstance(node.get(name), list) and node[name]
        ]
        every = [self.read(one, place.below()) for one in node.get("allOf") or ()]
        if len(groups) > 1:
            return {"allOf": [*every, *({"anyOf": group} for group in groups)]}
        return ({"allOf": every} if every else {}) | ({"anyOf": groups[0]} if groups else {})

    def _referenced(self, reference: str, place: _SchemaPosition) -> Schema:
        target = self._resolved(reference)
        if reference in place.references:  # a schema inside itself: below, anything of its type is allowed
            is_typed = isinstance(target, Mapping) and "type" in target
            return {"type": self._charged("type", target["type"])} if is_typed else {}
        return self.read(target, place.inside(reference))

    def _resolved(self, reference: str) -> Any:
        path, pointer = reference[:1], unquote(reference[1:])
        if path != "#" or (pointer and not pointer.startswith("/")):
            raise ToolRefused(f"Its schema refers to {reference[:100]!r}, which is not a place inside it.")
        node: Any = self._root
        for step in pointer.split("/")[1:]:
            node = _step(node, step.replace("~1", "/").replace("~0", "~"))
            if node is None:
                raise ToolRefused(f"Its schema refers to {reference[:100]!r}, which it does not hold.")
        return node


def _step(node: Any, name: str) -> Any:
    if isinstance(node, Mapping):
        return node.get(name)
    if isinstance(node, list) and name.isascii() and name.isdigit() and int(name) < len(node):
        return node[int(name)]
    return None


def _drop_old_bounds(schema: Schema) -> None:
    """Drops keywords in the form of JSON Schema draft 4 and earlier, where they were flags."""
    for name in ("exclusiveMaximum", "exclusiveMinimum"):
        if isinstance(schema.get(name), bool):
            del schema[name]
    if isinstance(schema.get("required"), bool):
        del schema["required"]


MAX_PROBLEMS = 5
_MAX_PROBLEM_CHARS = 200


def check_schema(schema: Mapping[str, Any]) -> None:
    """Raises ToolRefused for what is no JSON schema. Slow, above all the first time: not for the event loop."""
    from jsonschema import Draft202012Validator, SchemaError

    try:
        Draft202012Validator.check_schema(schema)
    except SchemaError as error:
        raise ToolRefused(f"Its schema is not a JSON schema: {error.message[:_MAX_PROBLEM_CHARS]}") from error


class ArgumentValidator:
    """Checks arguments against one schema, which `checked_schema` has made and `check_schema` has accepted."""

    def __init__(self, schema: Mapping[str, Any]) -> None:
        from jsonschema import Draft202012Validator

        self._validator = Draft202012Validator(schema)

    def problems(self, given: Mapping[str, Any]) -> list[str]:
        """What is wrong with the arguments, at most MAX_PROBLEMS problems, each after its path; empty when they fit."""
        return [_problem(error) for error in islice(self._validator.iter_errors(given), MAX_PROBLEMS)]


def _problem(error: "ValidationError") -> str:
    path = ".".join(str(step) for step in error.absolute_path) or "arguments"
    message = error.message
    if len(message) > _MAX_PROBLEM_CHARS:  # it quotes the value
        message = f"does not fit {error.validator} {str(error.validator_value)[:_MAX_PROBLEM_CHARS]}"
    return f"{path}: {message}"
