"""One turn, from its registration in the store to its final state.

The runner's own coroutine is never cancelled while the service runs. What can be interrupted is the program, which has
a task of its own. Whatever the program does, and whenever a cancellation arrives, the turn is stored and ended exactly
once.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from proviso_service.concurrency import with_timeout
from proviso_service.context.marker import parse_marker
from proviso_service.errors import RequestIdReused, TooBusy, Unavailable
from proviso_service.identity import Caller
from proviso_service.turns.approvals import PendingApprovals
from proviso_service.turns.events import Event, FinalState
from proviso_service.turns.log import TurnLog
from proviso_service.turns.outcomes import bare_outcome, unreadable_outcome
from proviso_service.turns.program import (
    OnDisconnect,
    RunningTurn,
    TurnClock,
    TurnExecution,
    TurnOutcome,
    TurnProgram,
    TurnRequest,
    payload_sha256,
)
from proviso_service.turns.records import ExitCause, ExitReason
from proviso_service.turns.restoring import Restored
from proviso_service.turns.store import TurnLost, TurnStore, patiently, store_timeout
from proviso_service.turns.suspension import SuspendedTurn, SuspensionUnreadable
from proviso_service.turns.turn import ConnectedReaders, Turn, TurnLimits

Charge = Callable[[Caller, int], Awaitable[None]]
"""Is told how many tokens a turn of the caller's used."""

_logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Interruption:
    reason: ExitReason
    cause: ExitCause | None


