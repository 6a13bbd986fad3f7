"""Schemas in the words that every provider's function calling understands.

Providers refuse whole requests for what they do not know: alternatives at the top, constants, several types at once,
choices that are no strings, arrays of unknown items. What a model is shown may say less than what arguments are checked
against, never something else.
"""

import json
from collections.abc import Mapping
from typing import Any

Schema = dict[str, Any]

_PASSED = (
    "description",
    "maxItems",
    "maxLength",
    "maximum",
    "minItems",
    "minLength",
    "minimum",
)
_NEVER: Schema = {"not": {}}
_MAX_DESCRIPTION_CHARS = 1_000
_MAX_CHOICES = 50
_JSON_TYPES = {str: "string", bool: "boolean", int: "integer", float: "number", type(None): "null"}


def shown_schema(checked: Mapping[str, Any]) -> Schema:
    """The schema of a function's parameters: an object of named properties."""
    flat = _merged(checked)
    properties = {name: _shown(value) for name, value in flat["properties"].items() if value != _NEVER}
    required = [name for name in flat.get("required", ()) if name in properties]
    return {"type": "object", "properties": properties} | ({"required": required} if required else {})


def _merged(schema: Mapping[str, Any]) -> Schema:
    """With the properties of all that apply together, and, as optional ones, of those that are alternatives."""
    together = [_merged(one) for one in schema.get("allOf", ())]
    either = [_merged(one) for one in schema.get("anyOf", ())]
    properties: Schema = {}
    for one in (*either, *together, schema):
        properties |= one.get("properties", {})
    required = dict.fromkeys(name for one in (schema, *together) for name in one.get("required", ()))
    return {**schema, "properties": properties, "required": list(required)}


def _shown(schema: Mapping[str, Any]) -> Schema:
    if "allOf" in schema:
        schema = _all_of(schema)
    shown = {name: schema[name] for name in _PASSED if name in schema}
    if "anyOf" in schema:
        return _described(shown | {"anyOf": [_shown(one) for one in schema["anyOf"]]})
    kinds = _types(schema)
    if len(kinds) > 1:
        branches = [_shown({**schema, "type": kind, "description": ""}) for kind in kinds]
        return _described({"description": shown.get("description", ""), "anyOf": branches})
    return _described(_of_type(shown | {"type": kinds[0]}, schema))


def _all_of(schema: Mapping[str, Any]) -> Schema:
    """One schema of those that apply together; of two that say different things about the same, the last."""
    whole: Schema = {}
    for one in schema["allOf"]:
        whole |= _all_of(one) if "allOf" in one else one
    own = {name: value for name, value in schema.items() if name != "allOf"}
    merged = _merged(schema)
    return whole | own | {name: merged[name] for name in ("properties", "required") if merged[name]}


def _of_type(shown: Schema, schema: Mapping[str, Any]) -> Schema:
    choices = [schema["const"]] if "const" in schema else schema.get("enum")
    if choices:
        shown |= _choice(shown, choices)
    if shown["type"] == "array":
        shown["items"] = _shown(_item(schema))
    if shown["type"] == "object":
        shown |= shown_schema(schema)
        if isinstance(schema.get("additionalProperties"), Mapping):
            shown["additionalProperties"] = _shown(schema["additionalProperties"])
    return shown


def _choice(shown: Schema, choices: list[Any]) -> Schema:
    if all(isinstance(choice, str) and choice for choice in choices):
        return {"enum": choices}
    listed = ", ".join(json.dumps(choice, ensure_ascii=False) for choice in choices[:_MAX_CHOICES])
    return {"description": f"{shown.get('description', '')} One of: {listed}".strip()}


def _item(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    first = schema.get("prefixItems", [])
    items = schema.get("items")
    kinds = [*first, *([items] if items else [])]
    return kinds[0] if len(kinds) == 1 else {"anyOf": kinds} if kinds else {}


def _types(schema: Mapping[str, Any]) -> list[str]:
    """At least one: what says nothing of its type is told from what it holds, and is else a text."""
    given = schema.get("type")
    if given:
        return [given] if isinstance(given, str) else list(given)
    if "properties" in schema or "additionalProperties" in schema:
        return ["object"]
    if "items" in schema or "prefixItems" in schema:
        return ["array"]
    choices = [schema["const"]] if "const" in schema else schema.get("enum", [])
    return list(dict.fromkeys(_JSON_TYPES.get(type(choice), "object") for choice in choices)) or ["string"]


def _described(schema: Schema) -> Schema:
    """Without a description that says nothing; a long one is cut."""
    description = schema.pop("description", "")
    if isinstance(description, str) and description:
        schema["description"] = description[:_MAX_DESCRIPTION_CHARS]
    return schema
