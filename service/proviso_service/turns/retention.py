"""Logs of ended turns, kept for readers that come back."""

import asyncio
from collections import deque
from collections.abc import Callable


class Retention:
    """Keeps ended turns for `ttl_s` and within `max_bytes` in all; calls `drop` with the id of each that has to go, the
    earliest ended first."""

    def __init__(self, ttl_s: float, max_bytes: int, drop: Callable[[str], object]) -> None:
        self._ttl_s = ttl_s
        self._max_bytes = max_bytes
        self._drop = drop
        self._kept: deque[tuple[float, str, int]] = deque()
        self._bytes = 0
        self._timer: asyncio.TimerHandle | None = None

    def keep(self, turn_id: str, size_bytes: int) -> None:
        """Takes charge of a turn that has just ended."""
        self._kept.append((asyncio.get_running_loop().time() + self._ttl_s, turn_id, size_bytes))
        self._bytes += size_bytes
        while self._bytes > self._max_bytes and len(self._kept) > 1:
            self._drop_earliest()
        self._arm()

    def close(self) -> None:
        """Drops everything."""
        while self._kept:
            self._drop_earliest()
        self._arm()

    def _sweep(self) -> None:
        now = asyncio.get_running_loop().time()
        while self._kept and self._kept[0][0] <= now:
            self._drop_earliest()
        self._arm()

    def _drop_earliest(self) -> None:
        _, turn_id, size_bytes = self._kept.popleft()
        self._bytes -= size_bytes
        self._drop(turn_id)

    def _arm(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = asyncio.get_running_loop().call_at(self._kept[0][0], self._sweep) if self._kept else None
