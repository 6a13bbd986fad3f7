"""The time that a turn has used of its limit."""

import time
from collections.abc import Iterator
from contextlib import contextmanager


class TurnClock:
    """Runs from its making on, with `used_s` used before, and stands still while the turn waits for a person."""

    def __init__(self, limit_s: float, used_s: float = 0.0) -> None:
        self._limit_s = limit_s
        self._used_s = used_s
        self._since: float | None = time.monotonic()

    @property
    def used_s(self) -> float:
        running_s = 0.0 if self._since is None else time.monotonic() - self._since
        return self._used_s + running_s

    @property
    def left_s(self) -> float:
        return max(0.0, self._limit_s - self.used_s)

    @contextmanager
    def stopped(self) -> Iterator[None]:
        self._used_s, self._since = self.used_s, None
        try:
            yield
        finally:
            self._since = time.monotonic()
