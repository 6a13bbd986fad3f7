"""Turns the tools that a server lists into tools that a model can be shown: each with a name and a schema that the
function calling of every provider accepts. A tool for which that is impossible is refused with a reason."""

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from proviso_service.mcp.model import ListedTool, RefusedTool, ServerTool
from proviso_service.mcp.schemas import ToolRefused, check_schema, checked_schema

SEPARATOR = "__"
MAX_FUNCTION_NAME_CHARS = 64
"""The longest name of a function that every provider accepts."""

_UNSAFE = re.compile(r"[^a-zA-Z0-9_-]")
_DIGEST_CHARS = 8


def shown_name(server: str, tool: str) -> str:
    """The name `server__tool`, in characters and of a length that every provider accepts. A name that had to be changed
    ends in a digest of the original, so that two tools never get the same one."""
    whole = f"{server}{SEPARATOR}{tool}"
    safe = _UNSAFE.sub("_", whole)
    if safe == whole and len(whole) <= MAX_FUNCTION_NAME_CHARS:
        return whole
    digest = hashlib.sha256(whole.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGEST_CHARS]
    return f"{safe[: MAX_FUNCTION_NAME_CHARS - _DIGEST_CHARS - 1]}_{digest}"


MAX_TOOLS = 128
MAX_NAME_CHARS = 128
MAX_DESCRIPTION_CHARS = 2_000


@dataclass(frozen=True, slots=True)
class ToolListing:
    """The tools of one server that can be used, and those that were refused."""

    tools: tuple[ServerTool, ...] = ()
    refused: tuple[RefusedTool, ...] = ()


def read_listing(server: str, listed: Sequence[ListedTool]) -> ToolListing:
    """The first MAX_TOOLS usable tools in the server's order, each with a name of its own, and those that were refused.
    Slow: not to be run on the event loop."""
    tools: dict[str, ServerTool] = {}
    refused: list[RefusedTool] = []
    for one in listed:
        try:
            tool = _read(server, one, tools)
        except ToolRefused as problem:
            refused.append(RefusedTool(_printable(one.name[:MAX_NAME_CHARS]), _encodable(str(problem))))
            if len(refused) == MAX_TOOLS:
                break
        else:
            tools[tool.shown_name] = tool
    return ToolListing(tuple(tools.values()), tuple(refused))


def _read(server: str, listed: ListedTool, others: Mapping[str, ServerTool]) -> ServerTool:
    shown = shown_name(server, listed.name)
    if not _is_name(listed.name):
        raise ToolRefused(
            f"Its name is not one line of 1 to {MAX_NAME_CHARS} printable characters, without spaces around it."
        )
    if shown in others:
        raise ToolRefused("Another tool of the server has its name.")
    if len(others) == MAX_TOOLS:
        raise ToolRefused(f"It comes after the first {MAX_TOOLS} tools of the server.")
    schema = checked_schema(listed.input_schema)
    check_schema(schema)
    description = listed.description.strip()[:MAX_DESCRIPTION_CHARS] or f"The tool {listed.name} of {server}."
    if not _is_text([description, schema]):
        raise ToolRefused("It holds half of a character.")
    return ServerTool(server, listed.name, shown, description, schema, shown_schema(schema), listed.is_repeatable)


def _is_name(name: str) -> bool:
    """Whether a name is short, printable and in one line. Names stand in the questions that people are asked about a
    tool, where a longer text could pass for something else. agent.yaml names tools in the same way."""
    return 0 < len(name) <= MAX_NAME_CHARS and name.isprintable() and name == name.strip()


def _is_text(value: Any) -> bool:
    """Whether the value holds no lone surrogate, as an escape such as \\ud800 makes one: no encoding can express it."""
    text = json.dumps(value, ensure_ascii=False)
    return _encodable(text) == text


def _printable(name: str) -> str:
    return "".join(character if character.isprintable() else "?" for character in name)


def _encodable(text: str) -> str:
    return text.encode("utf-8", "replace").decode()


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
    """The schema of a function's parameters in the words that every provider knows: an object of named properties."""
    flat = _merged(checked)
    properties = {name: _shown(value) for name, value in flat["properties"].items() if value != _NEVER}
    required = [name for name in flat.get("required", ()) if name in properties]
    return {"type": "object", "properties": properties} | ({"required": required} if required else {})


def _merged(schema: Mapping[str, Any]) -> Schema:
    """The schema with the properties of all its parts: those of `allOf` as they are, those of `anyOf` as optional
    ones."""
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
    """One schema in place of those that `allOf` lists. Where two of them set the same keyword, the last one counts."""
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
    """The types that the schema allows, at least one. A schema that names none gets the type that its other keywords
    imply, else "string"."""
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
    """The schema without an empty description; a long description is cut."""
    description = schema.pop("description", "")
    if isinstance(description, str) and description:
        schema["description"] = description[:_MAX_DESCRIPTION_CHARS]
    return schema
