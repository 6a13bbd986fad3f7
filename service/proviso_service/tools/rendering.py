"""Fitting results into the characters that are left for them, as JSON that stays valid."""

import json
from collections.abc import Sequence
from typing import Any, TypeVar

from proviso_service.tools.base import Rendered

T = TypeVar("T")

MIN_TEXT_CHARS = 80


def to_json(payload: Any) -> str:
    return json.dumps(payload, ensure_ascii=False, separators=(",", ":"))


def first_fitting(items: Sequence[T], max_chars: int) -> list[T]:
    """The first items that fit as JSON, at least one."""
    kept: list[T] = []
    for item in items:
        max_chars -= len(to_json(item)) + 1
        if kept and max_chars < 0:
            break
        kept.append(item)
    return kept


def fair_share(room: int, waiting: int, frame: dict[str, Any], min_chars: int) -> int:
    """How many characters of text one of the `waiting` items may show, besides its `frame`: as many as the others, or
    more where not all can have `min_chars`."""
    around = len(to_json(frame)) + 1
    return room // max(1, min(waiting, room // (around + min_chars))) - around


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


def fitting_length(payload: dict[str, Any], key: str, max_chars: int) -> int:
    """How many code points of the text `payload[key]` fit; no fewer than MIN_TEXT_CHARS of a longer one."""
    text: str = payload[key]
    if len(to_json(payload)) <= max_chars:
        return len(text)
    length = len(text)
    # JSON escapes make a text longer than its code points, so cut by what is over and look again.
    while length > MIN_TEXT_CHARS:
        over = len(to_json(payload | {key: text[:length], "truncated": True})) - max_chars
        if over <= 0:
            break
        length = max(MIN_TEXT_CHARS, length - over)
    return length


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
