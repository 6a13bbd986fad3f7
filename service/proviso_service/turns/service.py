"""The turns of this process: starting them, reading them, ending them."""

import asyncio
import time
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import ExitStack, aclosing, asynccontextmanager, contextmanager, suppress
from dataclasses import replace
from uuid import uuid4

from structlog.contextvars import bind_contextvars

from proviso_service.concurrency import with_timeout
from proviso_service.errors import Draining, TooBusy, TurnExpired, TurnNotWaiting, TurnUnknown
from proviso_service.identity import Caller
from proviso_service.turns.config import TurnConfig
from proviso_service.turns.events import ApprovalRequired, FinalState, Heartbeat, LoggedEvent
from proviso_service.turns.log import MemoryTurnLog
from proviso_service.turns.program import OnDisconnect, TurnProgram, TurnRequest, payload_sha256
from proviso_service.turns.records import Decision, ExitCause, ExitReason
from proviso_service.turns.runner import Charge, TurnRunner, unreadable_outcome
from proviso_service.turns.store import LeaseKeeper, TurnRecord, TurnState, TurnStore, store_timeout
from proviso_service.turns.suspension import SuspendedTurn, SuspensionUnreadable
from proviso_service.turns.turn import Retention, Turn, TurnLimits, check_position, follow

_RETRY_AFTER_S = 1.0


