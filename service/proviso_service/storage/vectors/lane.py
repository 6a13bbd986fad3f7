"""Threads of their own for a library that blocks, with a bounded line and a time limit for every call."""

import asyncio
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from threading import Lock
from typing import ParamSpec, TypeVar

from proviso_service.errors import NotReady, TooBusy

_P = ParamSpec("_P")
_R = TypeVar("_R")

_RETRY_AFTER_S = 1.0


class Lane:
    """Runs blocking calls in `threads` threads, first come first served.

    A call that nobody waits for any more is dropped when it has not begun; one that has begun runs to its end and keeps
    its place in the bound until then.
    """

    def __init__(self, name: str, *, threads: int, max_calls: int, time_limit_s: float) -> None:
        self._name = name
        self._max_calls = max_calls
        self._time_limit_s = time_limit_s
        self._threads = ThreadPoolExecutor(threads, thread_name_prefix=name)
        self._lock = Lock()
        self._calls = 0
        self._closed = False

    async def run(self, function: Callable[_P, _R], *args: _P.args, **kwargs: _P.kwargs) -> _R:
        """Raises what `function` raises; TooBusy at the bound, TimeoutError at the time limit, NotReady when closed."""

        def begin() -> _R:
            self._check_open()
            return function(*args, **kwargs)

        with self._lock:
            self._check_open()
            if self._calls >= self._max_calls:
                raise TooBusy(f"Too many calls are waiting for the {self._name}", _RETRY_AFTER_S)
            self._calls += 1
            call = self._threads.submit(begin)
        call.add_done_callback(self._leave)
        async with asyncio.timeout(self._time_limit_s):
            return await asyncio.wrap_future(call)

    async def close(self) -> None:
        """Refuses new calls and those that have not begun, and waits for the others."""
        self._closed = True
        await asyncio.to_thread(self._threads.shutdown)

    def _check_open(self) -> None:
        if self._closed:
            raise NotReady(f"The {self._name} is closed")

    def _leave(self, _call: Future[_R]) -> None:
        with self._lock:
            self._calls -= 1
