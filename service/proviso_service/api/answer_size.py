"""Answers stay under 3 MB, below what clients accept by default: what is cut says `truncated`, counts stay full."""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import TypeVar

from google.protobuf.message import Message

from proviso_service.paging import PageRequest

MAX_ANSWER_BYTES = 3_000_000

M = TypeVar("M", bound=Message)


def fit(answer: Message, *fields: str, oldest_first: bool = False) -> None:
    """Cuts the repeated fields named, in their order, until the answer fits; from the end, or from the front with
    `oldest_first`. Sets the answer's `truncated` when anything was cut."""
    excess = answer.ByteSize() - MAX_ANSWER_BYTES
    for field in fields:
        items = getattr(answer, field)
        candidates = items if oldest_first else reversed(items)
        count = 0
        for item in candidates:
            if excess <= 0:
                break
            excess -= _size(item)
            count += 1
        if count:
            del items[slice(0, count) if oldest_first else slice(len(items) - count, None)]
            answer.truncated = True  # type: ignore[attr-defined]  # every message that can be cut has the field


def clear_if_too_large(answer: Message, field: str) -> None:
    """Clears a text that is of no use in part, such as JSON, where the answer would not fit with it."""
    if answer.ByteSize() > MAX_ANSWER_BYTES:
        answer.ClearField(field)
        answer.truncated = True  # type: ignore[attr-defined]  # as above


async def fitting_page(page: PageRequest, answer_for: Callable[[PageRequest], Awaitable[M]]) -> M:
    """The answer for a page, or for the largest half, quarter, ... of it that fits: its token goes on from there."""
    while True:
        answer = await answer_for(page)
        if answer.ByteSize() <= MAX_ANSWER_BYTES or page.size == 1:
            return answer
        page = replace(page, size=page.size // 2)


def _size(item: Message | str) -> int:
    return len(item.encode()) if isinstance(item, str) else item.ByteSize()
