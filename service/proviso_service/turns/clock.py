"""The time that a turn has used of its limit."""

import time
from collections.abc import Iterator
from contextlib import contextmanager


class TurnClock:
    """Stands still while the turn waits for a person. Runs from its making on, unless `used_s` say that the turn has
    run before: then it stands still until it is started."""

    def __init__(self, limit_s: float, used_s: float | None = None) -> None:
        self._limit_s = limit_s
        self._used_s = used_s or 0.0
        self._since = time.monotonic() if used_s is None else None

    @property
    def used_s(self) -> float:
        running_s = 0.0 if self._since is None else time.monotonic() - self._since
        return self._used_s + running_s

    @property
    def left_s(self) -> float:
        return max(0.0, self._limit_s - self.used_s)

    def start(self) -> None:
        self._since = time.monotonic()

    @contextmanager
    def stopped(self) -> Iterator[None]:
        self._used_s, self._since = self.used_s, None
        try:
            yield
        finally:
            self.start()
