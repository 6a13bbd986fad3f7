"""The turns of this process: starting them, reading them, ending them."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import ExitStack, aclosing, asynccontextmanager, contextmanager, suppress
from dataclasses import replace
from uuid import uuid4

import structlog
from structlog.contextvars import bind_contextvars

from proviso_service.admission import Admission
from proviso_service.concurrency import with_timeout
from proviso_service.errors import Draining, TooBusy, TurnExpired, TurnNotWaiting, TurnUnknown, Unavailable
from proviso_service.identity import Caller
from proviso_service.turns.config import TurnConfig
from proviso_service.turns.elsewhere import TurnsElsewhere
from proviso_service.turns.events import FinalState, Heartbeat, LoggedEvent
from proviso_service.turns.log import MemoryTurnLog
from proviso_service.turns.program import OnDisconnect, TurnProgram, TurnRequest, payload_sha256
from proviso_service.turns.records import Decision, ExitCause, ExitReason
from proviso_service.turns.replicas import Replicas
from proviso_service.turns.restoring import Restored, restore
from proviso_service.turns.runner import Charge, TurnRunner
from proviso_service.turns.store import LeaseKeeper, TurnRecord, TurnState, TurnStore, store_timeout
from proviso_service.turns.turn import Retention, Turn, TurnLimits, check_position, follow

_log = structlog.get_logger(__name__)


class Turns:
    """Runs turns and lets any number of readers follow them.

    `owner` names this process in the store. `max_running` limits how many turns run at the same time; Admission says
    which of those that are asked for may begin. `kept_bytes` limits the memory of the logs that are kept after their
    turns have ended. `unwind_s` is the time in seconds that a program has to clean up after an interruption, and
    `store_s` the time that one call of the store may take.

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
        replicas: Replicas | None = None,
    ) -> None:
        self._program = program
        self._store = store
        self._settings = settings
        self._owner = owner
        self.admission = Admission("turns", max_running)
        self._charge = charge
        self._limits = TurnLimits(settings.time_limit_s, unwind_s, store_s, settings.lease_s, settings.approval_s)
        self._draining = False
        self._turns: dict[str, Turn] = {}
        self._running: dict[str, tuple[TurnRunner, asyncio.Task[None]]] = {}
        self._abandoned_tasks: set[asyncio.Task[object]] = set()
        self._retention = Retention(settings.log_ttl_s, kept_bytes, self._drop)
        self._replicas = replicas
        self._elsewhere = TurnsElsewhere(replicas, owner, settings, self, self._find, self._record, self._ended)
        self.leases = LeaseKeeper(
            *(store, owner, settings.lease_s, lambda: list(self._running)),
            room=lambda: 0 if self._draining else max_running - len(self._running),
            max_events=settings.log_max_events,
            go_on=self._go_on,
            lose=lambda turn_id: self._running[turn_id][0].lose() if turn_id in self._running else None,
        )

    @property
    def running(self) -> int:
        """How many turns have not ended."""
        return len(self._running)

    @property
    def ended(self) -> Sequence[str]:
        """The ids of the turns that have ended and whose logs are kept."""
        return [turn_id for turn_id in self._turns if turn_id not in self._running]

    async def open(self) -> None:
        """Goes on with the turns that an earlier process of this owner left, and begins to renew leases."""
        self._elsewhere.open()
        await self.leases.open()

    async def start(self, caller: Caller, request: TurnRequest) -> str:
        """Starts a turn that nobody reads yet and returns its id. When an equal request with the same request_id began
        a turn before, that turn's id is returned, while that turn runs even when no turn can be started now.

        Raises Draining, Overloaded, SessionBusy, RequestIdReused."""
        launched = await self._launched(caller, request)
        return launched if isinstance(launched, str) else await asyncio.shield(launched.begun)

    @asynccontextmanager
    async def start_attached(self, caller: Caller, request: TurnRequest) -> AsyncIterator[str]:
        """Does what `start` does, and counts the caller as a reader while the context is open, from before the turn is
        registered. A caller that goes away at any moment has thus disconnected from the turn, and `on_disconnect` says
        what happens to it."""
        with ExitStack() as attached:
            launched = await self._launched(caller, request)
            if isinstance(launched, str):
                turn_id, own = launched, ""
            else:
                attached.enter_context(launched.turn.readers.connected())
                turn_id, own = await asyncio.shield(launched.begun), launched.turn.turn_id
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
            async with aclosing(self._elsewhere.read(await self._record(caller, turn_id), after_sequence)) as items:
                async for item in items:
                    yield item
            return
        check_position(turn.log.last_sequence, after_sequence)
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
            return await self._elsewhere.wait(await self._record(caller, turn_id))
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
            if self._elsewhere.runs(record):
                await self._elsewhere.decide(record, call_id, decision)
            elif self._is_handed_over(record):
                raise Draining
            elif not record.was_decided(call_id, decision):
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
            record = await self._record(caller, turn_id)
            if self._elsewhere.runs(record):
                return await self._elsewhere.cancel(record)
            if self._is_handed_over(record):
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
            return await self._elsewhere.get(record)
        final_state, running = turn.log.final_state, self._running.get(turn_id)
        asked = running[0].approvals.asked if running else ()
        state = TurnState.AWAITING_APPROVAL if asked else TurnState.RUNNING
        return replace(
            record,
            state=state if final_state is None else TurnState.ENDED,
            last_sequence=turn.log.last_sequence,
            final_state=final_state,
            pending_approvals=asked,
        )

    async def end(self, turn_ids: Sequence[str]) -> bool:
        """Ends those of the turns that run here in CANCELLED, because what they are about is deleted, and returns when
        they have ended. Returns whether there were any."""
        tasks = [self._running[turn_id][1] for turn_id in turn_ids if turn_id in self._running]
        for turn_id in turn_ids:
            self._interrupt(turn_id)
        if tasks:
            await asyncio.wait(tasks)
        return bool(tasks)

    def forget(self, turn_ids: Sequence[str]) -> None:
        """Drops the logs of those of the turns that have ended."""
        for turn_id in turn_ids:
            if turn_id not in self._running:
                self._drop(turn_id)

    async def drain(self, grace_s: float) -> None:
        """Refuses new turns from now on, lets running ones go on for `grace_s` seconds, and hands the rest over to
        whichever process takes them, as it does at once with those that wait for a person. Reading goes on."""
        self._draining = True
        with suppress(TimeoutError):
            await with_timeout(grace_s, self._until_none_works())
        await self._hand_over_running()

    async def close(self) -> None:
        """Hands every turn over as `drain(0)` does, and drops the logs."""
        self._draining = True
        await self._hand_over_running()
        await self.leases.close()
        self._retention.close()
        await self._elsewhere.close()

    async def _launched(self, caller: Caller, request: TurnRequest) -> TurnRunner | str:
        """The runner of a new turn, or the id of the one that an equal request began before."""
        if begun := self._running_for(caller, request):
            return await asyncio.shield(begun)
        if not self._draining:
            await self.admission.begin(caller)
            if runner := self._launch(caller, request):
                return runner
            self.admission.end(caller)
        return await self._begun_before(caller, request)

    def _launch(self, caller: Caller, request: TurnRequest) -> TurnRunner | None:
        """Begins a turn, unless the service began to stop while the call waited."""
        # The turn is known here before it is in the store: whoever learns its id from the store finds it here.
        return None if self._draining else self._run(self._new_runner(str(uuid4()), caller, request))

    def _running_for(self, caller: Caller, request: TurnRequest) -> asyncio.Future[str] | None:
        """The id of the running turn that an equal request has begun. The store is not asked, because it may be this
        that keeps the service busy."""
        if not request.request_id:
            return None
        for runner, _ in self._running.values():
            if runner.is_asked_by(caller, request):
                return runner.begun
        return None

    async def _begun_before(self, caller: Caller, request: TurnRequest) -> str:
        """The id of the turn that an equal request began before. Raises Draining when there is none."""
        if not request.request_id:
            raise Draining
        earlier = self._store.begun_before(caller, request.request_id, payload_sha256(request))
        turn_id = await with_timeout(self._limits.store_s, earlier, late=store_timeout)
        if turn_id is None:
            raise Draining
        return turn_id

    async def _go_on(self, record: TurnRecord) -> None:
        """Goes on with a turn that was taken over."""
        if restored := await restore(self._store, record, self._owner, self._limits.store_s, self._replicas):
            self.admission.add(record.caller)
            runner = self._new_runner(record.turn_id, record.caller, restored.suspended.request, restored)
            if restored.is_over:
                runner.interrupt(ExitReason.INTERNAL_ERROR)
            self._run(runner)

    def _run(self, runner: TurnRunner) -> TurnRunner:
        turn_id = runner.turn.turn_id
        self._turns[turn_id] = runner.turn
        self._running[turn_id] = runner, asyncio.create_task(self._run_turn(runner), name=f"turn {turn_id}")
        return runner

    def _new_runner(
        self, turn_id: str, caller: Caller, request: TurnRequest, restored: Restored | None = None
    ) -> TurnRunner:
        settings, events = self._settings, restored.suspended.events if restored else ()
        lost = restored.lost if restored else 0
        log = MemoryTurnLog(settings.log_max_events, settings.log_max_bytes, events=events, lost=lost)
        if self._replicas is not None:
            self._replicas.publish(turn_id, log, restored.shown if restored else 0)
        return TurnRunner(
            turn_id,
            caller,
            request,
            log=log,
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
            self.admission.end(turn.caller)
            if is_kept:
                self._retention.keep(turn.turn_id, turn.log.held_bytes)
            else:
                self._drop(turn.turn_id, is_left=True)
        if (abandoned_task := runner.abandoned_task) is not None:
            self._abandoned_tasks.add(abandoned_task)
            abandoned_task.add_done_callback(self._abandoned_tasks.discard)

    def _find(self, caller: Caller, turn_id: str) -> Turn | None:
        turn = self._turns.get(turn_id)
        if turn is not None and turn.caller != caller:
            raise TurnUnknown(turn_id)
        return turn

    def _drop(self, turn_id: str, *, is_left: bool = False) -> None:
        """Drops the log of a turn, here and, unless the process stops or leaves it, where others read it."""
        self._turns.pop(turn_id, None)
        if self._replicas is not None and not self._draining:
            (self._replicas.leave if is_left else self._replicas.withdraw)(turn_id)

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
        return self._draining and record.state is not TurnState.ENDED

    async def _until_none_works(self) -> None:
        """Returns once every turn that runs waits for a person."""
        while working := [one for one, _ in self._running.values() if not one.approvals.idle.is_set()]:
            await working[0].approvals.idle.wait()

    async def _hand_over_running(self) -> None:
        """Leaves every turn to another process, but those that are ending."""
        runners = [runner for runner, _ in self._running.values()]
        for runner in runners:
            runner.hand_over()
        if self._running:
            await asyncio.wait([task for _, task in self._running.values()])
        turns = [runner.turn for runner in runners]
        left = {turn.turn_id: turn.log.last_sequence for turn in turns if turn.log.is_handed_over}
        try:
            if left:
                await with_timeout(self._limits.store_s, self._store.release(self._owner, left), late=store_timeout)
        except (Unavailable, TooBusy):  # their leases expire
            _log.warning("turns_not_released", turns=len(left))
