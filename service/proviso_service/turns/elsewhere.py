"""Turns whose logs are not in this process: other processes run them, or they have ended."""

import asyncio
import time
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import AsyncExitStack, aclosing, asynccontextmanager
from dataclasses import replace
from typing import Any, cast
from uuid import uuid4

from proviso_service.errors import Draining, TurnElsewhere, TurnExpired, TurnNotWaiting, Unavailable
from proviso_service.identity import Caller
from proviso_service.turns.asked import APPROVALS, DRAINING, NOT_WAITING, AskedByOthers, OwnTurns
from proviso_service.turns.config import TurnConfig
from proviso_service.turns.events import FinalState, Heartbeat, LoggedEvent
from proviso_service.turns.log import MemoryTurnLog
from proviso_service.turns.records import Decision
from proviso_service.turns.replicas import EventsMissing, Replicas
from proviso_service.turns.store import TurnRecord, TurnState
from proviso_service.turns.turn import Turn, check_position, follow

_ANSWER_S = 5.0
"""How long another process may take for what it knows at once."""

_END_S = 30.0
"""How long it may take to end a turn, or to store a decision."""

_TELL_AGAIN_S = 1.0
_TELL_TRIES = 60


class TurnsElsewhere:
    """The turns whose logs are not here. Who reads one of them here is counted as a reader by the process that runs it.

    Where a process that runs a turn cannot be reached, every method raises TurnElsewhere; where it is gone,
    TurnExpired. Without `replicas` there are no other processes: what is not here has ended, or is lost."""

    def __init__(
        self,
        replicas: Replicas | None,
        owner: str,
        settings: TurnConfig,
        turns: OwnTurns,
        find: Callable[[Caller, str], Turn | None],
        record: Callable[[Caller, str], Awaitable[TurnRecord]],
        ended: Callable[[TurnRecord], tuple[int, FinalState]],
    ) -> None:
        """`owner` names this process. `ended` is the last sequence and the final state of a turn, and raises what
        callers are told of one that has not ended."""
        self._replicas = replicas
        self._owner = owner
        self._settings = settings
        self._record = record
        self._ended = ended
        self._asked = AskedByOthers(turns, find, replicas, settings.lease_s) if replicas else None
        self._telling: set[asyncio.Task[None]] = set()

    def open(self) -> None:
        """Answers what other processes ask, from now on."""
        if self._asked is not None:
            self._asked.open()

    async def close(self) -> None:
        """Stops answering, and telling other processes that readers have left."""
        if self._asked is not None:
            await self._asked.close()
        for task in self._telling:
            task.cancel()
        if self._telling:
            await asyncio.wait(self._telling)

    def runs(self, record: TurnRecord) -> bool:
        """Whether another process runs the turn."""
        return self._replicas is not None and record.state is not TurnState.ENDED and record.owner != self._owner

    async def read(self, record: TurnRecord, after_sequence: int) -> AsyncGenerator[LoggedEvent | Heartbeat, None]:
        """Yields the events of the turn after `after_sequence`; the stored final state alone where they are gone."""
        try:
            async with aclosing(self._follow(record, after_sequence)) as items:
                async for item in items:
                    if isinstance(item, LoggedEvent):
                        after_sequence = item.sequence
                    yield item
        except EventsMissing:
            yield _stored_end(self._ended(await self._again(record)), after_sequence)

    async def wait(self, record: TurnRecord) -> FinalState:
        """Returns the final state once the turn has ended. Cancelling the wait cancels the turn."""
        try:
            async with aclosing(self.read(record, 0)) as items:
                *_, last = [item async for item in items if isinstance(item, LoggedEvent)]
        except asyncio.CancelledError:
            if self.runs(record):
                self._begin(self._tell(record, "cancel", {}))
            raise
        return cast(FinalState, last.event)

    async def get(self, record: TurnRecord) -> TurnRecord:
        """The record with what the process of the turn knows of it, if it can be asked."""
        if not self.runs(record):
            return record
        try:
            found = await self._ask(record, "get", {}, _ANSWER_S)
        except (Unavailable, TurnExpired):
            return record
        if found is None:
            return await self._again(record)
        return replace(
            record,
            state=TurnState(found["state"]),
            last_sequence=found["last_sequence"],
            pending_approvals=APPROVALS.validate_python(found["pending_approvals"]),
        )

    async def cancel(self, record: TurnRecord) -> bool:
        """Ends the turn as Turns.cancel does."""
        return bool(await self._ask(record, "cancel", {}, _END_S))

    async def decide(self, record: TurnRecord, call_id: str, decision: Decision) -> None:
        """Stores a decision as Turns.decide does."""
        told = await self._ask(record, "decide", {"call_id": call_id, "decision": decision.value}, _END_S)
        if told == NOT_WAITING:
            raise TurnNotWaiting(record.turn_id, call_id)

    async def _follow(self, record: TurnRecord, after_sequence: int) -> AsyncGenerator[LoggedEvent | Heartbeat, None]:
        """Yields what other processes show of the turn. Raises EventsMissing where the turn has ended, or runs nowhere,
        and events are not there."""
        settings = self._settings
        try:
            async with AsyncExitStack() as stack:
                log = await stack.enter_async_context(self._shown(record, after_sequence))
                following = follow(log, after_sequence, settings.heartbeat_s, settings.token_interval_s)
                async for item in await stack.enter_async_context(aclosing(following)):
                    if isinstance(item, Heartbeat):
                        record = await self._checked(record)
                    yield item
        except (EventsMissing, Unavailable) as error:
            now = await self._again(record)
            if self.runs(now) or now.owner != record.owner:  # who has taken it over shows its events
                raise TurnElsewhere(now.owner) from error
            raise EventsMissing from error

    @asynccontextmanager
    async def _shown(self, record: TurnRecord, after_sequence: int) -> AsyncIterator[MemoryTurnLog]:
        replicas, turn_id = self._replicas, record.turn_id
        if replicas is None:
            raise EventsMissing
        async with AsyncExitStack() as stack:
            # Also of a turn that has ended: its process may not have written its last events yet.
            last_sequence = await stack.enter_async_context(self._attending(record))
            if last_sequence is None:
                if record.final_state is None or not await replicas.has_log(turn_id):
                    raise EventsMissing
                last_sequence = record.last_sequence
            check_position(last_sequence, after_sequence)
            yield await stack.enter_async_context(replicas.following(turn_id))

    @asynccontextmanager
    async def _attending(self, record: TurnRecord) -> AsyncIterator[int | None]:
        """Counts as a reader of the turn while the context is open. Yields the turn's last sequence so far; None where
        no process has the turn any more."""
        if record.owner == self._owner:
            yield None
            return
        reader = {"reader": uuid4().hex}
        try:
            yield await self._attend(record, reader)
        finally:
            self._begin(self._tell(record, "leave", reader))

    async def _attend(self, record: TurnRecord, reader: dict[str, Any]) -> int | None:
        try:
            last_sequence: int | None = await self._ask(record, "attend", reader, _ANSWER_S)
        except TurnExpired:
            if record.final_state is None:
                raise
            return None
        return last_sequence

    async def _checked(self, record: TurnRecord) -> TurnRecord:
        """The record, read again after a silence. Raises EventsMissing where nothing can come any more: the turn had
        ended before the silence, or its process is gone without a word."""
        if record.final_state is not None:
            raise EventsMissing
        now = await self._again(record)
        if self._replicas is not None and self.runs(now) and not await self._replicas.is_living(now.owner):
            raise EventsMissing
        return now

    async def _ask(self, record: TurnRecord, action: str, arguments: dict[str, Any], limit_s: float) -> Any:
        about = {"turn_id": record.turn_id, "tenant": record.caller.tenant, "user": record.caller.user}
        try:
            if self._replicas is None or not await self._replicas.is_living(record.owner):
                raise TurnExpired(record.turn_id)
            answer = await self._replicas.ask(record.owner, action, about | arguments, limit_s)
        except Unavailable as error:
            raise TurnElsewhere(record.owner) from error
        if answer == DRAINING:
            raise Draining
        return answer

    async def _tell(self, record: TurnRecord, action: str, arguments: dict[str, Any]) -> None:
        """Tells the process of a turn something that it has to know, also if it cannot be reached for a while."""
        for _ in range(_TELL_TRIES):
            try:
                await self._ask(record, action, arguments, _ANSWER_S)
            except TurnElsewhere:
                await asyncio.sleep(_TELL_AGAIN_S)
            except (TurnExpired, Draining):
                return
            else:
                return

    def _begin(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work, name="tell a replica")
        self._telling.add(task)
        task.add_done_callback(self._telling.discard)

    async def _again(self, record: TurnRecord) -> TurnRecord:
        return await self._record(record.caller, record.turn_id)


def _stored_end(ended: tuple[int, FinalState], after_sequence: int) -> LoggedEvent:
    """The stored end of a turn as an event. A reader may have seen more events than the store knows of, where the
    turn's process died before it had counted them; the event then comes after those."""
    last_sequence, final_state = ended
    sequence = last_sequence if after_sequence <= last_sequence else after_sequence + 1
    return LoggedEvent(sequence, sequence, time.time(), final_state)
