"""Makes the outcome of a turn from its memory, whatever ended the turn."""

from dataclasses import replace

from proviso_service.agent.approvals import refused_calls
from proviso_service.agent.state import TurnMemory
from proviso_service.agent.tool_calls import called_tools, finished_records
from proviso_service.context.citing import with_cited
from proviso_service.context.model import NewSession, RequestContext, is_blank
from proviso_service.turns import (
    ChatMessage,
    ExitCause,
    ExitReason,
    FinalState,
    MessageRole,
    TurnOutcome,
    TurnSummary,
    semantics_of,
)

ANSWERED = frozenset({ExitReason.COMPLETED, ExitReason.MAX_TOOL_CALLS_REACHED})
"""For these exit reasons the final message is the model's answer, or a sentence of the service in its place."""


def make_outcome(
    reason: ExitReason,
    cause: ExitCause | None,
    memory: TurnMemory,
    *,
    turn_id: str,
    new_session: NewSession,
    duration_s: float,
    documents_read: int = 0,
) -> TurnOutcome:
    """The final state of a turn that ended for `reason`, and what its session keeps. A session that does not exist yet
    is made with `new_session`."""
    semantics = semantics_of(reason, cause)
    is_answered = reason in ANSWERED and bool(memory.answer)
    # After a retrieval that found nothing, the model's own words say so.
    is_own = is_answered or (cause is ExitCause.NOTHING_FOUND and bool(memory.answer))
    message = memory.answer if is_own else semantics.text(memory.language, limit=memory.message_limit)
    records = finished_records(memory.tool_call_records)
    request_context = memory.request_context
    if request_context is not None:
        answer = message if is_answered else ""
        called = called_tools(records, refused_calls(memory.decisions))
        request_context = with_cited(request_context, answer, called, memory.items.contents)
    request_context = _with_tokens(request_context, memory.context_tokens)
    own = _own_messages(memory.text, message, request_context, turn_id, is_answered=is_answered)
    summary = TurnSummary(reason, records, memory.meter.usage, duration_s, memory.model, cause)
    asked = _approval_messages(memory, turn_id)
    final_state = FinalState(
        exit_reason=reason,
        retryable=semantics.retryable,
        display_message=semantics.display_message,
        message=message,
        messages=own,
        request_context=request_context,
        citations=memory.citations if is_answered else (),
        usage=summary.usage,
        cycles=memory.cycles,
        tool_calls=memory.tool_calls,
        from_cache=memory.from_cache and is_answered,
        retry_after_s=memory.retry_after_s,
        context_problem=memory.context_problem if reason is ExitReason.COMPLETED else None,
        duration_s=duration_s,
        tool_call_records=records,
        message_truncated=memory.reply_was_cut and is_answered,
        exit_cause=cause,
        omitted_sentences=memory.omitted_sentences if is_answered else 0,
        removed_markup=memory.removed_markup if is_answered else 0,
        history=memory.history,
    )
    return TurnOutcome(
        final_state,
        new_messages=() if reason is ExitReason.EMPTY_INPUT else _kept(own, asked, summary),
        matter_context=memory.matter_context,
        update_matter_context=memory.is_new_matter_context,
        new_session=new_session,
        contents=memory.items.contents if request_context is not None and request_context.payload_sha256 else {},
        documents_read=documents_read,
    )


def _kept(
    own: tuple[ChatMessage, ...], asked: tuple[ChatMessage, ...], summary: TurnSummary
) -> tuple[ChatMessage, ...]:
    """The turn's messages as the session keeps them: what the person wrote, then what persons decided on tool calls,
    then the message that ended the turn, with the summary of the turn. A cancelled turn has no such message."""
    # A message that found no room is kept for the person. In the model's history no later message would fit beside it.
    unsent = summary.exit_reason is ExitReason.MAX_CONTEXT_REACHED
    typed = (replace(message, unsent=unsent) for message in own if message.role is MessageRole.USER)
    ended = (replace(message, turn=summary) for message in own if message.role is not MessageRole.USER)
    return (*typed, *asked, *ended)


def _with_tokens(request_context: RequestContext | None, tokens: int | None) -> RequestContext | None:
    """The request context with the number of tokens of the first payload, where the provider has told it."""
    if request_context is None or tokens is None:
        return request_context
    return replace(request_context, fill=replace(request_context.fill, tokens_used=tokens))


def _approval_messages(memory: TurnMemory, turn_id: str) -> tuple[ChatMessage, ...]:
    """The message that tells what persons decided on tool calls. It stands between the question and the answer; models
    are not shown it."""
    if not memory.approval_notes:
        return ()
    return (ChatMessage(MessageRole.APPROVAL, "\n".join(memory.approval_notes), turn_id=turn_id),)


def _own_messages(
    text: str, message: str, request_context: RequestContext | None, turn_id: str, *, is_answered: bool
) -> tuple[ChatMessage, ...]:
    """The messages that this turn adds to the conversation: the person's message as typed, and the answer or error that
    was displayed."""
    messages = []
    if not is_blank(text):
        messages.append(ChatMessage(MessageRole.USER, text, turn_id=turn_id))
    if not message:
        return tuple(messages)
    if is_answered:
        messages.append(ChatMessage(MessageRole.ASSISTANT, message, request_context, turn_id))
    else:
        messages.append(ChatMessage(MessageRole.ERROR, message, request_context, turn_id))
    return tuple(messages)
