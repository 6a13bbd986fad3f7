import { ApiError, api, pathOf, withQuery } from "../core/api.js";
import type { Problem } from "../core/api.js";
import { pause, waitBefore } from "../core/backoff.js";
import type { MatterContext, Turn, TurnEvent } from "../core/contract.js";
import { serverEvents } from "../core/event-stream.js";
import type { StreamRequest } from "../core/event-stream.js";
import type { ServerEvent } from "../core/sse-parser.js";

/** What is asked; `request_id` makes a second try safe. */
export interface ChatRequest {
  message: string;
  session_id: string;
  request_id: string;
  matter_context?: MatterContext;
  on_disconnect: "ON_DISCONNECT_CONTINUE";
}

/** What is not sent with the events: the page reads it when somebody wants to see it. */
export const LEFT_OUT = ["tool_output", "repeated_contexts", "history", "told", "context_items"] as const;

/** A turn to begin, or one that runs. */
export type TurnSource = { request: ChatRequest } | { turnId: string };

/** Hears what becomes of the turn. */
export interface TurnListener {
  /** Each event once, in order; the last one is a final_state. */
  event: (event: TurnEvent) => void;
  /** The connection stands, or is cut and being made again. */
  connected: (isConnected: boolean) => void;
}

/** Tries before the person is told that a question cannot be sent; a turn that has begun is looked for much longer. */
const TRIES_TO_BEGIN = 4;
const TRIES_TO_RESUME = 100;

/**
 * Follows a turn to its end, through cut connections: later ones go on behind the last event. Returns at the end and when
 * aborted. Throws ApiError where the turn could not begin, cannot be found, or the gateway stays away.
 */
export async function followTurn(
  source: TurnSource,
  listener: TurnListener,
  signal: AbortSignal,
  wait: typeof pause = pause,
): Promise<void> {
  const reader = new TurnReader(source, listener, signal);
  let failures = 0;
  while (!signal.aborted) {
    const before = reader.lastSequence;
    const failure = await reader.read();
    if (!failure) return;
    failures = reader.lastSequence > before ? 1 : failures + 1;
    if (!reader.mayPass(failure, failures)) throw failure;
    listener.connected(false);
    await wait(Math.max(waitBefore(failures), failure.problem.retry_after_ms ?? 0), signal);
  }
}

class TurnReader {
  lastSequence = 0;
  private turnId: string | undefined;
  private hasEnded = false;

  constructor(
    private readonly source: TurnSource,
    private readonly listener: TurnListener,
    private readonly signal: AbortSignal,
  ) {
    this.turnId = "turnId" in source ? source.turnId : undefined;
  }

  /** Reads until the turn's end, or until aborted; answers what went wrong before. */
  async read(): Promise<ApiError | undefined> {
    try {
      const opened = (response: Response): void => {
        this.turnId ??= response.headers.get("Proviso-Turn-Id") ?? undefined;
        this.listener.connected(true);
      };
      for await (const event of serverEvents(this.request(), this.signal, opened)) this.give(turnEventOf(event));
    } catch (error) {
      return await this.storedEnd(ApiError.from(error));
    }
    return this.hasEnded || this.signal.aborted ? undefined : new ApiError(CUT);
  }

  mayPass({ status, reason }: ApiError, failures: number): boolean {
    if (failures > (this.turnId === undefined ? TRIES_TO_BEGIN : TRIES_TO_RESUME)) return false;
    return status === 0 || status === 502 || status === 503 || status === 504 || reason === "TOO_BUSY";
  }

  private request(): StreamRequest {
    const after = { "Last-Event-ID": String(this.lastSequence) };
    if (this.turnId !== undefined) {
      const url = withQuery(pathOf("turns", this.turnId, "events"), { leave_out: LEFT_OUT.join(",") });
      return { url, headers: after };
    }
    const options = { leave_out: Object.fromEntries(LEFT_OUT.map((name) => [name, true])) };
    return { url: "/chat", body: "request" in this.source ? { ...this.source.request, options } : undefined };
  }

  private give(event: TurnEvent): void {
    // A final state is whole in itself, and may be all that is left of the turn.
    if (this.hasEnded || (event.kind !== "final_state" && event.data.sequence <= this.lastSequence)) return;
    this.lastSequence = event.data.sequence;
    this.turnId = event.data.turn_id;
    this.hasEnded = event.kind === "final_state";
    this.listener.event(event);
  }

  /** The service keeps the final state of a turn longer than its events. */
  private async storedEnd(failure: ApiError): Promise<ApiError | undefined> {
    if (this.turnId === undefined || failure.reason !== "TURN_EXPIRED") return failure;
    try {
      const turn = await api.get<Turn>(pathOf("turns", this.turnId), { signal: this.signal });
      if (!turn.final_state) return failure;
      const sequence = Math.max(turn.last_sequence, this.lastSequence + 1);
      this.give({ kind: "final_state", data: { turn_id: turn.turn_id, sequence, ...turn.final_state } });
      return undefined;
    } catch (error) {
      return this.signal.aborted ? undefined : ApiError.from(error);
    }
  }
}

/** The turn's event that a message holds. Throws ApiError where it tells a failure. */
export function turnEventOf(message: ServerEvent): TurnEvent {
  const data = JSON.parse(message.data) as unknown;
  if (message.event === "error") throw new ApiError(data as Problem);
  return { kind: message.event, data } as TurnEvent;
}

const CUT: Problem = { title: "The connection was cut before the answer was complete.", status: 0 };
