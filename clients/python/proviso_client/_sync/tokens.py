"""Gives every call its token."""

import threading
from collections.abc import Callable

from proviso_client._credentials import AUTHORIZATION, AccessToken, Metadata, TokenCache, bearer

TokenSource = str | Callable[[], str | AccessToken]
"""Is a token, or a function that returns one."""


class Tokens:
    """Holds the token, or the function that gives it. The function is called by one thread at a time."""

    def __init__(self, source: TokenSource) -> None:
        self._source = source
        self._cache = TokenCache()
        self._lock = threading.Lock()

    def metadata(self) -> Metadata:
        """Returns the metadata of a call. Raises what the function raises."""
        if not self._source:
            return ()
        with self._lock:
            return ((AUTHORIZATION, bearer(self._text())),)

    def renews(self, refused: Metadata) -> bool:
        """Returns whether a call that was refused can be repeated with a new token."""
        self._cache.drop(refused)
        return callable(self._source)

    def _text(self) -> str:
        if not callable(self._source):
            return self._source
        return self._cache.current() or self._cache.keep(self._source())
