"""Who is attached to a turn, and what becomes of it when nobody is."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from proviso_service.turns.ports import OnDisconnect


class Attendance:
    """Counts the readers and waiters of a turn and calls `abandon` when `on_disconnect` wants it ended.

    GRACE allows `grace_s` with nobody attached, counted from the turn's start too. CANCEL ends a turn when the
    last reader leaves; one that nobody has read yet gets the same grace, since its reader may be on its way."""

    def __init__(self, on_disconnect: OnDisconnect, grace_s: float, abandon: Callable[[], object]) -> None:
        self._on_disconnect = on_disconnect
        self._grace_s = grace_s
        self._abandon: Callable[[], object] | None = abandon
        self._attached = 0
        self._paused = False
        self._timer: asyncio.TimerHandle | None = None

    def open(self) -> None:
        """The turn has started, or goes on after a pause."""
        self._paused = False
        if self._attached == 0 and self._on_disconnect is not OnDisconnect.CONTINUE:
            self._start_grace()

    def pause(self) -> None:
        """The turn waits for a person: it may be left alone until it is opened again."""
        self._paused = True
        self._stop_grace()

    def close(self) -> None:
        """The turn has ended: who comes and goes no longer matters."""
        self._stop_grace()
        self._abandon = None

    @contextmanager
    def attached(self) -> Iterator[None]:
        """Counts somebody as attached."""
        self._attached += 1
        self._stop_grace()
        try:
            yield
        finally:
            self._attached -= 1
            if self._attached == 0:
                self._left_alone()

    def _left_alone(self) -> None:
        if self._abandon is None or self._paused:
            return
        if self._on_disconnect is OnDisconnect.CANCEL:
            self._abandon()
        elif self._on_disconnect is OnDisconnect.GRACE:
            self._start_grace()

    def _start_grace(self) -> None:
        self._stop_grace()
        if self._abandon is not None:
            self._timer = asyncio.get_running_loop().call_later(self._grace_s, self._abandon)

    def _stop_grace(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
