import type { Citation, FinalState, RequestContext, TurnEvent, TurnEventData } from "../../src/core/contract.js";

/** Events of a turn in the order given, sequences from 1. */
export function events(...made: ((sequence: number) => TurnEvent)[]): TurnEvent[] {
  return made.map((make, index) => make(index + 1));
}

type Own<K extends TurnEvent["kind"]> = Omit<TurnEventData[K], "turn_id" | "sequence">;

function of<K extends TurnEvent["kind"]>(kind: K, data: Own<K>): (sequence: number) => TurnEvent {
  return (sequence) => ({ kind, data: { turn_id: "turn-1", sequence, ...data } }) as unknown as TurnEvent;
}

export const CONTEXT: RequestContext = { items: [], omitted: [], assets: [], payload_sha256: "" };

export const start = of("turn_start", { session_id: "s", model: "scripted", request_context: CONTEXT });

export function token(text: string, text_id = "a"): (sequence: number) => TurnEvent {
  return (sequence) => of("token", { text_id, text, first_sequence: sequence })(sequence);
}

export function discarded(text_id: string): (sequence: number) => TurnEvent {
  return of("text_discarded", { text_id, reason: "DISCARD_REASON_NOT_FINAL" });
}

export function toolStart(call_id: string): (sequence: number) => TurnEvent {
  return of("tool_start", { call_id, tool: "isaacus_search", server_name: "proviso", input_json: "{}" });
}

export function toolEnd(call_id: string, more: Partial<Own<"tool_end">> = {}): (sequence: number) => TurnEvent {
  const usual = {
    tool: "isaacus_search",
    output: "found",
    output_json: "",
    truncated: false,
    error: "",
    from_cache: false,
  };
  return of("tool_end", { call_id, ...usual, ...more });
}

export function approval(call_id: string): (sequence: number) => TurnEvent {
  return of("approval_required", { call_id, tool: "isaacus_iql", server_name: "proviso", input_json: "{}" });
}

export function cited(citation: Partial<Citation>): (sequence: number) => TurnEvent {
  return of("citation", citationOf(citation));
}

export function citationOf(citation: Partial<Citation>): Citation {
  const usual = {
    kind: "CITATION_KIND_DOCUMENT" as const,
    number: 1,
    answer_start: 0,
    answer_end: 0,
    matter_id: "m",
    document_id: "d",
    filename: "nda.md",
    start: 0,
    end: 5,
  };
  const none = { page: 0, heading: "", quote: "", permalink: "", call_id: "", name: "", server_name: "" };
  return { ...usual, ...none, ...citation };
}

export function finalState(state: Partial<FinalState> = {}): FinalState {
  return {
    exit_reason: "EXIT_REASON_COMPLETED",
    exit_cause: "EXIT_CAUSE_UNSPECIFIED",
    retryable: "RETRYABLE_NOT_APPLICABLE",
    display_message: true,
    message: "",
    citations: [],
    cycles: 1,
    tool_calls: 0,
    from_cache: false,
    context_problem: "CONTEXT_PROBLEM_UNSPECIFIED",
    tool_call_records: [],
    omitted_sentences: 0,
    message_truncated: false,
    removed_markup: 0,
    ...state,
  };
}

export function end(state: Partial<FinalState> = {}): (sequence: number) => TurnEvent {
  return of("final_state", finalState(state));
}
