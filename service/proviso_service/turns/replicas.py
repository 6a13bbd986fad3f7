"""The processes that share the stored turns, called replicas: what each shows the others of the turns that it runs, and
what they ask of each other."""

from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from typing import Any, Protocol

from proviso_service.turns.log import MemoryTurnLog

Answer = Callable[[str, str, dict[str, Any]], Awaitable[Any]]
"""Does what another process asks. It is told the name of that process, the name of the action, and its arguments, and
returns values that JSON has."""


class EventsMissing(Exception):
    """Events of a turn are no longer kept where other processes read them."""


class FollowedLog(MemoryTurnLog):
    """The log of a turn that another process runs, as far as it has come here. It can end in an error instead of a
    final state: `wait` raises it once there is nothing more to take."""

    __slots__ = ("_error",)

    def __init__(self) -> None:
        super().__init__(max_events=0, max_bytes=0)
        self._error: Exception | None = None

    @property
    def has_failed(self) -> bool:
        return self._error is not None

    def fail(self, error: Exception) -> None:
        """Ends the log: nothing more comes."""
        self._error = error
        self._waiters.wake()
        self._others_waiters.wake()

    async def wait(self, after: int, timeout_s: float) -> bool:
        if after >= self.last_sequence and self._error is None:
            woken = await super().wait(after, timeout_s)
            if after < self.last_sequence or self._error is None:
                return woken
        if after >= self.last_sequence and self._error is not None:
            raise self._error
        return True


class Replicas(Protocol):
    """What a process knows of the others. Every method but the first three raises Unavailable while they cannot be
    reached."""

    def publish(self, turn_id: str, log: MemoryTurnLog, shown: int = 0) -> None:
        """Shows the events of a turn of this process to the others, from now on and until some time after its end.
        Those up to the sequence `shown` have been shown by the process that ran the turn before."""
        ...

    def leave(self, turn_id: str) -> None:
        """Shows nothing more of a turn, with which another process goes on."""
        ...

    def withdraw(self, turn_id: str) -> None:
        """Removes the events of a turn."""
        ...

    async def has_log(self, turn_id: str) -> bool:
        """Whether there are any events of the turn."""
        ...

    async def last_sequence(self, turn_id: str) -> int:
        """The last sequence of a turn that any process has shown; 0 where there is none."""
        ...

    def following(self, turn_id: str) -> AbstractAsyncContextManager[FollowedLog]:
        """The log of a turn of another process. It ends in EventsMissing where events are not there, and in Unavailable
        when the other processes cannot be reached any more."""
        ...

    async def is_living(self, owner: str) -> bool:
        """Whether a process lives."""
        ...

    async def ask(self, owner: str, action: str, arguments: dict[str, Any], limit_s: float) -> Any:
        """Lets another process do something and returns its answer. Raises the failures that callers can be told about,
        as they were raised there."""
        ...

    def answer(self, answer: Answer) -> None:
        """Lets `answer` do what others ask."""
        ...
