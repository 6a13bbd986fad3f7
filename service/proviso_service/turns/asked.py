"""What other processes ask about turns that run here."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from contextlib import ExitStack, suppress
from typing import Any, Protocol

from pydantic import TypeAdapter

from proviso_service.errors import Draining, TurnNotWaiting, Unavailable
from proviso_service.identity import Caller
from proviso_service.turns.events import ApprovalRequired
from proviso_service.turns.records import Decision
from proviso_service.turns.replicas import Replicas
from proviso_service.turns.store import TurnRecord, TurnState
from proviso_service.turns.turn import Turn

APPROVALS = TypeAdapter(tuple[ApprovalRequired, ...])

DRAINING = "draining"
NOT_WAITING = "not waiting"

_MISSES = 2
"""A process is gone when its lease was not there so often in a row: once may be Redis that has just come back."""


class OwnTurns(Protocol):
    """What is done with the turns of this process."""

    async def get(self, caller: Caller, turn_id: str) -> TurnRecord: ...

    async def cancel(self, caller: Caller, turn_id: str) -> bool: ...

    async def decide(self, caller: Caller, turn_id: str, call_id: str, decision: Decision) -> None: ...


class AskedByOthers:
    """Does what other processes ask, and counts their readers while those processes live.

    `find` is the turn of a caller, if it is here."""

    def __init__(
        self, turns: OwnTurns, find: Callable[[Caller, str], Turn | None], replicas: Replicas, lease_s: float
    ) -> None:
        self._turns = turns
        self._find = find
        self._replicas = replicas
        self._lease_s = lease_s
        self._readers: dict[str, dict[str, ExitStack]] = {}
        self._misses: dict[str, int] = {}
        self._task: asyncio.Task[None] | None = None
        self._actions: Mapping[str, Callable[[str, Caller, str, dict[str, Any]], Awaitable[Any]]] = {
            "attend": self._attend,
            "leave": self._leave,
            "get": self._get,
            "cancel": self._cancel,
            "decide": self._decide,
        }

    def open(self) -> None:
        """Answers from now on, and looks once in each lease whether the processes of readers live."""
        self._replicas.answer(self._answer)
        self._task = asyncio.create_task(self._keep_looking(), name="readers elsewhere")

    async def close(self) -> None:
        """No reader of another process counts any more."""
        if self._task is not None:
            self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task
        for process in list(self._readers):
            self._forget(process)

    async def _answer(self, process: str, action: str, arguments: dict[str, Any]) -> Any:
        caller = Caller(arguments["tenant"], arguments["user"])
        try:
            return await self._actions[action](process, caller, arguments["turn_id"], arguments)
        except Draining:
            return DRAINING
        except TurnNotWaiting:
            return NOT_WAITING

    async def _attend(self, process: str, caller: Caller, turn_id: str, arguments: dict[str, Any]) -> int | None:
        turn = self._find(caller, turn_id)
        if turn is None:
            return None
        attended = self._readers.setdefault(process, {})[arguments["reader"]] = ExitStack()
        attended.enter_context(turn.readers.connected())
        return turn.log.last_sequence

    async def _leave(self, process: str, caller: Caller, turn_id: str, arguments: dict[str, Any]) -> None:
        if attended := self._readers.get(process, {}).pop(arguments["reader"], None):
            attended.close()

    async def _get(self, process: str, caller: Caller, turn_id: str, arguments: dict[str, Any]) -> Any:
        turn = await self._turns.get(caller, turn_id)
        if turn.state is TurnState.ENDED:
            return None
        return {
            "state": turn.state.value,
            "last_sequence": turn.last_sequence,
            "pending_approvals": APPROVALS.dump_python(turn.pending_approvals, mode="json"),
        }

    async def _cancel(self, process: str, caller: Caller, turn_id: str, arguments: dict[str, Any]) -> bool:
        return await self._turns.cancel(caller, turn_id)

    async def _decide(self, process: str, caller: Caller, turn_id: str, arguments: dict[str, Any]) -> None:
        await self._turns.decide(caller, turn_id, arguments["call_id"], Decision(arguments["decision"]))

    async def _keep_looking(self) -> None:
        while True:
            await asyncio.sleep(self._lease_s)
            with suppress(Unavailable):
                for process in [process for process, readers in self._readers.items() if readers]:
                    living = await self._replicas.is_living(process)
                    self._misses[process] = 0 if living else self._misses.get(process, 0) + 1
                    if self._misses[process] == _MISSES:
                        self._forget(process)

    def _forget(self, process: str) -> None:
        self._misses.pop(process, None)
        for attended in self._readers.pop(process, {}).values():
            attended.close()
