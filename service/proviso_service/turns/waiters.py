"""Waiting for the next event, cheap enough to do once for every event and reader."""

import asyncio


class Waiters:
    """Wakes all who wait, at once or each when its time is over.

    A timer for each wait would cost as much as the rest of the way of an event to its reader. So there is one alarm for
    all, which is not moved when waiters come and go: when it rings it looks who is still there and due."""

    __slots__ = ("_alarm", "_due")

    def __init__(self) -> None:
        self._due: dict[asyncio.Future[bool], float] = {}
        self._alarm: asyncio.TimerHandle | None = None

    async def wait(self, timeout_s: float) -> bool:
        """True at the next `wake`, False when there was none for `timeout_s`."""
        loop = asyncio.get_running_loop()
        waiter: asyncio.Future[bool] = loop.create_future()
        due = self._due[waiter] = loop.time() + timeout_s
        if self._alarm is None or due < self._alarm.when():
            self._set_alarm(due)
        try:
            return await waiter
        finally:
            self._due.pop(waiter, None)

    def wake(self) -> None:
        """Wakes everybody."""
        if self._due:
            for waiter in self._due:
                _settle(waiter, True)
            self._due.clear()

    def close(self) -> None:
        """Wakes everybody; nobody waits afterwards."""
        self.wake()
        self._set_alarm(None)

    def _ring(self) -> None:
        now = asyncio.get_running_loop().time()
        for waiter, due in self._due.items():
            if due <= now:
                _settle(waiter, False)
        self._set_alarm(min((due for due in self._due.values() if due > now), default=None))

    def _set_alarm(self, due: float | None) -> None:
        if self._alarm is not None:
            self._alarm.cancel()
        self._alarm = None if due is None else asyncio.get_running_loop().call_at(due, self._ring)


def _settle(waiter: asyncio.Future[bool], woken: bool) -> None:
    if not waiter.done():
        waiter.set_result(woken)
