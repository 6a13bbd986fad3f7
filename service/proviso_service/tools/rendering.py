"""Fitting results into the characters that are left for them, as JSON that stays valid."""

import json
from typing import Any

from proviso_service.tools.base import Rendered

MIN_TEXT_CHARS = 80


def to_json(payload: dict[str, Any]) -> str:
    return json.dumps(payload, ensure_ascii=False, separators=(",", ":"))


def fit_list(payload: dict[str, Any], key: str, max_chars: int, text_key: str | None = None) -> Rendered:
    """Drops items from the end of `payload[key]` until the JSON fits; the last one left has its `text_key` cut instead.
    Counts in the payload stay those of the whole result; `truncated` is set in it."""
    items = list(payload[key])
    text = to_json(payload | {"truncated": False})
    if len(text) <= max_chars:
        return Rendered(text, False)
    while len(items) > 1 and len(_with(payload, key, items)) > max_chars:
        items.pop()
    if text_key and items:
        items[0] = _cut(payload, key, items, text_key, max_chars)
    elif items and len(_with(payload, key, items)) > max_chars:
        items.pop()
    return Rendered(_with(payload, key, items), True)


def fit_text(payload: dict[str, Any], key: str, max_chars: int) -> Rendered:
    """Cuts the text `payload[key]` until the JSON fits; `truncated` is set in it when anything was cut."""
    whole = to_json(payload)
    if len(whole) <= max_chars:
        return Rendered(whole, bool(payload.get("truncated")))
    text: str = payload[key]
    length = len(text)
    while True:
        # JSON escapes make a text longer than its code points, so cut by what is over and look again.
        rendered = to_json(payload | {key: text[:length], "truncated": True})
        over = len(rendered) - max_chars
        if over <= 0 or length <= MIN_TEXT_CHARS:
            return Rendered(rendered, True) if length < len(text) else Rendered(whole, bool(payload.get("truncated")))
        length = max(MIN_TEXT_CHARS, length - over)


def _with(payload: dict[str, Any], key: str, items: list[dict[str, Any]]) -> str:
    return to_json(payload | {key: items, "truncated": True})


def _cut(
    payload: dict[str, Any], key: str, items: list[dict[str, Any]], text_key: str, max_chars: int
) -> dict[str, Any]:
    first = items[0]
    text: str = first[text_key]
    length = len(text)
    while (over := len(_with(payload, key, [first | {text_key: text[:length]}, *items[1:]])) - max_chars) > 0:
        if length <= MIN_TEXT_CHARS:
            break
        length = max(MIN_TEXT_CHARS, length - over)
    return first | {text_key: text[:length]}
