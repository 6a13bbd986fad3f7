"""Pages of a list, as in AIP-158: an opaque token holds the sort key of the last item of the page before."""

import base64
import binascii
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from proviso_service.errors import InvalidRequest

T = TypeVar("T")

DEFAULT_PAGE_SIZE = 50
MAX_PAGE_SIZE = 100


@dataclass(frozen=True, slots=True)
class PageRequest:
    """A page asked for: `size` items, after the key in `token` (empty: from the start)."""

    size: int = DEFAULT_PAGE_SIZE
    token: str = ""

    @classmethod
    def of(cls, page_size: int, page_token: str) -> "PageRequest":
        """From request fields: 0 means the default, more than the maximum means the maximum."""
        return cls(min(page_size or DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE), page_token)

    def after(self, length: int) -> list[str] | None:
        """Sort key to start after: `length` strings, None at the start. Raises InvalidRequest for a foreign token."""
        if not self.token:
            return None
        try:
            key = json.loads(base64.urlsafe_b64decode(self.token.encode()))
        except (binascii.Error, ValueError, UnicodeError):
            key = None
        if not isinstance(key, list) or len(key) != length or not all(isinstance(part, str) for part in key):
            raise InvalidRequest.of("page_token", "is not a token that this method returned")
        return key


@dataclass(frozen=True, slots=True)
class Page(Generic[T]):
    items: Sequence[T]
    next_token: str = ""


def page_token(*key: str) -> str:
    """The token of the page that starts after the item with this sort key."""
    return base64.urlsafe_b64encode(json.dumps(key).encode()).decode()
