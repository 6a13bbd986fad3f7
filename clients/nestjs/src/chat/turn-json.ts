import type { TurnEvent } from "@proviso/client";
import { plainToJson } from "../contract/json.js";
import type { ServerSentEvent } from "../http/event-stream.js";

const NAMES = {
  turnStart: "turn_start",
  token: "token",
  textDiscarded: "text_discarded",
  toolStart: "tool_start",
  toolEnd: "tool_end",
  citation: "citation",
  approvalRequired: "approval_required",
  finalState: "final_state",
} as const satisfies Record<TurnEvent["kind"], string>;

/** A turn's event as Server-Sent Events have it; what happened stands beside what all events have. */
export function turnEvent(event: TurnEvent): ServerSentEvent {
  const { turnId, sequence, emitTime } = event;
  const data = plainToJson({ turnId, sequence, emitTime, ...contents(event) });
  return { id: sequence, event: NAMES[event.kind], data };
}

/**
 * An event of a turn that is read from its middle. The text ahead of it is not known here, so the place of a citation in
 * UTF-16 is left to the final state.
 */
export function laterTurnEvent(event: TurnEvent): ServerSentEvent {
  if (event.kind !== "citation") return turnEvent(event);
  const citation = { ...event.citation };
  delete citation.answerUtf16;
  return turnEvent({ ...event, citation });
}

function contents(event: TurnEvent): object {
  switch (event.kind) {
    case "turnStart":
      return event.turnStart;
    case "token":
      return event.token;
    case "textDiscarded":
      return event.textDiscarded;
    case "toolStart":
      return event.toolStart;
    case "toolEnd":
      return event.toolEnd;
    case "citation":
      return event.citation;
    case "approvalRequired":
      return event.approvalRequired;
    case "finalState":
      return event.finalState;
  }
}
