"""Keeps responses under 3 MB, which is less than the 4 MiB that gRPC clients accept by default. A response that was cut
says so in its field `truncated`; its counts still count everything."""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import TypeVar

from google.protobuf.message import Message

from proviso_service.paging import PageRequest

MAX_ANSWER_BYTES = 3_000_000

M = TypeVar("M", bound=Message)


def fit(answer: Message, *fields: str, oldest_first: bool = False) -> None:
    """Removes items of the named repeated fields, one field after the other, until the response fits. Items go from the
    end of a field, or from its front with `oldest_first`. Sets `truncated` if anything was removed."""
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
    """Clears a text field if the response would not fit with it; for texts that are useless in part, such as JSON."""
    if answer.ByteSize() > MAX_ANSWER_BYTES:
        answer.ClearField(field)
        answer.truncated = True  # type: ignore[attr-defined]  # as above


async def fitting_page(page: PageRequest, answer_for: Callable[[PageRequest], Awaitable[M]]) -> M:
    """The response for a page. If it is too large, the page is halved until its response fits; the token of the
    response leads to the rest."""
    while True:
        answer = await answer_for(page)
        if answer.ByteSize() <= MAX_ANSWER_BYTES or page.size == 1:
            return answer
        page = replace(page, size=page.size // 2)


def _size(item: Message | str) -> int:
    return len(item.encode()) if isinstance(item, str) else item.ByteSize()