class Turns:
    """Runs turns and lets any number of readers follow them.

    `owner` names this process in the store. `max_running` limits how many turns run at the same time. `kept_bytes`
    limits the memory of the logs that are kept after their turns have ended. `unwind_s` is the time in seconds that a
    program has to clean up after an interruption, and `store_s` the time that one call of the store may take.

    A turn of another caller is answered like one that does not exist, with TurnUnknown. Every method that asks the
    store raises NotReady when the store does not answer in time."""

    def __init__(
        self,
        program: TurnProgram,
        store: TurnStore,
        settings: TurnConfig,
        *,
        owner: str,
        max_running: int,
        kept_bytes: int = 256 * 1024 * 1024,
        unwind_s: float = 5.0,
        store_s: float = 15.0,
        charge: Charge | None = None,
    ) -> None:
        self._program = program
        self._store = store
        self._settings = settings
        self._owner = owner
        self._max_running = max_running
        self._charge = charge
        self._limits = TurnLimits(settings.time_limit_s, unwind_s, store_s, settings.lease_s, settings.approval_s)
        self._draining = False
        self._turns: dict[str, Turn] = {}
        self._running: dict[str, tuple[TurnRunner, asyncio.Task[None]]] = {}
        self._abandoned_tasks: set[asyncio.Task[object]] = set()
        self._retention = Retention(settings.log_ttl_s, kept_bytes, lambda turn_id: self._turns.pop(turn_id, None))
        self._leases = LeaseKeeper(store, owner, settings.lease_s, lambda: list(self._running))

    @property
    def running(self) -> int:
        """How many turns have not ended."""
        return len(self._running)

    async def open(self) -> None:
        """Ends the turns that an earlier process of this owner left running, goes on with those that it left waiting
        for a person, and begins to renew leases."""
        await self._leases.open()
        for record in await with_timeout(self._limits.store_s, self._store.waiting(self._owner), late=store_timeout):
            await self._resume(record)

    async def start(self, caller: Caller, request: TurnRequest) -> str:
        """Starts a turn that nobody reads yet and returns its id. When an equal request with the same request_id began
        a turn before, that turn's id is returned, even when no turn can be started now.

        Raises Draining, TooBusy, SessionBusy, RequestIdReused."""
        if refusal := self._refusal():
            return await self._begun_before(caller, request, refusal)
        return await asyncio.shield(self._launch(caller, request).begun)

    @asynccontextmanager
    async def start_attached(self, caller: Caller, request: TurnRequest) -> AsyncIterator[str]:
        """Does what `start` does, and counts the caller as a reader while the context is open, from before the turn is
        registered. A caller that goes away at any moment has thus disconnected from the turn, and `on_disconnect` says
        what happens to it."""
        with ExitStack() as attached:
            if refusal := self._refusal():
                turn_id, own = await self._begun_before(caller, request, refusal), ""
            else:
                runner = self._launch(caller, request)
                attached.enter_context(runner.turn.readers.connected())
                turn_id, own = await asyncio.shield(runner.begun), runner.turn.turn_id
            if turn_id != own and (earlier := self._find(caller, turn_id)):
                attached.enter_context(earlier.readers.connected())
            yield turn_id

    async def invoke(
        self, caller: Caller, request: TurnRequest, tell: Callable[[str], Awaitable[None]]
    ) -> tuple[str, FinalState]:
        """Runs a turn to its end and returns its id and final state; `tell` gets the id as soon as there is one.

        Cancelling this call cancels the turn, at any moment and whatever `on_disconnect` says. Raises what `start`,
        `tell` and `wait` raise."""
        async with self.start_attached(caller, replace(request, on_disconnect=OnDisconnect.CANCEL)) as turn_id:
            with self._cancelling(turn_id):
                await tell(turn_id)
            return turn_id, await self.wait(caller, turn_id)

    async def read(
        self, caller: Caller, turn_id: str, after_sequence: int
    ) -> AsyncGenerator[LoggedEvent | Heartbeat, None]:
        """Yields the turn's events after `after_sequence` (0 for all of them), each once and in order, up to the final
        state. The caller counts as a reader while it iterates, so close the generator with `contextlib.aclosing`. Of an
        ended turn whose events are no longer kept it yields the stored final state alone.

        Raises TurnUnknown, TurnExpired for a turn that neither runs here nor has ended, InvalidRequest for a position
        beyond the last event, and Draining for a turn that the next process goes on with."""
        turn = self._find(caller, turn_id)
        if turn is None:
            yield _stored_end(self._ended(await self._record(caller, turn_id)), after_sequence)
            return
        check_position(turn.log, after_sequence)
        with turn.readers.connected():
            settings = self._settings
            following = follow(turn.log, after_sequence, settings.heartbeat_s, settings.token_interval_s)
            async with aclosing(following) as items:
                async for item in items:
                    yield item

    async def wait(self, caller: Caller, turn_id: str) -> FinalState:
        """Returns the final state once the turn has ended. The caller counts as a reader; cancelling the wait cancels
        the turn.

        Raises TurnUnknown, TurnExpired for a turn that neither runs here nor has ended, and Draining for one that the
        next process goes on with."""
        turn = self._find(caller, turn_id)
        if turn is None:
            return self._ended(await self._record(caller, turn_id))[1]
        with turn.readers.connected(), self._cancelling(turn_id):
            await turn.ended.wait()
        if turn.log.final_state is None:
            raise Draining
        return turn.log.final_state

    async def decide(self, caller: Caller, turn_id: str, call_id: str, decision: Decision) -> None:
        """Stores a person's decision on a call that the turn waits for. The same decision again changes nothing.

        Raises TurnUnknown, TurnNotWaiting where the turn does not wait for a decision on the call or has another one
        already, and Draining for a turn that the next process goes on with."""
        turn = self._find(caller, turn_id)
        if turn is None:
            record = await self._record(caller, turn_id)
            if self._is_handed_over(record):
                raise Draining
            if not _was_decided(record, call_id, decision):
                raise TurnNotWaiting(turn_id, call_id)
        elif running := self._running.get(turn_id):
            await running[0].approvals.answer(call_id, decision)
        elif turn.decisions.get(call_id) is not decision:
            raise TurnNotWaiting(turn_id, call_id)

    async def cancel(self, caller: Caller, turn_id: str) -> bool:
        """Ends a running turn in CANCELLED and returns when it has ended. Returns False when this call did not cancel
        the turn, because it had ended, was ending, or runs in another process.

        Raises TurnUnknown, and Draining for a turn that the next process goes on with."""
        turn = self._find(caller, turn_id)
        if turn is None:
            if self._is_handed_over(await self._record(caller, turn_id)):
                raise Draining
            return False
        cancelled = self._interrupt(turn_id)
        await turn.ended.wait()
        if turn.log.is_handed_over:
            raise Draining
        return cancelled

    async def get(self, caller: Caller, turn_id: str) -> TurnRecord:
        """The record of a turn; while the turn runs here, with its latest sequence and the approvals that it waits for.
        Raises TurnUnknown."""
        record = await self._record(caller, turn_id)
        turn = self._turns.get(turn_id)
        if turn is None or record.state is TurnState.ENDED:
            return record
        final_state, asked = turn.log.final_state, self._asked(turn_id)
        state = TurnState.AWAITING_APPROVAL if asked else TurnState.RUNNING
        return replace(
            record,
            state=state if final_state is None else TurnState.ENDED,
            last_sequence=turn.log.last_sequence,
            final_state=final_state,
            pending_approvals=asked,
        )

    async def end(self, turn_ids: Sequence[str]) -> None:
        """Ends those of the turns that run here in CANCELLED, because what they are about is deleted, and returns when
        they have ended."""
        tasks = [self._running[turn_id][1] for turn_id in turn_ids if turn_id in self._running]
        for turn_id in turn_ids:
            self._interrupt(turn_id)
        if tasks:
            await asyncio.wait(tasks)

    def forget(self, turn_ids: Sequence[str]) -> None:
        """Drops the logs of those of the turns that have ended."""
        for turn_id in turn_ids:
            if turn_id not in self._running:
                self._turns.pop(turn_id, None)

    async def drain(self, grace_s: float) -> None:
        """Refuses new turns from now on, lets running ones go on for `grace_s` seconds, and ends the rest in a
        retryable CANCELLED. Turns that wait for a person are left to the next process. Reading goes on."""
        self._draining = True
        with suppress(TimeoutError):
            await with_timeout(grace_s, self._until_none_works())
        await self._stop_running()

    async def close(self) -> None:
        """Ends every turn as `drain(0)` does, and drops the logs."""
        self._draining = True
        await self._stop_running()
        await self._leases.close()
        self._retention.close()

    def _refusal(self) -> Draining | TooBusy | None:
        """Why no turn can be started now; None when one can."""
        if self._draining:
            return Draining()
        if len(self._running) >= self._max_running:
            return TooBusy("Too many turns are running", _RETRY_AFTER_S)
        return None

    async def _begun_before(self, caller: Caller, request: TurnRequest, refusal: Draining | TooBusy) -> str:
        """The id of the turn that an equal request began before. Raises `refusal` when there is none."""
        if not request.request_id:
            raise refusal
        earlier = self._store.begun_before(caller, request.request_id, payload_sha256(request))
        turn_id = await with_timeout(self._limits.store_s, earlier, late=store_timeout)
        if turn_id is None:
            raise refusal
        return turn_id

    def _launch(self, caller: Caller, request: TurnRequest) -> TurnRunner:
        # The turn is known here before it is in the store: whoever learns its id from the store finds it here.
        return self._run(self._new_runner(str(uuid4()), caller, request))

    async def _resume(self, record: TurnRecord) -> None:
        """Goes on with a turn that waits for a person. The turn ends when its stored state cannot be read."""
        caller, turn_id = record.caller, record.turn_id
        try:
            restored = await with_timeout(
                self._limits.store_s, self._store.suspended(caller, turn_id), late=store_timeout
            )
        except SuspensionUnreadable as error:
            outcome = unreadable_outcome(turn_id, error, record.language)
            ended = self._store.finish(caller, turn_id, record.session_id, record.last_sequence + 1, outcome)
            await with_timeout(self._limits.store_s, ended, late=store_timeout)
            return
        self._run(self._new_runner(turn_id, caller, restored.request, restored))

    def _run(self, runner: TurnRunner) -> TurnRunner:
        turn_id = runner.turn.turn_id
        self._turns[turn_id] = runner.turn
        self._running[turn_id] = runner, asyncio.create_task(self._run_turn(runner), name=f"turn {turn_id}")
        return runner

    def _new_runner(
        self, turn_id: str, caller: Caller, request: TurnRequest, restored: SuspendedTurn | None = None
    ) -> TurnRunner:
        settings = self._settings
        return TurnRunner(
            turn_id,
            caller,
            request,
            log=MemoryTurnLog(
                settings.log_max_events, settings.log_max_bytes, events=restored.events if restored else ()
            ),
            grace_s=settings.grace_s,
            program=self._program,
            store=self._store,
            owner=self._owner,
            limits=self._limits,
            restored=restored,
            charge=self._charge,
        )

    async def _run_turn(self, runner: TurnRunner) -> None:
        turn, is_kept = runner.turn, False
        bind_contextvars(turn_id=turn.turn_id)  # for the log lines of this task and of those that it starts
        try:
            is_kept = await runner.run()
        finally:
            del self._running[turn.turn_id]
            if is_kept:
                self._retention.keep(turn.turn_id, turn.log.held_bytes)
            else:
                del self._turns[turn.turn_id]
        if (abandoned_task := runner.abandoned_task) is not None:
            self._abandoned_tasks.add(abandoned_task)
            abandoned_task.add_done_callback(self._abandoned_tasks.discard)

    def _find(self, caller: Caller, turn_id: str) -> Turn | None:
        turn = self._turns.get(turn_id)
        if turn is not None and turn.caller != caller:
            raise TurnUnknown(turn_id)
        return turn

    @contextmanager
    def _cancelling(self, turn_id: str) -> Iterator[None]:
        """Cancels the turn when what is awaited inside the context is cancelled."""
        try:
            yield
        except asyncio.CancelledError:
            self._interrupt(turn_id)
            raise

    def _interrupt(self, turn_id: str, cause: ExitCause = ExitCause.CANCELLED_BY_CALLER) -> bool:
        running = self._running.get(turn_id)
        return running is not None and running[0].interrupt(ExitReason.CANCELLED, cause)

    async def _record(self, caller: Caller, turn_id: str) -> TurnRecord:
        return await with_timeout(self._limits.store_s, self._store.get(caller, turn_id), late=store_timeout)

    def _ended(self, record: TurnRecord) -> tuple[int, FinalState]:
        """The last sequence and the final state of a turn that is only in the store."""
        if record.final_state is None:
            raise Draining if self._is_handed_over(record) else TurnExpired(record.turn_id)
        return record.last_sequence, record.final_state

    def _is_handed_over(self, record: TurnRecord) -> bool:
        """Whether the next process goes on with the turn."""
        return self._draining and record.state is TurnState.AWAITING_APPROVAL

    def _asked(self, turn_id: str) -> tuple[ApprovalRequired, ...]:
        running = self._running.get(turn_id)
        return running[0].approvals.asked if running else ()

    def _working(self) -> list[TurnRunner]:
        return [runner for runner, _ in self._running.values() if not runner.approvals.idle.is_set()]

    async def _until_none_works(self) -> None:
        """Returns once every turn that runs waits for a person."""
        while working := self._working():
            await working[0].approvals.idle.wait()

    async def _stop_running(self) -> None:
        for turn_id, (runner, _) in list(self._running.items()):
            if not runner.hand_over():
                self._interrupt(turn_id, ExitCause.STOPPING)
        if self._running:
            await asyncio.wait([task for _, task in self._running.values()])


def _stored_end(ended: tuple[int, FinalState], after_sequence: int) -> LoggedEvent:
    """The stored end of a turn as an event. A reader may have seen more events than the store knows of, where the
    turn's process died before it had counted them; the event then comes after those."""
    last_sequence, final_state = ended
    sequence = last_sequence if after_sequence <= last_sequence else after_sequence + 1
    return LoggedEvent(sequence, sequence, time.time(), final_state)


def _was_decided(record: TurnRecord, call_id: str, decision: Decision) -> bool:
    """Whether the turn has ended and its records say that a person made this decision on the call."""
    calls = record.final_state.tool_call_records if record.final_state else ()
    return any((call.call_id, call.decision) == (call_id, decision) for call in calls)
