"""The turns of this process: starting them, reading them, ending them."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterator
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
from proviso_service.turns.records import Decision, ExitReason, Retryable
from proviso_service.turns.runner import TurnRunner, unreadable_outcome
from proviso_service.turns.store import LeaseKeeper, TurnRecord, TurnState, TurnStore, store_timeout
from proviso_service.turns.suspension import SuspendedTurn, SuspensionUnreadable
from proviso_service.turns.turn import Retention, Turn, TurnLimits, check_position, follow

_RETRY_AFTER_S = 1.0


class Turns:
    """Runs turns and lets any number of readers follow them.

    `owner` names this process in the store. `max_running` bounds the turns at once, `kept_bytes` the memory of the
    logs that are kept after their turn's end. `unwind_s` is the time a program has to clean up after an
    interruption before it is given up on, `store_s` the time limit of one call of the store.

    A turn of another caller answers like one that does not exist (TurnUnknown). Every method that asks the store
    raises NotReady when it does not answer in time."""

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
    ) -> None:
        self._program = program
        self._store = store
        self._settings = settings
        self._owner = owner
        self._max_running = max_running
        self._limits = TurnLimits(settings.time_limit_s, unwind_s, store_s, settings.lease_s, settings.approval_s)
        self._draining = False
        self._turns: dict[str, Turn] = {}
        self._running: dict[str, tuple[TurnRunner, asyncio.Task[None]]] = {}
        self._stragglers: set[asyncio.Task[object]] = set()
        self._retention = Retention(settings.log_ttl_s, kept_bytes, self._turns.pop)
        self._leases = LeaseKeeper(store, owner, settings.lease_s, lambda: list(self._running))

    @property
    def running(self) -> int:
        """Turns that have not ended."""
        return len(self._running)

    async def open(self) -> None:
        """Closes the turns that an earlier life of this owner left running, takes up those that it left waiting for a
        person, and begins to keep leases."""
        await self._leases.open()
        for record in await with_timeout(self._limits.store_s, self._store.waiting(self._owner), late=store_timeout):
            await self._take_up(record)

    async def start(self, caller: Caller, request: TurnRequest) -> str:
        """Starts a turn that nobody reads yet and returns its id; a repeated request_id with an equal payload returns
        the id of the turn that it began before, also when no turn can be started.

        Raises Draining, TooBusy, SessionBusy, RequestIdReused."""
        if refusal := self._refusal():
            return await self._begun_before(caller, request, refusal)
        return await asyncio.shield(self._launch(caller, request).begun)

    @asynccontextmanager
    async def start_attached(self, caller: Caller, request: TurnRequest) -> AsyncIterator[str]:
        """As `start`, with the caller attached inside, from before the turn is registered: one that goes away at any
        moment has left the turn, and `on_disconnect` says what becomes of it."""
        with ExitStack() as attached:
            if refusal := self._refusal():
                turn_id, own = await self._begun_before(caller, request, refusal), ""
            else:
                runner = self._launch(caller, request)
                attached.enter_context(runner.turn.attendance.attached())
                turn_id, own = await asyncio.shield(runner.begun), runner.turn.turn_id
            if turn_id != own and (earlier := self._find(caller, turn_id)):
                attached.enter_context(earlier.attendance.attached())
            yield turn_id

    async def invoke(
        self, caller: Caller, request: TurnRequest, tell: Callable[[str], Awaitable[None]]
    ) -> tuple[str, FinalState]:
        """Runs a turn to its end and returns its id and final state; `tell` gets the id as soon as there is one.
        Cancelling the call cancels the turn, at any moment and whatever `on_disconnect` says. Raises what `start`,
        `tell` and `wait` raise."""
        async with self.start_attached(caller, replace(request, on_disconnect=OnDisconnect.CANCEL)) as turn_id:
            with self._cancelling(turn_id):
                await tell(turn_id)
            return turn_id, await self.wait(caller, turn_id)

    async def read(
        self, caller: Caller, turn_id: str, after_sequence: int
    ) -> AsyncGenerator[LoggedEvent | Heartbeat, None]:
        """The turn's events after `after_sequence` (0: all), each once and in order, to the final state. The reader
        counts as attached while it iterates, so close it (`contextlib.aclosing`).

        Raises TurnUnknown, TurnExpired, InvalidRequest for a position beyond the last event, and Draining for a turn
        that the next life of the service goes on with."""
        turn = self._find(caller, turn_id)
        if turn is None:
            record = await self._record(caller, turn_id)
            raise self._gone(record)
        check_position(turn.log, after_sequence)
        with turn.attendance.attached():
            settings = self._settings
            following = follow(turn.log, after_sequence, settings.heartbeat_s, settings.token_interval_s)
            async with aclosing(following) as items:
                async for item in items:
                    yield item

    async def wait(self, caller: Caller, turn_id: str) -> FinalState:
        """The final state, once the turn has ended. Counts as attached; cancelling the wait cancels the turn.

        Raises TurnUnknown, TurnExpired for a turn that neither runs here nor has ended, and Draining for one that the
        next life of the service goes on with."""
        turn = self._find(caller, turn_id)
        if turn is None:
            return await self._stored_final_state(caller, turn_id)
        with turn.attendance.attached(), self._cancelling(turn_id):
            await turn.ended.wait()
        if turn.log.final_state is None:
            raise Draining
        return turn.log.final_state

    async def decide(self, caller: Caller, turn_id: str, call_id: str, decision: Decision) -> None:
        """A person's decision on a call that the turn waits for; the same one again changes nothing.

        Raises TurnUnknown, TurnNotWaiting where the turn waits for no decision on the call, or has another one, and
        Draining for a turn that the next life of the service goes on with."""
        turn = self._find(caller, turn_id)
        if turn is None:
            record = await self._record(caller, turn_id)
            if self._is_parked(record):
                raise Draining
            if not _was_decided(record, call_id, decision):
                raise TurnNotWaiting(turn_id, call_id)
        elif running := self._running.get(turn_id):
            await running[0].approvals.answer(call_id, decision)
        elif turn.decisions.get(call_id) is not decision:
            raise TurnNotWaiting(turn_id, call_id)

    async def cancel(self, caller: Caller, turn_id: str) -> bool:
        """Ends a running turn in CANCELLED and returns when it has ended; False when this call did not cancel it,
        because it had ended, was ending or runs elsewhere.

        Raises TurnUnknown, and Draining for a turn that the next life of the service goes on with."""
        turn = self._find(caller, turn_id)
        if turn is None:
            if self._is_parked(await self._record(caller, turn_id)):
                raise Draining
            return False
        cancelled = self._interrupt(turn_id)
        await turn.ended.wait()
        if turn.log.is_cut:
            raise Draining
        return cancelled

    async def get(self, caller: Caller, turn_id: str) -> TurnRecord:
        """Where the turn is, with the live sequence, and what it waits for, while it runs here. Raises TurnUnknown."""
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

    async def drain(self, grace_s: float) -> None:
        """Refuses new turns from now on, lets running ones go on for `grace_s`, then ends the rest in a retryable
        CANCELLED. Those that wait for a person are left to the next life of the service. Reading goes on."""
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
        """Why no turn can be started now."""
        if self._draining:
            return Draining()
        if len(self._running) >= self._max_running:
            return TooBusy("Too many turns are running", _RETRY_AFTER_S)
        return None

    async def _begun_before(self, caller: Caller, request: TurnRequest, refusal: Draining | TooBusy) -> str:
        """The turn that the same request began before; raises the refusal when there is none."""
        if not request.request_id:
            raise refusal
        earlier = self._store.begun_before(caller, request.request_id, payload_sha256(request))
        turn_id = await with_timeout(self._limits.store_s, earlier, late=store_timeout)
        if turn_id is None:
            raise refusal
        return turn_id

    def _launch(self, caller: Caller, request: TurnRequest) -> TurnRunner:
        # Known before it is registered: whoever learns the id from the store finds the turn here.
        return self._run(self._new_runner(str(uuid4()), caller, request))

    async def _take_up(self, record: TurnRecord) -> None:
        """Goes on with a turn that waits for a person; one whose stored state cannot be read ends."""
        caller, turn_id = record.caller, record.turn_id
        try:
            restored = await with_timeout(
                self._limits.store_s, self._store.suspended(caller, turn_id), late=store_timeout
            )
        except SuspensionUnreadable as error:
            outcome = unreadable_outcome(turn_id, error)
            ended = self._store.finish(caller, turn_id, record.session_id, record.last_sequence + 1, outcome)
            await with_timeout(self._limits.store_s, ended, late=store_timeout)
            return
        self._run(self._new_runner(turn_id, caller, restored.request, restored))

    def _run(self, runner: TurnRunner) -> TurnRunner:
        turn_id = runner.turn.turn_id
        self._turns[turn_id] = runner.turn
        self._running[turn_id] = runner, asyncio.create_task(self._live(runner), name=f"turn {turn_id}")
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
        )

    async def _live(self, runner: TurnRunner) -> None:
        turn, lived = runner.turn, False
        bind_contextvars(turn_id=turn.turn_id)  # of this task and of those that it starts
        try:
            lived = await runner.live()
        finally:
            del self._running[turn.turn_id]
            if lived:
                self._retention.keep(turn.turn_id, turn.log.held_bytes)
            else:
                del self._turns[turn.turn_id]
        if (straggler := runner.straggler) is not None:
            self._stragglers.add(straggler)
            straggler.add_done_callback(self._stragglers.discard)

    def _find(self, caller: Caller, turn_id: str) -> Turn | None:
        turn = self._turns.get(turn_id)
        if turn is not None and turn.caller != caller:
            raise TurnUnknown(turn_id)
        return turn

    @contextmanager
    def _cancelling(self, turn_id: str) -> Iterator[None]:
        """Cancelling what is awaited inside cancels the turn."""
        try:
            yield
        except asyncio.CancelledError:
            self._interrupt(turn_id)
            raise

    def _interrupt(self, turn_id: str, retryable: Retryable | None = None) -> bool:
        running = self._running.get(turn_id)
        return running is not None and running[0].interrupt(ExitReason.CANCELLED, retryable)

    async def _record(self, caller: Caller, turn_id: str) -> TurnRecord:
        return await with_timeout(self._limits.store_s, self._store.get(caller, turn_id), late=store_timeout)

    async def _stored_final_state(self, caller: Caller, turn_id: str) -> FinalState:
        record = await self._record(caller, turn_id)
        if record.final_state is None:
            raise self._gone(record)
        return record.final_state

    def _gone(self, record: TurnRecord) -> Draining | TurnExpired:
        """Why a turn of the store cannot be followed here."""
        return Draining() if self._is_parked(record) else TurnExpired(record.turn_id)

    def _is_parked(self, record: TurnRecord) -> bool:
        return self._draining and record.state is TurnState.AWAITING_APPROVAL

    def _asked(self, turn_id: str) -> tuple[ApprovalRequired, ...]:
        running = self._running.get(turn_id)
        return running[0].approvals.asked if running else ()

    def _working(self) -> list[TurnRunner]:
        return [runner for runner, _ in self._running.values() if not runner.approvals.at_rest.is_set()]

    async def _until_none_works(self) -> None:
        """Returns once every turn that runs waits for a person."""
        while working := self._working():
            await working[0].approvals.at_rest.wait()

    async def _stop_running(self) -> None:
        for turn_id, (runner, _) in list(self._running.items()):
            if not runner.park():
                self._interrupt(turn_id, Retryable.YES)
        if self._running:
            await asyncio.wait([task for _, task in self._running.values()])


def _was_decided(record: TurnRecord, call_id: str, decision: Decision) -> bool:
    """Whether a turn has ended that a person decided so about."""
    calls = record.final_state.tool_call_records if record.final_state else ()
    return any((call.call_id, call.decision) == (call_id, decision) for call in calls)
