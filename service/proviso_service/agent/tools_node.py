"""The node `tools`: runs the tool calls of the model's last message."""

import asyncio
import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import structlog
from langchain_core.messages import AIMessage, AnyMessage, ToolMessage
from langgraph.runtime import Runtime

from proviso_service.agent.approvals import (
    ASK_ANEW,
    GO_ON_WITHOUT,
    MAX_REFUSALS,
    NOT_ASKED_AGAIN,
    refused_calls,
    why_not_made,
)
from proviso_service.agent.failures import may_retry, retry_after_s
from proviso_service.agent.payload import TOOL_LIMIT_REACHED, ServiceNote, characters_of
from proviso_service.agent.sentences import ASK_FOR_MATTER
from proviso_service.agent.state import AgentState, TurnMemory, TurnScope
from proviso_service.agent.tool_calls import (
    TOOL_CHANGED,
    InvalidCall,
    ValidCall,
    output_json,
    read_calls,
    record_end,
    started_record,
)
from proviso_service.context.model import OWN_SERVER
from proviso_service.errors import FailureCause, ProvisoError
from proviso_service.retrying import RetryPolicy
from proviso_service.telemetry.spans import FROM_CACHE
from proviso_service.tools.base import (
    MaybePartial,
    Rendered,
    ToolResult,
    item_of,
    may_be_repeated,
    server_of,
)
from proviso_service.tools.rendering import to_json
from proviso_service.turns import ContextProblem, Decision, ExitReason, ToolEnd, ToolStart, in_language

_log = structlog.get_logger(__name__)

_MOST_OF_THE_ROOM = 0.8
"""One result leaves the others the rest of what is left."""

_FAILED = "The tool failed. Answer without it, or try another one."

OUTCOME_UNKNOWN = "Outcome unknown: the service stopped during this call, which may or may not have been carried out."
"""The error of a call that was under way when the process of its turn ended, and may not be made twice."""

DO_NOT_ASSUME = (
    "Take it neither as done nor as not done, and tell the person so. Call it again only where the person wants that "
    "or a second time does no harm."
)

Update = dict[str, Any]


@dataclass(frozen=True, slots=True)
class ToolOutcome:
    """What the execution of a tool came to: a result, or an error in words and its cause, with a hint on how to go on
    where there is one."""

    result: ToolResult | None
    error: str
    cause: FailureCause | None
    hint: str
    duration_s: float
    from_cache: bool


