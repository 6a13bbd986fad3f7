import type { ChatMessage, FinalState, ToolCallRecord } from "../core/contract.js";
import { millisecondsOf, newTurnView } from "./turn-view.js";
import type { ToolCall, TurnView } from "./turn-view.js";

/** The view of a turn from the message that ended it. Citations come with the final state only: see `withFinalState`. */
export function storedView(message: ChatMessage): TurnView {
  const { turn } = message;
  const end: FinalState = {
    exit_reason: turn?.exit_reason ?? "EXIT_REASON_COMPLETED",
    exit_cause: turn?.exit_cause ?? "EXIT_CAUSE_UNSPECIFIED",
    retryable: "RETRYABLE_NOT_APPLICABLE",
    display_message: true,
    message: message.content,
    citations: [],
    cycles: 0,
    tool_calls: turn?.tool_calls.length ?? 0,
    from_cache: false,
    context_problem: "CONTEXT_PROBLEM_UNSPECIFIED",
    tool_call_records: turn?.tool_calls ?? [],
    omitted_sentences: 0,
    message_truncated: false,
    removed_markup: 0,
  };
  if (turn?.usage) end.usage = turn.usage;
  if (turn?.duration_ms !== undefined) end.duration_ms = turn.duration_ms;
  return {
    ...newTurnView(message.turn_id),
    model: turn?.model ?? "",
    calls: (turn?.tool_calls ?? []).map(recordedCall),
    requestContext: message.request_context,
    end,
    endTime: millisecondsOf(message.create_time),
    rating: message.rating,
  };
}

/** The view with the end that the service has kept, which may be more than a message tells. */
export function withFinalState(view: TurnView, end: FinalState): TurnView {
  return {
    ...view,
    end,
    citations: end.citations,
    approvals: [],
    calls: view.calls.length > 0 ? view.calls : end.tool_call_records.map(recordedCall),
    requestContext: end.request_context ?? view.requestContext,
  };
}

function recordedCall(record: ToolCallRecord): ToolCall {
  return {
    callId: record.call_id,
    tool: record.tool,
    serverName: record.server_name,
    inputJson: record.input_json,
    error: record.error,
    durationMs: record.duration_ms,
    fromCache: record.from_cache,
    isRunning: false,
  };
}
