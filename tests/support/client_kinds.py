"""Both clients of the Python package behind one surface, that of the client for asyncio."""

import asyncio
import inspect
from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import Any, cast

from proviso_client import AsyncClient, AsyncTurn, Client
from proviso_client.steps import FinalState
from proviso_client.v1 import chat_pb2

Connect = Callable[..., AsyncClient]
"""Makes a client of a target; it takes what AsyncClient takes."""


def connect_blocking(target: str, **arguments: Any) -> AsyncClient:
    """The blocking client, each of whose calls runs in a thread."""
    return cast(AsyncClient, _InThreads(Client(target, **arguments)))


async def events_until(turn: AsyncTurn, kind: type = FinalState) -> list[chat_pb2.AgentEvent]:
    """The events from where the reading of a turn is, up to the first whose step is of a kind."""
    events = []
    async for step in turn:
        assert turn.last_event is not None
        events.append(turn.last_event)
        if isinstance(step, kind):
            return events
    raise AssertionError(f"no {kind.__name__} came")


class _InThreads:
    """An object of the blocking client, used as its counterpart for asyncio is: what is awaited there runs in a thread
    here."""

    def __init__(self, wrapped: Any) -> None:
        self._wrapped = wrapped

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._wrapped, name)
        if not inspect.ismethod(value):
            return _wrapped(value)
        if inspect.iscoroutinefunction(getattr(_counterpart(self._wrapped), name)):
            return partial(asyncio.to_thread, value)
        return lambda *args, **kwargs: _wrapped(value(*args, **kwargs))

    def __aiter__(self) -> "_InThreads":
        return self

    async def __anext__(self) -> Any:
        end = object()
        if (item := await asyncio.to_thread(next, self._wrapped, end)) is end:
            raise StopAsyncIteration
        return item

    async def __aenter__(self) -> "_InThreads":
        return self

    async def __aexit__(self, *_: object) -> None:
        await asyncio.to_thread(self._wrapped.close)


def _wrapped(value: Any) -> Any:
    own = type(value).__module__.startswith("proviso_client._sync")
    return _InThreads(value) if own or inspect.isgenerator(value) else value


def _counterpart(blocking: Any) -> Any:
    kind = type(blocking)
    return getattr(import_module(kind.__module__.replace("_sync", "_aio")), f"Async{kind.__name__}")
