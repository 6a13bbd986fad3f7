"""Calls of the turn store within a time limit."""

import asyncio
from collections.abc import Awaitable
from typing import TypeVar

from proviso_service.errors import NotReady

T = TypeVar("T")


async def within(limit_s: float, call: Awaitable[T]) -> T:
    """The result of `call`. Raises NotReady when it takes longer than `limit_s`; whether the store did the work is then
    unknown."""
    try:
        async with asyncio.timeout(limit_s):
            return await call
    except TimeoutError as error:
        raise NotReady("The store of turns does not answer in time") from error
