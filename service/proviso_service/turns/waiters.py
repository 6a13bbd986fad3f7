"""Everyone who waits for the next event of a log."""

import asyncio


class Waiters:
    """Wakes everyone who waits for the next event, all at once at the event, or each one when its time is over.

    A timer for each wait would cost as much as the rest of an event's way to its reader. There is therefore one alarm
    for all. It is not moved when someone comes or goes: when it rings, it looks at who is still waiting and whose time
    is over."""

    __slots__ = ("_alarm", "_due")

    def __init__(self) -> None:
        self._due: dict[asyncio.Future[bool], float] = {}
        self._alarm: asyncio.TimerHandle | None = None

    async def wait(self, timeout_s: float) -> bool:
        """Returns True at the next `wake`, and False when there was none for `timeout_s` seconds."""
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
        """Wakes everyone who waits."""
        if self._due:
            for waiter in self._due:
                _settle(waiter, True)
            self._due.clear()

    def close(self) -> None:
        """Wakes everyone who waits and stops the alarm. Nobody may wait afterwards."""
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