class ToolsNode:
    """The node `tools`. It runs the valid calls at the same time, up to the limit of tool calls, and answers each of
    the others with a message that says why it was not run."""

    def __init__(self, retries: RetryPolicy) -> None:
        self._retries = retries

    async def __call__(self, state: AgentState, runtime: Runtime[TurnScope]) -> Update:
        scope = runtime.context
        last = state["messages"][-1]
        calls = read_calls(last, scope.tools) if isinstance(last, AIMessage) else []
        if any(call.call_id in scope.under_way.calling for call in calls):
            return await self._go_on(calls, scope, state)
        invalid = [call for call in calls if isinstance(call, InvalidCall)]
        if invalid and _told_before(state["messages"]):
            return {"exit_reason": ExitReason.INVALID_TOOL_CALL}
        valid = [call for call in calls if isinstance(call, ValidCall)]
        if scope.tool_scope.matter_id is None and any(call.tool.needs_matter for call in valid):
            return _ask_for_matter(scope)

        allowed = valid[
            : max(0, scope.limits.max_tool_calls - state["tool_calls"])
        ]  # the limit may be lower after a restart
        refused = await _refused(allowed, scope, state)
        made = [call for call in allowed if call.call_id not in refused]
        answers = {call.call_id: _invalid_answer(call) for call in invalid}
        answers |= {call.call_id: _limit_answer(call) for call in valid[len(allowed) :]}
        answers |= refused
        for call in made:
            scope.emit(_start(call))
            scope.memory.tool_calls += 1
            scope.memory.tool_call_records.append(started_record(call, scope.memory.decisions.get(call.call_id)))
        calling = {call.call_id: may_be_repeated(call.tool) for call in made}
        if made:
            await scope.checkpoint(state, calling, tuple(answers.values()))
        await self._run(_Round(scope, state, calling, answers), made)
        return _update(calls, answers, state, len(made))

    async def _go_on(self, calls: Sequence[ValidCall | InvalidCall], scope: TurnScope, state: AgentState) -> Update:
        """Goes on with the calls that an earlier process was at. Their starts are logged and counted. Those that may do
        harm when they are made twice are told to the model as such whose outcome is unknown."""
        calling, answers = scope.under_way.calling, dict(scope.under_way.answers)
        made = _Round(scope, state, calling, answers)
        again: list[ValidCall] = []
        for call in calls:
            if call.call_id in answers:
                made.count(answers[call.call_id])
            elif isinstance(call, ValidCall) and calling[call.call_id]:
                again.append(call)
            else:
                answers[call.call_id] = _unknown_answer(call, scope)
        await self._run(made, again)
        return _update(calls, answers, state, len(calling))

    async def _run(self, this: "_Round", calls: Sequence[ValidCall]) -> None:
        """Runs calls at the same time and answers them in their order, so that sources get the same numbers every time.
        A call that may not be made twice is answered as soon as it has ended, so that its result is not lost."""
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(self._make(call, this)) for call in calls]
            for call, task in zip(calls, tasks, strict=True):
                finished = await task
                if call.call_id not in this.answers:
                    this.answer(call, finished)

    async def _make(self, call: ValidCall, this: "_Round") -> ToolOutcome:
        outcome = await self._execute(call, this.scope)
        if not this.calling[call.call_id]:
            this.answer(call, outcome)
            if not this.is_over:  # else what follows the node is a checkpoint, too
                await this.scope.checkpoint(this.state, this.calling, tuple(this.answers.values()))
        return outcome

    async def _execute(self, call: ValidCall, scope: TurnScope) -> ToolOutcome:
        started = time.monotonic()
        result, error, cause, hint, from_cache = None, "", None, "", False
        try:
            with scope.spans.tool(call.tool.name, call.call_id) as span:
                result, from_cache = await self._retrieve(call, scope)
                if from_cache:
                    span.set_attribute(FROM_CACHE, from_cache)
        except ProvisoError as problem:
            error, cause, hint = problem.message, problem.cause, problem.hint
        except Exception as problem:
            _log.exception("tool_failed", tool=call.tool.name, exc_info=problem)
            error, cause = _FAILED, FailureCause.FAILED
        duration_s = time.monotonic() - started
        record_end(
            scope.memory.tool_call_records,
            call.call_id,
            error=error,
            cause=cause,
            duration_s=duration_s,
            from_cache=from_cache,
        )
        return ToolOutcome(result, error, cause, hint, duration_s, from_cache)

    async def _retrieve(self, call: ValidCall, scope: TurnScope) -> tuple[ToolResult, bool]:
        """The result of a call, and whether it came from the cache. Only retrieval tools use the cache."""
        if call.tool.needs_matter:
            await scope.check_matter()
        if not call.tool.is_retrieval:
            return await self._run_tool(call, scope), False
        async with scope.cache.result(call.tool.name, call.args, scope.tool_scope) as lookup:
            if lookup.found is not None:
                return lookup.found, True
            result = await self._run_tool(call, scope)
            if lookup.wanted and result.found and not (isinstance(result, MaybePartial) and result.partial):
                lookup.keep(result)
        return result, False

    async def _run_tool(self, call: ValidCall, scope: TurnScope) -> ToolResult:
        async for attempt in self._retries.attempts(may_retry, retry_after_s, time_left_s=scope.time_left_s):
            with attempt, scope.spans.attempt(attempt.retry_state.attempt_number):
                return await call.tool.run(scope.tool_scope, call.args)
        raise AssertionError("the retry policy ends in a result or an exception")


