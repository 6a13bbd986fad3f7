"""One span for each turn, beside the spans of calls, because a turn can outlive the call that started it and other
calls can follow it.
"""

from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from opentelemetry.trace import Span, SpanContext, SpanKind, Tracer, get_current_span, use_span

from proviso_service.telemetry.spans import ERROR_TYPE, OWN_PROVIDER, error_type, failed, record_cached_tokens
from proviso_service.turns.program import RunningTurn, TurnExecution, TurnOutcome, TurnProgram
from proviso_service.turns.records import ExitCause, ExitReason

_FAULTS = frozenset(
    {ExitReason.LLM_ERROR, ExitReason.INTERNAL_ERROR, ExitReason.RATE_LIMITED, ExitReason.DEADLINE_EXCEEDED}
)
MAX_KNOWN_TURNS = 4_096
"""Calls can be linked to this many turns, the latest ones."""


@dataclass(frozen=True, slots=True)
class _TurnTrace:
    """The span of a turn, and the span of the call that started it."""

    span: SpanContext
    started_by: SpanContext


class TracedProgram:
    """A TurnProgram whose runs are spans. A span has ids, counters and the exit reason, and nothing of what users or
    models wrote."""

    def __init__(self, program: TurnProgram, tracer: Tracer) -> None:
        self._program = program
        self._tracer = tracer
        self._known: OrderedDict[str, _TurnTrace] = OrderedDict()

    def start(self, turn: RunningTurn) -> TurnExecution:
        with self._span(turn.turn_id) as span:
            return _TracedExecution(self._program.start(turn), span)

    async def resume(self, turn: RunningTurn, state: str) -> TurnExecution:
        """Begins a new trace, because after a restart nobody knows the trace of the turn's earlier part."""
        with self._span(turn.turn_id) as span:
            return _TracedExecution(await self._program.resume(turn, state), span)

    @contextmanager
    def _span(self, turn_id: str) -> Iterator[Span]:
        """Begins the span of a turn. It ends here only when the run cannot begin."""
        started_by = get_current_span().get_span_context()
        span = self._tracer.start_span(
            f"invoke_agent {OWN_PROVIDER}",
            kind=SpanKind.INTERNAL,
            attributes={
                "gen_ai.operation.name": "invoke_agent",
                "gen_ai.provider.name": OWN_PROVIDER,
                "gen_ai.agent.name": OWN_PROVIDER,
                "proviso.turn_id": turn_id,
            },
        )
        self._known[turn_id] = _TurnTrace(span.get_span_context(), started_by)
        if len(self._known) > MAX_KNOWN_TURNS:
            self._known.popitem(last=False)
        with use_span(span, record_exception=False, set_status_on_exception=False):
            try:
                yield span
            except BaseException as error:
                span.set_attribute(ERROR_TYPE, error_type(error))
                span.end()
                raise

    def link(self, turn_id: str) -> None:
        """Links the current span to the turn's span, unless that span is its child or is no longer known here."""
        known, current = self._known.get(turn_id), get_current_span()
        if known is not None and known.started_by.span_id != current.get_span_context().span_id:
            current.add_link(known.span)


class _TracedExecution:
    """An execution whose span ends with its outcome, or when another process goes on with the turn."""

    def __init__(self, execution: TurnExecution, span: Span) -> None:
        self._execution = execution
        self._span = span
        self._error = ""

    async def run(self) -> TurnOutcome:
        with use_span(self._span, record_exception=False, set_status_on_exception=False):
            try:
                outcome = await self._execution.run()
            except BaseException as error:
                self._error = error_type(error)
                raise
        self._end(outcome)
        return outcome

    def interrupted(self, reason: ExitReason, cause: ExitCause | None = None) -> TurnOutcome:
        outcome = self._execution.interrupted(reason, cause)
        self._end(outcome)
        return outcome

    def release(self) -> None:
        self._execution.release()
        self._span.set_attribute("proviso.handed_over", True)
        self._span.end()

    def _end(self, outcome: TurnOutcome) -> None:
        """Ends the span with the first outcome. A second one follows when the first could not be stored."""
        if not self._span.is_recording():
            return
        if self._error:
            self._span.set_attribute(ERROR_TYPE, self._error)
        _describe(self._span, outcome)
        self._span.end()


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
    record_cached_tokens(span, final_state.usage.cached_input_tokens)
    if final_state.exit_reason in _FAULTS:
        failed(span, final_state.exit_reason.value)
