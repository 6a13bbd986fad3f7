"""The node `llm`: one model call, and what its reply means for the turn."""

from collections.abc import Sequence
from typing import Any

import structlog
from langchain_core.messages import AIMessage, AnyMessage
from langgraph.runtime import Runtime

from proviso_service.agent import grounding
from proviso_service.agent.caching import KeptReply
from proviso_service.agent.failures import FailureKind, classify, retry_after_s
from proviso_service.agent.model_call import ModelCall, text_of
from proviso_service.agent.outcome import ANSWERED
from proviso_service.agent.payload import grounding_reminder, is_grounding_reminder, trim_messages
from proviso_service.agent.state import AgentState, TurnScope
from proviso_service.agent.tool_calls import ValidCall, read_calls
from proviso_service.retrying import RetryPolicy
from proviso_service.turns import NOT_ENOUGH_INFORMATION, DiscardReason, ExitReason

_log = structlog.get_logger(__name__)

Update = dict[str, Any]


class LlmNode:
    """Calls the model with what the state holds. Ends the turn, hands over to `tools`, or asks once more."""

    def __init__(self, retries: RetryPolicy) -> None:
        self._retries = retries

    async def __call__(self, state: AgentState, runtime: Runtime[TurnScope]) -> Update:
        scope = runtime.context
        answer_step = state["exit_reason"] is ExitReason.MAX_TOOL_CALLS_REACHED
        if not answer_step and state["turns"] >= scope.limits.max_turns:
            return {"exit_reason": ExitReason.MAX_TURNS_REACHED}
        trimmed = trim_messages(_sendable(state["messages"]), scope.limits.max_context_chars)
        if trimmed.overflowed:
            return {"exit_reason": ExitReason.MAX_CONTEXT_REACHED}

        turns = state["turns"] if answer_step else state["turns"] + 1
        scope.memory.cycles = turns
        async with scope.cache.reply(trimmed.messages, with_tools=not answer_step) as visit:
            try:
                given = _again(scope, visit.found) or await self._call(scope, trimmed.messages, answer_step)
            except Exception as error:
                scope.text.discard(DiscardReason.NOT_FINAL)
                return {"turns": turns, "exit_reason": _failure(scope, error)}
            if state["turns"] == 0:
                scope.memory.context_tokens = given.input_tokens
            reply = given.message
            update = _judge(state, scope, reply, from_cache=visit.found is not None)
            if visit.wanted and _is_worth_keeping(scope, reply, update):
                visit.keep(given.copy())
        return {"messages": [reply], "turns": turns} | update

    async def _call(self, scope: TurnScope, messages: Sequence[AnyMessage], answer_step: bool) -> KeptReply:
        call = ModelCall(scope, self._retries, [] if answer_step else scope.tools.schemas())
        reply = await call.run(messages)
        return KeptReply(AIMessage(reply.content) if answer_step else reply, scope.memory.meter.last_input_tokens)


def _again(scope: TurnScope, kept: KeptReply | None) -> KeptReply | None:
    """A reply from the cache as one of this turn. Its calls keep their ids: no other call has them, because the
    payload, which holds all earlier ones, is the same as when the ids were given."""
    if kept is None:
        return None
    with scope.spans.kept_reply(scope.model.name):
        reply = kept.copy()
    scope.memory.meter.spare(scope.model.name)
    scope.memory.call_ids.update(str(call["id"]) for call in reply.message.tool_calls)
    return reply


def _is_worth_keeping(scope: TurnScope, reply: AIMessage, update: Update) -> bool:
    """Whether the reply was accepted: as the answer, or as tool calls that can all be made."""
    if reply.tool_calls or reply.invalid_tool_calls:
        return all(isinstance(call, ValidCall) for call in read_calls(reply, scope.tools))
    return update.get("exit_reason") in ANSWERED


def _judge(state: AgentState, scope: TurnScope, reply: AIMessage, *, from_cache: bool) -> Update:
    """What the reply means: a key `messages` replaces the one with the bare reply."""
    text = text_of(reply.content)
    if reply.tool_calls or reply.invalid_tool_calls:
        scope.text.discard(DiscardReason.NOT_FINAL)
        return {}
    if not text.strip():
        scope.text.discard(DiscardReason.NOT_FINAL)
        again = not any(is_empty_reply(m) for m in state["messages"])
        return {} if again else {"exit_reason": ExitReason.LLM_GENERATION_FAILURE}
    verdict = grounding.check(text, scope.sources, tools_answered=scope.memory.other_results > 0)
    if _found_nothing(scope) and not verdict.quotes_a_source:
        if text != NOT_ENOUGH_INFORMATION:
            scope.text.discard(DiscardReason.EMPTY_RETRIEVAL)
        return {"exit_reason": ExitReason.LLM_GENERATION_FAILURE}
    if not verdict.grounded:
        return _refuse(state, scope, reply)
    scope.memory.answer = text
    scope.memory.from_cache = from_cache
    scope.memory.citations = verdict.citations
    for citation in verdict.citations:
        scope.emit(citation)
    return {"exit_reason": state["exit_reason"] or ExitReason.COMPLETED}


def _refuse(state: AgentState, scope: TurnScope, reply: AIMessage) -> Update:
    scope.text.discard(DiscardReason.GROUNDING)
    if any(is_grounding_reminder(m) for m in state["messages"]):
        return {"exit_reason": ExitReason.LLM_GENERATION_FAILURE}
    return {"messages": [reply, grounding_reminder()]}


def _found_nothing(scope: TurnScope) -> bool:
    """Every retrieval of the turn came back empty, and no other tool gave a passage."""
    memory = scope.memory
    return memory.retrievals > 0 and memory.retrievals == memory.empty_retrievals and not len(scope.sources)


def _sendable(messages: Sequence[AnyMessage]) -> list[AnyMessage]:
    """Without empty replies: providers refuse them."""
    return [m for m in messages if not is_empty_reply(m)]


def is_empty_reply(message: AnyMessage) -> bool:
    """Whether the model returned neither text nor a tool call."""
    return (
        isinstance(message, AIMessage)
        and not message.tool_calls
        and not message.invalid_tool_calls
        and not text_of(message.content).strip()
    )


def _failure(scope: TurnScope, error: Exception) -> ExitReason:
    kind = classify(error)
    _log.warning("model_call_failed", kind=kind.value, exc_info=error)
    if kind is FailureKind.RATE_LIMITED:
        scope.memory.retry_after_s = retry_after_s(error)
        return ExitReason.RATE_LIMITED
    return ExitReason.LLM_ERROR
