"""How much of a tool call a turn's events hold. What the model reads of a result is bounded by the context."""

from typing import Any

from proviso_service.settings import TurnSettings
from proviso_service.tools.rendering import to_json

MAX_ARGUMENT_CHARS = 128 * 1024
"""Of a call, as JSON; more than the longest query that a tool takes."""

MAX_OUTPUT_JSON_BYTES = 512 * 1024
"""Of a typed result, as UTF-8."""


def output_json_bytes(settings: TurnSettings) -> int:
    """The bound of one typed result: those of a turn together fill at most half of its log."""
    return min(MAX_OUTPUT_JSON_BYTES, settings.log_max_bytes // (2 * max(1, settings.max_tool_calls)))


def output_json(data: dict[str, Any], max_bytes: int) -> str:
    """A typed result as JSON, whole; empty when it is over the bound: JSON is of no use in part."""
    text = to_json(data)
    return text if len(text) <= max_bytes and len(text.encode("utf-8", "surrogatepass")) <= max_bytes else ""


def too_long(arguments: dict[str, Any]) -> bool:
    return len(to_json(arguments)) > MAX_ARGUMENT_CHARS
