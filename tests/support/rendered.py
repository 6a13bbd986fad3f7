"""A tool's result as the model reads it."""

import json
from typing import Any

from proviso_service.tools.base import SourcePassage, ToolResult

BUDGET = 2_500


def rendered(result: ToolResult, max_chars: int = BUDGET) -> tuple[dict[str, Any], list[SourcePassage]]:
    """The JSON, and the passages in the order of their numbers. It fits, and says itself whether it is cut."""
    numbered: list[SourcePassage] = []

    def number(passage: SourcePassage) -> int:
        numbered.append(passage)
        return len(numbered)

    shown = result.render(number, max_chars)
    assert len(shown.text) <= max_chars
    read = json.loads(shown.text)
    assert read["truncated"] is shown.truncated
    return read, numbered