class TurnRunner:
    """Registers a turn, runs its program, stores the outcome, and ends the log."""

    def __init__(
        self,
        turn_id: str,
        caller: Caller,
        request: TurnRequest,
        *,
        log: TurnLog,
        grace_s: float,
        program: TurnProgram,
        store: TurnStore,
        owner: str,
        limits: TurnLimits,
        restored: Restored | None = None,
        charge: Charge | None = None,
    ) -> None:
        """A turn that is `restored` was begun by an earlier process. `charge` is told what the turn used before readers
        are told that it has ended."""
        readers = ConnectedReaders(request.on_disconnect, grace_s, self._on_no_readers)
        self.turn = Turn(turn_id, caller, log, readers, restored.suspended.all_decisions if restored else {})
        self.begun: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        """The id of the turn that answers the request: this one, or the one that the same request began before."""
        self._request = request
        self._program = program
        self._store = store
        self._owner = owner
        self._limits = limits
        self._restored = restored
        self._charge = charge
        self._waits = restored is not None and restored.waits
        self._clock = TurnClock(limits.program_s, restored.suspended.used_s if restored else None)
        if not self._waits:
            self._clock.start()
        self.approvals = PendingApprovals(
            *(self.turn, request, self._clock, store, owner, limits),
            *(self._time_paused, self._stored, restored),
        )
        self._left = False
        self._deadline: asyncio.TimerHandle | None = None
        self._execution: TurnExecution | None = None
        self._task: asyncio.Task[TurnOutcome] | None = None
        self._stopped = asyncio.Event()
        self._interruption: _Interruption | None = None
        self._unwinding: asyncio.TimerHandle | None = None

    async def run(self) -> bool:
        """Runs the whole turn. Returns False when nothing of it is kept in this process: the store began no turn, which
        `begun` explains, or another process goes on with the turn."""
        created = await self._begin()
        if created:
            await self._run_program()
            await self.approvals.close()
            if self._interruption is None and isinstance(self._failure, (Unavailable, TooBusy)):
                self._leave(self._failure)  # as it is stored, it can go on once the store is back
            if not self._left:
                self.turn.log.close_calls()
                self.turn.log.seal()
                final_state = await self._persist(await self._outcome())
            if self._left:
                self._release()
                return False
            if self._charge is not None:
                used = final_state.usage
                await self._charge(self.turn.caller, used.input_tokens + used.output_tokens)
        else:
            final_state = bare_outcome(ExitReason.INTERNAL_ERROR).final_state
        self.turn.log.end(final_state)
        self._close()
        return created

    def is_asked_by(self, caller: Caller, request: TurnRequest) -> bool:
        """Whether the turn answers this request, which has a request id. Raises RequestIdReused where the request with
        this id was another one."""
        if (self._request.request_id, self.turn.caller) != (request.request_id, caller):
            return False
        if payload_sha256(request) == payload_sha256(self._request):
            return True
        if self._restored is not None:
            return False  # what is stored of a request has no access to images; the store knows its hash
        raise RequestIdReused(request.request_id)

    def interrupt(self, reason: ExitReason, cause: ExitCause | None = None) -> bool:
        """Ends the turn for `reason`. Returns False when that comes too late, because the program has returned or the
        turn is already being interrupted."""
        if self._left or self._interruption is not None or self._has_returned:
            return False
        self._interruption = _Interruption(reason, cause)
        if self._task is not None:
            self._stop(self._task)
        return True

    def hand_over(self) -> bool:
        """Leaves the turn to another process, as it is stored. Returns False when it ends here."""
        if self._left or self._interruption is not None or self._has_returned:
            return False
        self.lose()
        return True

    def lose(self) -> None:
        """Leaves the turn, because another process has it: nothing more is stored or logged of it here."""
        if not self._left:
            self._left = True
            self.approvals.hand_over()
            if self._task is not None:
                self._stop(self._task)

    @property
    def _has_returned(self) -> bool:
        return self._task is not None and self._task.done()

    @property
    def abandoned_task(self) -> "asyncio.Task[TurnOutcome] | None":
        """The program's task when it still runs after the turn has ended; None otherwise."""
        return self._task if self._task is not None and not self._task.done() else None

    async def _begin(self) -> bool:
        turn, request, limits = self.turn, self._request, self._limits
        if self._restored is not None:
            self.begun.set_result(turn.turn_id)
            return True
        try:
            digest = payload_sha256(request)
            begun = await with_timeout(
                limits.store_s,
                self._store.begin(turn.caller, turn.turn_id, request, digest, self._owner, limits.lease_s),
                late=store_timeout,
            )
        except Exception as error:  # `begun` carries it to the caller of Turns.start
            self.begun.set_exception(error)
            return False
        self.begun.set_result(begun.turn_id)
        return begun.created

    async def _run_program(self) -> None:
        """Returns when the program has stopped, or when it has not stopped in time after an interruption."""
        task = self._task = asyncio.create_task(self._execute(), name=f"program of turn {self.turn.turn_id}")
        task.add_done_callback(self._on_stopped)
        if self._left or self._interruption is not None:
            self._stop(task)
        if not self._waits:  # else its time runs when the wait is over
            self._set_deadline()
            self.turn.readers.start()
        try:
            await self._stopped.wait()
        finally:
            self._lift_deadline()
            if self._unwinding is not None:
                self._unwinding.cancel()
            task.cancel()

    async def _execute(self) -> TurnOutcome:
        self._execution = await self._new_execution()
        await self.approvals.settle()  # returns at once unless the turn is restored
        return await self._execution.run()

    async def _new_execution(self) -> TurnExecution:
        restored = self._restored
        turn = RunningTurn(
            *(self.turn.turn_id, self.turn.caller, self._request, self._emit, self.approvals, self._clock),
            checkpoint=self._checkpoint,
            was_cut=restored is not None and not self._waits,
        )
        if restored is None or not restored.suspended.state:
            return self._program.start(turn)
        return await self._program.resume(turn, restored.suspended.state)

    async def _checkpoint(self, state: str) -> None:
        turn = self.turn
        suspended = SuspendedTurn(
            self._request,
            state,
            used_s=self._clock.used_s,
            earlier_decisions=dict(turn.decisions),
            events=turn.log.history(),
        )
        last_sequence = turn.log.last_sequence
        await self._stored(
            lambda: self._store.checkpoint(turn.caller, turn.turn_id, last_sequence, suspended, self._owner)
        )

    async def _stored(self, work: Callable[[], Awaitable[None]]) -> None:
        """Does work of the store for the program, which is cancelled where another process has the turn."""
        try:
            await patiently(self._limits.store_s, work)
        except TurnLost:
            self.lose()
            raise asyncio.CancelledError from None

    @contextmanager
    def _time_paused(self) -> Iterator[None]:
        """While the context is open, the turn waits for a person: its time stands still, and readers may be away."""
        self._lift_deadline()
        self.turn.readers.pause()
        try:
            with self._clock.paused():
                yield
        finally:
            self.turn.readers.start()
            self._set_deadline()

    def _set_deadline(self) -> None:
        self._deadline = asyncio.get_running_loop().call_later(
            self._clock.left_s, self.interrupt, ExitReason.DEADLINE_EXCEEDED
        )

    def _lift_deadline(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _emit(self, event: Event) -> None:
        if not self._left:
            self.turn.log.append(event)

    def _stop(self, task: asyncio.Task[TurnOutcome]) -> None:
        task.cancel()
        self._unwinding = asyncio.get_running_loop().call_later(self._limits.unwind_s, self._stopped.set)

    def _on_stopped(self, task: asyncio.Task[TurnOutcome]) -> None:
        if not task.cancelled():
            task.exception()  # asyncio would warn of a failure that nobody has looked at
        self._stopped.set()

    def _release(self) -> None:
        """Ends a turn with which another process goes on. Its readers are told to come again."""
        self.turn.log.seal()
        self.turn.log.hand_over()
        self._close()
        if self._execution is not None:
            self._execution.release()

    def _close(self) -> None:
        self.turn.readers.stop()
        self.turn.ended.set()
        self.approvals.idle.set()

    def _on_no_readers(self) -> None:
        was_left = self._request.on_disconnect is OnDisconnect.GRACE
        self.interrupt(ExitReason.CANCELLED, ExitCause.ABANDONED if was_left else ExitCause.CANCELLED_BY_CALLER)

    async def _outcome(self) -> TurnOutcome:
        if self._interruption is not None:
            if self.abandoned_task is not None:
                _logger.error("turn %s: the program ignores its cancellation and was given up on", self.turn.turn_id)
            return await self._interrupted(self._interruption.reason, self._interruption.cause)
        outcome = None if self.turn.log.overflowed else self._result()
        return outcome or await self._failed()

    def _result(self) -> TurnOutcome | None:
        """What the program returned; None when it failed."""
        if self._task is None or self._task.cancelled():
            return None
        outcome = None if self._failure else self._task.result()
        return outcome if _is_outcome(outcome) else None

    @property
    def _failure(self) -> BaseException | None:
        """What a program has raised that has ended."""
        is_over = self._task is not None and self._task.done() and not self._task.cancelled()
        return self._task.exception() if self._task is not None and is_over else None

    async def _failed(self) -> TurnOutcome:
        """The outcome after a fault. The fault itself goes only to the service's log."""
        turn_id, error = self.turn.turn_id, self._failure
        if isinstance(error, SuspensionUnreadable):
            question, language = parse_marker(self._request.message).text, self._request.language
            return unreadable_outcome(turn_id, error, language, question, waits=self._waits)
        if self.turn.log.overflowed:
            _logger.error("turn %s: its log is full at %d events", turn_id, self.turn.log.last_sequence)
        elif error is not None:
            _logger.error("turn %s: the program failed", turn_id, exc_info=error)
        else:
            _logger.error("turn %s: the program returned no outcome", turn_id)
        return await self._interrupted(ExitReason.INTERNAL_ERROR)

    async def _interrupted(self, reason: ExitReason, cause: ExitCause | None = None) -> TurnOutcome:
        """The outcome, as the program gives it, of a turn that it could not finish; a bare one when the program gives
        none."""
        try:
            if self._execution is None and self._interruption is not None:
                # The turn was interrupted before its program could run. What came with it counts all the same.
                self._execution = await with_timeout(self._limits.unwind_s, self._new_execution())
            outcome = self._execution.interrupted(reason, cause) if self._execution is not None else None
        except Exception:
            _logger.exception("turn %s: the program failed to account for its interruption", self.turn.turn_id)
            outcome = None
        if outcome is not None and _is_outcome(outcome) and outcome.final_state.exit_reason is reason:
            return outcome
        return bare_outcome(reason, cause, self._request.language)

    async def _persist(self, outcome: TurnOutcome) -> FinalState:
        """Stores the outcome and returns the final state for the log: that of `outcome`, or INTERNAL_ERROR when
        `outcome` could not be stored. Where the store stays away, or another process has the turn, it is left: nobody
        is told an end that is not the stored one."""
        try:
            if await self._finish(outcome):
                return outcome.final_state
            failure = await self._interrupted(ExitReason.INTERNAL_ERROR)
            await self._finish(failure)
        except (TurnLost, Unavailable, TooBusy) as error:
            self._leave(error)
            return outcome.final_state
        return failure.final_state

    def _leave(self, error: BaseException) -> None:
        _logger.warning("turn %s: it is left to whoever takes it over: %s", self.turn.turn_id, error)
        self._left = True

    async def _finish(self, outcome: TurnOutcome) -> bool:
        """Returns False for an outcome that cannot be stored. Raises TurnLost, Unavailable and TooBusy."""
        turn = self.turn
        last_sequence, session_id = turn.log.last_sequence + 1, self._request.session_id
        try:
            await patiently(
                self._limits.store_s,
                lambda: self._store.finish(turn.caller, turn.turn_id, session_id, last_sequence, outcome, self._owner),
            )
        except (TurnLost, Unavailable, TooBusy):
            raise
        except Exception:
            _logger.exception("turn %s: its end could not be stored", turn.turn_id)
            return False
        return True


def _is_outcome(value: object) -> bool:
    return isinstance(value, TurnOutcome) and isinstance(value.final_state, FinalState)
