"""One span per turn, beside the spans of calls: a turn outlives the call that started it."""

from opentelemetry.trace import Span, Status, StatusCode, Tracer

from proviso_service.security.identity import Caller
from proviso_service.turns.exit_reasons import ExitReason, Retryable
from proviso_service.turns.ports import Emit, TurnExecution, TurnOutcome, TurnProgram, TurnRequest

_FAULTS = frozenset({ExitReason.LLM_ERROR, ExitReason.INTERNAL_ERROR})


class TracedProgram:
    """A TurnProgram whose runs are spans with ids, counters and the exit reason, and no contents."""

    def __init__(self, program: TurnProgram, tracer: Tracer) -> None:
        self._program = program
        self._tracer = tracer

    def start(self, caller: Caller, turn_id: str, request: TurnRequest, emit: Emit) -> TurnExecution:
        return _TracedExecution(self._program.start(caller, turn_id, request, emit), self._tracer, turn_id)


class _TracedExecution:
    def __init__(self, execution: TurnExecution, tracer: Tracer, turn_id: str) -> None:
        self._execution = execution
        self._tracer = tracer
        self._turn_id = turn_id

    async def run(self) -> TurnOutcome:
        span_of_turn = self._tracer.start_as_current_span(
            "turn",
            attributes={"proviso.turn_id": self._turn_id},
            # Exception texts may hold what people wrote.
            record_exception=False,
            set_status_on_exception=False,
        )
        with span_of_turn as span:
            try:
                outcome = await self._execution.run()
            except BaseException as error:
                span.set_attribute("proviso.interrupted_by", type(error).__name__)
                raise
            _describe(span, outcome)
            return outcome

    def interrupted(self, reason: ExitReason, retryable: Retryable) -> TurnOutcome:
        return self._execution.interrupted(reason, retryable)


def _describe(span: Span, outcome: TurnOutcome) -> None:
    final_state = outcome.final_state
    span.set_attributes(
        {
            "proviso.exit_reason": final_state.exit_reason.value,
            "proviso.cycles": final_state.cycles,
            "proviso.tool_calls": final_state.tool_calls,
            "gen_ai.usage.input_tokens": final_state.usage.input_tokens,
            "gen_ai.usage.output_tokens": final_state.usage.output_tokens,
        }
    )
    if final_state.exit_reason in _FAULTS:
        span.set_status(Status(StatusCode.ERROR, final_state.exit_reason.value))
