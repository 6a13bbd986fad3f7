"""Pages of a list, as in AIP-158: the token of a page, which callers do not look into, holds the sort key of the last
item of the page before."""

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
    """Asks for `size` items after the sort key in `token`; an empty token asks for the first ones."""

    size: int = DEFAULT_PAGE_SIZE
    token: str = ""

    @classmethod
    def of(cls, page_size: int, page_token: str) -> "PageRequest":
        """The page that a request asks for. A size of 0 means the default; a larger size than the maximum means the
        maximum."""
        return cls(min(page_size or DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE), page_token)

    def after(self, length: int) -> list[str] | None:
        """The sort key to start after, which has `length` strings; None for the first page. Raises InvalidRequest for a
        token that no page returned."""
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
