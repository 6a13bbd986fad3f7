"""The room that items have in a request."""

from proviso_service.context.contents import utf8_bytes
from proviso_service.context.selection.candidates import Candidate
from proviso_service.settings import SelectionSettings

_BYTES_PER_TOKEN = 4
"""Tokenizers take some four bytes of UTF-8 for a token of English, fewer for code and names: an estimate."""


class ItemBudget:
    """Counts the characters and estimated tokens of the descriptions and contents of a request's items."""

    def __init__(self, settings: SelectionSettings) -> None:
        self._settings = settings
        self._characters = 0
        self._tokens = 0

    @property
    def characters(self) -> int:
        return self._characters

    @property
    def tokens(self) -> int:
        return self._tokens

    @property
    def near_limit(self) -> bool:
        """Whether the items take the share of the room from which a request warns."""
        share, kept = self._settings.warn_share, self._settings
        return self._characters >= share * kept.max_chars or self._tokens >= share * kept.max_tokens

    def take(self, item: Candidate) -> None:
        """Counts an item whether there is room for it or not."""
        characters, tokens = _size(item)
        self._characters += characters
        self._tokens += tokens

    def take_if_room(self, item: Candidate) -> bool:
        characters, tokens = _size(item)
        if self._characters + characters > self._settings.max_chars:
            return False
        if self._tokens + tokens > self._settings.max_tokens:
            return False
        self.take(item)
        return True


def estimated_tokens(text: str) -> int:
    return _tokens(utf8_bytes(text))


def _size(item: Candidate) -> tuple[int, int]:
    """Characters and estimated tokens."""
    return len(item.description) + len(item.content), _tokens(item.size_bytes)


def _tokens(size_bytes: int) -> int:
    return -(-size_bytes // _BYTES_PER_TOKEN)
