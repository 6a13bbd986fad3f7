import { AnswerText } from "./answer-text.js";
import { CodePoints } from "./code-points.js";
import type { Utf16Range } from "./code-points.js";
import { plain, toDate } from "./plain.js";
import type { Plain } from "./plain.js";
import type { AgentEvent, Citation, FinalState } from "./stubs/proviso/v1/chat.js";

/** A citation that can be laid over the answer. */
export type CitedPart = Plain<Citation> & {
  /**
   * The cited part of the answer in UTF-16: `text.slice(start, end)`, of FinalState.message or of the event's text.
   * Undefined in an event that comes ahead of its text; the final state has them all.
   */
  answerUtf16?: Utf16Range;
};

/** How a turn ended. */
export type TurnResult = Omit<Plain<FinalState>, "citations"> & { citations: CitedPart[] };

/** What can happen in a turn; heartbeats are not part of it. */
export type EventKind = Exclude<keyof AgentEvent, "turnId" | "sequence" | "emitTime" | "heartbeat">;

type Contents = { [K in EventKind]: Plain<NonNullable<AgentEvent[K]>> } & {
  citation: CitedPart;
  finalState: TurnResult;
};

interface Common {
  /** The turn. */
  turnId: string;
  /** Position in the turn: what `followTurn` takes to go on behind this event. */
  sequence: number;
  /** When the service emitted it. */
  emitTime: Date;
  /** The answer as far as it stands: all tokens so far that have not been discarded. */
  text: string;
}

/**
 * An event of a turn: `kind` says what happened, the field of that name holds it.
 *
 * Times are Date, durations milliseconds; offsets are code points, and UTF-16 where the name says so.
 */
export type TurnEvent = { [K in EventKind]: Common & { kind: K } & Record<K, Contents[K]> }[EventKind];

const KINDS: readonly EventKind[] = [
  "token",
  "turnStart",
  "textDiscarded",
  "toolStart",
  "toolEnd",
  "citation",
  "approvalRequired",
  "finalState",
];

/** Makes events of what comes off the wire, one turn's in order. */
export class TurnEvents {
  private readonly answer = new AnswerText();

  /** Undefined for a heartbeat, and for what a later version of the contract may send. */
  next(event: AgentEvent): TurnEvent | undefined {
    const kind = KINDS.find((kind) => event[kind] != null);
    if (kind === undefined) return undefined;
    if (event.token) this.answer.add(event.token.textId, event.token.text);
    if (event.textDiscarded) this.answer.discard(event.textDiscarded.textId);
    const text = event.finalState?.message ?? this.answer.text;
    const common = { turnId: event.turnId, sequence: event.sequence, emitTime: toDate(event.emitTime ?? EPOCH), text };
    return { ...common, kind, [kind]: contents(event, text) } as TurnEvent;
  }
}

const EPOCH = { seconds: "0", nanos: 0 };

function contents(event: AgentEvent, text: string): unknown {
  if (event.token) return event.token;
  if (event.citation) return citedPart(event.citation, new CodePoints(text));
  if (event.finalState) return turnResult(event.finalState);
  const { turnStart, textDiscarded, toolStart, toolEnd, approvalRequired } = event;
  return plain(turnStart ?? textDiscarded ?? toolStart ?? toolEnd ?? approvalRequired ?? {});
}

/** The final state, as events, Invoke and GetTurn have it. */
export function turnResult(state: FinalState): TurnResult {
  const message = new CodePoints(state.message);
  return { ...plain(state), citations: state.citations.map((citation) => citedPart(citation, message)) };
}

function citedPart(citation: Citation, answer: CodePoints): CitedPart {
  const known = citation.answerEnd <= answer.length;
  const answerUtf16 = known ? answer.range(citation.answerStart, citation.answerEnd) : undefined;
  return { ...plain(citation), ...(answerUtf16 && { answerUtf16 }) };
}
