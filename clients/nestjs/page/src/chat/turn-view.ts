import type {
  AnswerRating,
  ApprovalRequired,
  Citation,
  FinalState,
  RequestContext,
  Turn,
  TurnEvent,
} from "../core/contract.js";

/** A tool call as the person sees it. */
export interface ToolCall {
  callId: string;
  tool: string;
  serverName: string;
  inputJson: string;
  error: string;
  durationMs: number | undefined;
  fromCache: boolean;
  isRunning: boolean;
}

/** A decision that is waited for. */
export interface Approval extends ApprovalRequired {
  /** Position of the event that asked. */
  sequence: number;
}

/** A turn as far as its events tell. */
export interface TurnView {
  turnId: string;
  lastSequence: number;
  model: string;
  texts: readonly { id: string; text: string }[];
  calls: readonly ToolCall[];
  approvals: readonly Approval[];
  citations: readonly Citation[];
  requestContext: RequestContext | undefined;
  end: FinalState | undefined;
  /** When it ended, in milliseconds since the epoch; undefined while it runs, and where that is not known. */
  endTime: number | undefined;
  /** What the person said of the answer. */
  rating: AnswerRating | undefined;
}

export function newTurnView(turnId = ""): TurnView {
  return {
    turnId,
    lastSequence: 0,
    model: "",
    texts: [],
    calls: [],
    approvals: [],
    citations: [],
    requestContext: undefined,
    end: undefined,
    endTime: undefined,
    rating: undefined,
  };
}

/** The answer as far as it stands: tokens that were not discarded, or what the end put in their place. */
export function answerText({ texts, end }: TurnView): string {
  if (end) return end.display_message ? end.message : "";
  return texts.map(({ text }) => text).join("");
}

/**
 * The view after an event. An event that was there before changes nothing; the end, which may be all that is left of the
 * turn, is new whatever its sequence.
 */
export function withEvent(view: TurnView, event: TurnEvent): TurnView {
  const { turn_id: turnId, sequence } = event.data;
  if (view.end || (sequence <= view.lastSequence && event.kind !== "final_state")) return view;
  return { ...view, turnId, lastSequence: sequence, ...changes(view, event) };
}

/** The view without approvals that the turn, as it was read meanwhile, no longer waits for. */
export function withPending(view: TurnView, turn: Turn): TurnView {
  const waiting = new Set(turn.pending_approvals.map(({ call_id }) => call_id));
  const approvals = view.approvals.filter(
    ({ call_id, sequence }) => sequence > turn.last_sequence || waiting.has(call_id),
  );
  return approvals.length === view.approvals.length ? view : { ...view, approvals };
}

/** The view without an approval that was decided here. */
export function withDecided(view: TurnView, callId: string): TurnView {
  return { ...view, approvals: view.approvals.filter(({ call_id }) => call_id !== callId) };
}

function changes(view: TurnView, { kind, data }: TurnEvent): Partial<TurnView> {
  switch (kind) {
    case "turn_start":
      return { model: data.model, requestContext: data.request_context };
    case "token":
      return { texts: withToken(view.texts, data.text_id, data.text) };
    case "text_discarded":
      return { texts: view.texts.filter(({ id }) => id !== data.text_id) };
    case "tool_start":
      return {
        calls: [...view.calls.filter(({ callId }) => callId !== data.call_id), startedCall(data)],
        approvals: view.approvals.filter(({ call_id }) => call_id !== data.call_id),
      };
    case "tool_end":
      return { calls: view.calls.map((call) => (call.callId === data.call_id ? endedCall(call, data) : call)) };
    case "citation":
      return { citations: [...view.citations, data] };
    case "approval_required":
      return { approvals: [...view.approvals, data] };
    case "final_state":
      return endOf(view, data);
  }
}

function withToken(texts: TurnView["texts"], id: string, text: string): TurnView["texts"] {
  if (!texts.some((known) => known.id === id)) return [...texts, { id, text }];
  return texts.map((known) => (known.id === id ? { id, text: known.text + text } : known));
}

type EventData<K extends TurnEvent["kind"]> = Extract<TurnEvent, { kind: K }>["data"];

function startedCall(data: EventData<"tool_start">): ToolCall {
  return {
    callId: data.call_id,
    tool: data.tool,
    serverName: data.server_name,
    inputJson: data.input_json,
    error: "",
    durationMs: undefined,
    fromCache: false,
    isRunning: true,
  };
}

function endedCall(call: ToolCall, data: EventData<"tool_end">): ToolCall {
  const { error, duration_ms: durationMs, from_cache: fromCache } = data;
  return { ...call, error, durationMs, fromCache, isRunning: false };
}

function endOf(view: TurnView, end: EventData<"final_state">): Partial<TurnView> {
  return {
    end,
    endTime: millisecondsOf(end.emit_time),
    approvals: [],
    // The end leaves out what the events before it have told.
    citations: end.citations.length > 0 ? end.citations : view.citations,
    requestContext: end.request_context ?? view.requestContext,
    // A call that was cut short with its turn does not run any more.
    calls: view.calls.map((call) => (call.isRunning ? { ...call, isRunning: false } : call)),
  };
}

/** A time of the contract in milliseconds since the epoch. */
export function millisecondsOf(time: string | undefined): number | undefined {
  return time === undefined ? undefined : Date.parse(time);
}