class _Round:
    """The calls of one message. `answers` are those to all of its calls that are known, by call id."""

    def __init__(
        self, scope: TurnScope, state: AgentState, calling: Mapping[str, bool], answers: dict[str, ToolMessage]
    ) -> None:
        limits = scope.limits
        self.scope = scope
        self.state = state
        self.calling = calling
        self.answers = answers
        self._left = limits.max_context_chars - characters_of(state["messages"])
        self._calls_left = limits.max_tool_calls - state["tool_calls"]

    @property
    def is_over(self) -> bool:
        return all(call_id in self.answers for call_id in self.calling)

    def answer(self, call: ValidCall, finished: ToolOutcome) -> None:
        """Answers a call that has ended, in the room that its share of the rest leaves."""
        times = call.args.room
        share = self._left * times // max(1, self._calls_left)
        most = self._left if self._calls_left <= 1 else int(self._left * _MOST_OF_THE_ROOM)
        budget = max(0, min(self.scope.limits.tool_result_chars * times, share, most))
        message = self.answers[call.call_id] = _answer(call, finished, self.scope, budget)
        self.count(message)

    def count(self, message: ToolMessage) -> None:
        """Counts the room that the answer to a call takes."""
        if message.tool_call_id in self.calling:
            self._left -= len(str(message.content))
            self._calls_left -= 1


def _update(
    calls: Sequence[ValidCall | InvalidCall], answers: Mapping[str, ToolMessage], state: AgentState, made: int
) -> Update:
    messages = [answers[call.call_id] for call in calls]
    update: Update = {"messages": messages, "tool_calls": state["tool_calls"] + made}
    if any(message.artifact is ServiceNote.LIMIT_REACHED for message in messages):
        update["exit_reason"] = ExitReason.MAX_TOOL_CALLS_REACHED
    return update


async def _refused(calls: Sequence[ValidCall], scope: TurnScope, state: AgentState) -> dict[str, ToolMessage]:
    """Asks persons about the calls that need an approval, and returns the answers to those that were not approved, by
    call id."""
    before = _refused_before(calls, scope.memory)
    verdict = await scope.approvals.decide(calls, lambda: scope.suspend(state), before)
    decisions, refused = verdict.decisions, refused_calls(verdict.decisions)
    for call in calls:
        if call.call_id in decisions:
            scope.memory.note_decision(call.call_id, item_of(call.tool), decisions[call.call_id])
    answers: dict[str, ToolMessage] = {}
    for call in calls:
        if call.call_id in refused:
            answers[call.call_id] = _refused_answer(call, why_not_made(decisions[call.call_id]), GO_ON_WITHOUT, scope)
        elif call.call_id in verdict.repeated:
            scope.memory.decisions[call.call_id] = before[call.call_id]
            answers[call.call_id] = _refused_answer(call, NOT_ASKED_AGAIN, GO_ON_WITHOUT, scope)
        elif call.call_id in verdict.changed:
            answers[call.call_id] = _refused_answer(call, TOOL_CHANGED, ASK_ANEW, scope)
    return answers


def _refused_before(calls: Sequence[ValidCall], memory: TurnMemory) -> dict[str, Decision | None]:
    """The calls that a person refused before in the turn, with the same arguments or often enough with any, by their
    ids; and what the person decided then."""
    ids = refused_calls(memory.decisions)
    refused = [
        record for record in memory.tool_call_records if record.call_id in ids and record.error != NOT_ASKED_AGAIN
    ]
    found: dict[str, Decision | None] = {}
    for call in calls:
        this = started_record(call, None)
        of_tool = [one for one in refused if (one.tool, one.server_name) == (this.tool, this.server_name)]
        if of_tool and (len(of_tool) >= MAX_REFUSALS or any(one.input_json == this.input_json for one in of_tool)):
            found[call.call_id] = of_tool[-1].decision
    return found


