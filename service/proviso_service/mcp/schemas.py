"""The schemas that servers give for the arguments of their tools, made safe to check arguments against.

A server's schema may refer to other places or to itself, grow without end when its references are followed, or hold
patterns that take for ever to match. What comes out of here stands alone, is a tree of bounded size and has no
patterns.
It never forbids what the server's own allows: what it leaves out, the server checks itself.
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
"""Of JSON, before and after references are followed."""

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
    """A tool cannot be used, for its schema or as a whole; the message is a sentence."""


def checked_schema(given: Mapping[str, Any]) -> Schema:
    """A schema of an object of arguments, as this module makes them; ToolRefused."""
    if len(json.dumps(given)) > MAX_SCHEMA_CHARS:
        raise ToolRefused(f"Its schema is longer than {MAX_SCHEMA_CHARS} characters.")
    tree = _Reader(given).read(given, _Place())
    kind = tree.get("type", "object")
    if kind != "object" and not (isinstance(kind, list) and "object" in kind):
        raise ToolRefused("Its schema does not describe an object of named arguments.")
    return tree | {"type": "object"}


@dataclass(frozen=True, slots=True)
class _Place:
    """Where in the tree: how deep, and inside which references."""

    depth: int = 0
    references: frozenset[str] = frozenset()

    def below(self) -> "_Place":
        return _Place(self.depth + 1, self.references)

    def inside(self, reference: str) -> "_Place":
        return _Place(self.depth + 1, self.references | {reference})


class _Reader:
    def __init__(self, root: Mapping[str, Any]) -> None:
        self._root = root
        self._chars_left = MAX_SCHEMA_CHARS

    def read(self, node: Any, place: _Place) -> Schema:
        if isinstance(node, bool):
            return {} if node else {"not": {}}
        if not isinstance(node, Mapping):
            raise ToolRefused("Its schema is not a JSON schema.")
        if place.depth > MAX_DEPTH:
            raise ToolRefused(f"Its schema is nested more than {MAX_DEPTH} levels deep.")
        own = {name: self._paid(name, value) for name, value in node.items() if name in _KEPT}
        _drop_old_bounds(own)
        own |= self._properties(node, place) | self._items(node, place) | self._alternatives(node, place)
        if "$ref" not in node:
            return own
        target = self._referred(str(node["$ref"]), place)
        return target | own if own.keys() <= _ANNOTATIONS else own | {"allOf": [target, *own.get("allOf", ())]}

    def _paid(self, name: str, value: Any) -> Any:
        """The value, its size taken from what is left."""
        self._chars_left -= len(name) + len(json.dumps(value))
        if self._chars_left < 0:
            raise ToolRefused(f"Its schema is longer than {MAX_SCHEMA_CHARS} characters with its references followed.")
        return value

    def _properties(self, node: Mapping[str, Any], place: _Place) -> Schema:
        read: Schema = {}
        if isinstance(properties := node.get("properties"), Mapping):
            read["properties"] = {
                self._paid(name, name): self.read(value, place.below()) for name, value in properties.items()
            }
        # Names that only a pattern allows would be taken for additional ones.
        if "additionalProperties" in node and "patternProperties" not in node:
            additional = node["additionalProperties"]
            read["additionalProperties"] = (
                additional if isinstance(additional, bool) else self.read(additional, place.below())
            )
        return read

    def _items(self, node: Mapping[str, Any], place: _Place) -> Schema:
        items, first = node.get("items"), node.get("prefixItems")
        if isinstance(items, list):  # before draft 2020-12
            items, first = node.get("additionalItems"), items
        read: Schema = {}
        if isinstance(first, list) and first:
            read["prefixItems"] = [self.read(one, place.below()) for one in first]
        if items is not None:
            read["items"] = self.read(items, place.below())
        return read

    def _alternatives(self, node: Mapping[str, Any], place: _Place) -> Schema:
        """One of several is any of them here: with what has been left out of them, two may fit."""
        groups = [
            [self.read(one, place.below()) for one in node[name]]
            for name in ("anyOf", "oneOf")
            if isinstance(node.get(name), list) and node[name]
        ]
        every = [self.read(one, place.below()) for one in node.get("allOf") or ()]
        if len(groups) > 1:
            return {"allOf": [*every, *({"anyOf": group} for group in groups)]}
        return ({"allOf": every} if every else {}) | ({"anyOf": groups[0]} if groups else {})

    def _referred(self, reference: str, place: _Place) -> Schema:
        target = self._found(reference)
        if reference in place.references:  # a schema inside itself: anything of its type goes from there on
            is_typed = isinstance(target, Mapping) and "type" in target
            return {"type": self._paid("type", target["type"])} if is_typed else {}
        return self.read(target, place.inside(reference))

    def _found(self, reference: str) -> Any:
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
    """In draft 4 these were flags, and required one of a property."""
    for name in ("exclusiveMaximum", "exclusiveMinimum"):
        if isinstance(schema.get(name), bool):
            del schema[name]
    if isinstance(schema.get("required"), bool):
        del schema["required"]


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
