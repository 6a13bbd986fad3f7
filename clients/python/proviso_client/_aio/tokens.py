"""Gives every call its token."""

import asyncio
import inspect
from collections.abc import Awaitable, Callable

from proviso_client._credentials import AUTHORIZATION, AccessToken, Metadata, TokenCache, bearer
from proviso_client.errors import DeadlineExceeded, ErrorDetails

TokenSource = str | Callable[[], str | AccessToken | Awaitable[str | AccessToken]]
"""Is a token, or a function or coroutine function that returns one."""


class Tokens:
    """Holds the token, or the function that gives it. The function is called by one call at a time."""

    def __init__(self, source: TokenSource) -> None:
        self._source = source
        self._cache = TokenCache()
        self._lock = asyncio.Lock()

    async def metadata(self, limit_s: float) -> Metadata:
        """Returns the metadata of a call. Raises what the function raises, and DeadlineExceeded when it takes longer
        than the limit."""
        if not self._source:
            return ()
        try:
            async with asyncio.timeout(limit_s), self._lock:
                return ((AUTHORIZATION, bearer(await self._text())),)
        except TimeoutError as error:
            raise DeadlineExceeded(f"No token was given within {limit_s:g} s", ErrorDetails()) from error

    def renews(self, refused: Metadata) -> bool:
        """Returns whether a call that was refused can be repeated with a new token."""
        self._cache.drop(refused)
        return callable(self._source)

    async def _text(self) -> str:
        if not callable(self._source):
            return self._source
        if kept := self._cache.current():
            return kept
        given = self._source()
        return self._cache.keep(await given if inspect.isawaitable(given) else given)