def _refused_answer(call: ValidCall, error: str, hint: str, scope: TurnScope) -> ToolMessage:
    output = to_json({"error": error, "hint": hint})
    scope.emit(_start(call))
    cause = FailureCause.NOT_ALLOWED
    scope.emit(ToolEnd(call.call_id, call.tool.name, output, "", False, error, 0.0, cause=cause))
    records = scope.memory.tool_call_records
    records.append(started_record(call, scope.memory.decisions.get(call.call_id)))
    record_end(records, call.call_id, error=error, cause=cause, duration_s=0.0)
    return ToolMessage(
        output, tool_call_id=call.call_id, name=call.tool.name, status="error", artifact=ServiceNote.NOT_APPROVED
    )


def _start(call: ValidCall) -> ToolStart:
    return ToolStart(call.call_id, call.tool.name, server_of(call.tool), call.input_json)


def _answer(call: ValidCall, finished: ToolOutcome, scope: TurnScope, budget: int) -> ToolMessage:
    """The message that answers a call that was executed. Emits the event that tells the call's end."""
    if finished.result is None:
        scope.sources.add_failure(finished.error)
        failure = {"error": finished.error} | ({"hint": finished.hint} if finished.hint else {})
        rendered, typed, is_cut = Rendered(to_json(failure), False), "", False
    else:
        rendered = finished.result.render(scope.sources.number, budget)
        typed = output_json(finished.result.data(), scope.limits.output_json_bytes)
        is_cut = rendered.truncated or not typed
        tool = item_of(call.tool)
        scope.sources.add_result(
            call_id=call.call_id,
            tool=tool.name,
            server_name=tool.server_name,
            text=rendered.text,
            data=finished.result.data(),
            is_own=tool.server_name == OWN_SERVER,
            asked=call.input_json,
        )
        if call.tool.is_retrieval:
            scope.memory.retrievals += 1
            scope.memory.empty_retrievals += not finished.result.found
    scope.emit(
        ToolEnd(
            call.call_id,
            call.tool.name,
            rendered.text,
            typed,
            is_cut,
            finished.error,
            finished.duration_s,
            finished.from_cache,
            finished.cause,
        )
    )
    status = "error" if finished.error else "success"
    return ToolMessage(
        rendered.text, tool_call_id=call.call_id, name=call.tool.name, status=status, artifact=rendered.artifact
    )


def _unknown_answer(call: ValidCall | InvalidCall, scope: TurnScope) -> ToolMessage:
    """The answer to a call that an earlier process had begun and that may not be made again."""
    name = call.tool.name if isinstance(call, ValidCall) else call.name
    output = to_json({"error": OUTCOME_UNKNOWN, "hint": DO_NOT_ASSUME})
    cause = FailureCause.FAILED
    scope.sources.add_failure(OUTCOME_UNKNOWN)
    scope.emit(ToolEnd(call.call_id, name, output, "", False, OUTCOME_UNKNOWN, 0.0, cause=cause))
    record_end(scope.memory.tool_call_records, call.call_id, error=OUTCOME_UNKNOWN, cause=cause, duration_s=0.0)
    return ToolMessage(output, tool_call_id=call.call_id, name=name, status="error")


def _told_before(messages: Sequence[AnyMessage]) -> bool:
    return any(isinstance(m, ToolMessage) and m.artifact is ServiceNote.INVALID_CALL for m in messages)


def _invalid_answer(call: InvalidCall) -> ToolMessage:
    return ToolMessage(
        json.dumps({"error": call.problem}),
        tool_call_id=call.call_id,
        name=call.name,
        status="error",
        artifact=ServiceNote.INVALID_CALL,
    )


def _limit_answer(call: ValidCall) -> ToolMessage:
    return ToolMessage(
        json.dumps({"error": TOOL_LIMIT_REACHED}),
        tool_call_id=call.call_id,
        name=call.tool.name,
        status="error",
        artifact=ServiceNote.LIMIT_REACHED,
    )


def _ask_for_matter(scope: TurnScope) -> Update:
    scope.memory.context_problem = ContextProblem.MATTER_REQUIRED
    scope.memory.answer = in_language(ASK_FOR_MATTER, scope.memory.language)
    return {"exit_reason": ExitReason.COMPLETED}
