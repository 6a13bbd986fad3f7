"""Pages of a list, as in AIP-158: the token of a page, which callers do not look into, holds the sort key of the last
item of the page before, and a hash of the `scope`: of what identifies the list. Every other list refuses it."""

import base64
import binascii
import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Generic, TypeVar

from proviso_service.errors import InvalidRequest

T = TypeVar("T")
U = TypeVar("U")

DEFAULT_PAGE_SIZE = 50
MAX_PAGE_SIZE = 100


@dataclass(frozen=True, slots=True)
class PageRequest:
    """Asks for `size` items after the sort key in `token`; an empty token asks for the first ones."""

    size: int = DEFAULT_PAGE_SIZE
    token: str = ""

    def after(self, scope: Sequence[str], length: int) -> list[str] | None:
        """The sort key to start after, which has `length` strings; None for the first page. Raises InvalidRequest for a
        token that no page of this list returned."""
        if not self.token:
            return None
        try:
            parts = json.loads(base64.urlsafe_b64decode(self.token.encode()))
        except (binascii.Error, ValueError, UnicodeError):
            parts = None
        if not isinstance(parts, list) or len(parts) != length + 1 or not all(map(_is_text, parts)):
            raise foreign_token()
        tag, *key = parts
        if tag != _tag(scope):
            raise foreign_token()
        return key


@dataclass(frozen=True, slots=True)
class Page(Generic[T]):
    """Some items of a list; `total_size` counts those of all its pages."""

    items: Sequence[T]
    next_token: str
    total_size: int

    def map(self, convert: Callable[[T], U]) -> "Page[U]":
        """The same page of converted items."""
        return Page([convert(item) for item in self.items], self.next_token, self.total_size)


def offset_in(token: str, scope: Sequence[str]) -> int:
    """The number of items before the page of a token that `offset_token` made for the same scope; 0 for an empty token.
    Raises InvalidRequest for any other token."""
    after = PageRequest(token=token).after(scope, 1)
    if after is None:
        return 0
    if not after[0].isdecimal():
        raise foreign_token()
    return int(after[0])


def offset_token(scope: Sequence[str], offset: int) -> str:
    """The token of the page that has so many items before it. `scope` is what the order of the items depends on."""
    return page_token(scope, str(offset))


def page_token(scope: Sequence[str], *key: str) -> str:
    """The token of the page that starts after the item with this sort key."""
    return base64.urlsafe_b64encode(json.dumps([_tag(scope), *key]).encode()).decode()


def moment_in(key: str) -> datetime:
    """The moment that a part of a sort key is, in UTC. Raises InvalidRequest for what is none."""
    try:
        return datetime.fromisoformat(key).astimezone(UTC)
    except (ValueError, OverflowError):
        raise foreign_token() from None


def foreign_token() -> InvalidRequest:
    return InvalidRequest.of("page_token", "is not a token that this method returned")


def _is_text(value: object) -> bool:
    """Whether it is a text that a database can store. JSON can hold a lone surrogate, which cannot be encoded."""
    return isinstance(value, str) and not any("\ud800" <= character <= "\udfff" for character in value)


def _tag(scope: Sequence[str]) -> str:
    return hashlib.sha256(json.dumps(scope).encode()).hexdigest()[:12]
