import { randomUUID } from "node:crypto";
import {
  EmptyError,
  TimeoutError,
  catchError,
  concat,
  defer,
  filter,
  map,
  mergeMap,
  of,
  retry,
  takeWhile,
  tap,
  throwError,
  throwIfEmpty,
  timeout,
  timer,
} from "rxjs";
import type { Observable } from "rxjs";
import { waitBefore } from "./backoff.js";
import type { Backoff } from "./backoff.js";
import type { Partially } from "./client.js";
import { ProvisoError } from "./errors.js";
import { statusCode } from "./status.js";
import type { AgentEvent, ChatRequest, GetTurnResponse, LeaveOut } from "./stubs/proviso/v1/chat.js";
import { TurnCalls } from "./turn-calls.js";
import type { CallSettings, ChatCalls } from "./turn-calls.js";
import { TurnEvents } from "./turn-event.js";
import type { TurnEvent } from "./turn-event.js";

/** How a turn is followed. */
export interface AgentEventsOptions extends CallSettings {
  /** The caller's patience for the whole turn, in milliseconds; then DEADLINE_EXCEEDED. No limit when absent. */
  timeoutMs?: number;
  /**
   * Silence after which a connection counts as cut, in milliseconds: more than the service's heartbeat, which comes every
   * 15 s; 45,000 when absent.
   */
  silenceMs?: number;
  /** Waits between tries. */
  backoff?: Backoff;
}

/** A turn that runs, or has run, and what the caller has of it. */
export interface FollowedTurn {
  turnId: string;
  /** The last sequence seen; all events when absent. */
  afterSequence?: number;
  /** The user, where the caller's credential does not say it. */
  userId?: string;
  /** What of the events is not sent to this caller. */
  leaveOut?: Partially<LeaveOut>;
}

/**
 * Runs a turn and gives its events, each once and in order; completes with the final state, which is the last.
 *
 * A connection that is cut, a service that is not reachable for a moment or restarts, is resumed from the last event.
 * Fails with a ProvisoError where the turn could not begin, where the service stays away, and at the caller's deadline.
 * Unsubscribing ends the call; `on_disconnect` of the request says what becomes of the turn.
 *
 * The request is given a request_id where it has none, so that no try starts a second turn: who subscribes again attaches
 * to the turn that has begun, from its first event.
 */
export function agentEvents(
  client: ChatCalls,
  request: Partially<ChatRequest>,
  options: AgentEventsOptions = {},
): Observable<TurnEvent> {
  const safe = request.requestId ? request : { ...request, requestId: randomUUID() };
  const { userId = "", options: { leaveOut } = {} } = request;
  return defer(() => new TurnReader(client, { userId, ...(leaveOut && { leaveOut }) }, options, safe).events());
}

/**
 * Follows a turn that another call has begun, as `agentEvents` does: after SESSION_BUSY, or when its reader comes back.
 * The text of events is that of the events followed, so `afterSequence` above 0 is for who keeps the text itself.
 */
export function followTurn(
  client: ChatCalls,
  turn: FollowedTurn,
  options: AgentEventsOptions = {},
): Observable<TurnEvent> {
  return defer(() => new TurnReader(client, turn, options).events());
}

/** One subscription: where it is in the turn, and the way back to there. */
class TurnReader {
  private readonly calls: TurnCalls;
  private readonly deadline: Date | undefined;
  private readonly userId: string;
  private readonly leaveOut: Partially<LeaveOut>;
  private turnId: string;
  private lastSequence: number;

  constructor(
    client: ChatCalls,
    turn: Partial<FollowedTurn>,
    private readonly options: AgentEventsOptions,
    private readonly request?: Partially<ChatRequest>,
  ) {
    this.deadline = options.timeoutMs === undefined ? undefined : new Date(Date.now() + options.timeoutMs);
    this.calls = new TurnCalls(client, options, this.deadline, request);
    this.turnId = turn.turnId ?? "";
    this.lastSequence = turn.afterSequence ?? 0;
    this.userId = turn.userId ?? "";
    this.leaveOut = turn.leaveOut ?? {};
  }

  events(): Observable<TurnEvent> {
    const view = new TurnEvents();
    return defer(() => this.open()).pipe(
      timeout({ each: this.options.silenceMs ?? 45_000 }),
      untilFinalState,
      retry({ delay: (error: unknown, tries: number) => this.wayBack(error, tries), resetOnSuccess: true }),
      // The final state comes again where the caller has all the events.
      filter((event) => event.sequence > this.lastSequence || event.finalState != null),
      tap((event) => {
        this.turnId = event.turnId;
        this.lastSequence = event.sequence;
      }),
      map((event) => view.next(event)),
      filter((event) => event !== undefined),
      catchError((error: unknown) => throwError(() => typed(error))),
    );
  }

  /** The events behind the last one: of a new turn, or of the one whose id is known. */
  private open(): Observable<AgentEvent> {
    return this.call().pipe(catchError((error: unknown) => this.storedEnd(error)));
  }

  private call(): Observable<AgentEvent> {
    if (this.turnId === "" && this.request) {
      return this.calls.chat(this.request, (turnId) => {
        this.turnId = turnId;
      });
    }
    const { turnId, lastSequence: afterSequence, userId, leaveOut } = this;
    return this.calls.resume({ turnId, afterSequence, userId, leaveOut }).pipe(throwIfEmpty());
  }

  /** Where there is nothing left but the final state: the service keeps it longer than events, or the caller has those. */
  private storedEnd(error: unknown): Observable<AgentEvent> {
    const isEmpty = error instanceof EmptyError;
    const isExpired = this.turnId !== "" && ProvisoError.from(error).reason === "TURN_EXPIRED";
    if (!isEmpty && !isExpired) return throwError(() => error);
    return this.calls.get({ turnId: this.turnId, userId: this.userId }).pipe(
      mergeMap((turn) => {
        if (!turn.finalState || (isEmpty && turn.lastSequence > this.lastSequence)) return throwError(cut);
        return of(isEmpty ? eventOf(turn, turn.lastSequence) : this.endOf(turn));
      }),
    );
  }

  /** The final state as an event: behind all that the caller has, also where the service died before it had counted those. */
  private endOf(turn: GetTurnResponse): AgentEvent {
    return eventOf(turn, Math.max(turn.lastSequence, this.lastSequence + 1));
  }

  /** Emits when it is time for the next try; fails where there is none. */
  private wayBack(error: unknown, tries: number): Observable<unknown> {
    const failure = typed(error);
    const wait = !isLocal(error) && this.mayPass(failure) ? waitBefore(tries, this.options.backoff ?? {}) : undefined;
    if (wait === undefined) return throwError(() => failure);
    const waitMs = Math.max(wait, failure.retryAfterMs ?? 0);
    if (this.deadline && Date.now() + waitMs >= this.deadline.getTime()) return throwError(() => tooLate(failure));
    return timer(waitMs);
  }

  /**
   * Whether the same call can go through later. The service gives the reason of what it refuses, a cut has none; before
   * the turn has begun the request itself may be at fault, so only what is plainly a matter of reaching the service, or of its being busy, counts.
   */
  private mayPass(failure: ProvisoError): boolean {
    const begun = this.turnId !== "";
    if (failure.status === "UNAVAILABLE") return true;
    if (failure.reason !== undefined) return failure.reason === "TOO_BUSY";
    return OF_STREAMS.has(failure.status) || (begun && OF_CONNECTIONS.has(failure.status));
  }
}

/**
 * What a server that stops, or a proxy that allows a stream so much time, says of a call. The caller's own deadline says
 * the same, but leaves no time for another try.
 */
const OF_STREAMS: ReadonlySet<string> = new Set(["CANCELLED", "DEADLINE_EXCEEDED"]);

/** What a broken connection, but also a request that cannot be sent, makes of a call. */
const OF_CONNECTIONS: ReadonlySet<string> = new Set(["UNKNOWN", "INTERNAL"]);

/**
 * Whether the failure was made in this process, where another try would only make it again: an exception, as of an
 * interceptor, or a message that grpc-js cannot write or read, which it tells as INTERNAL, by these words alone.
 */
function isLocal(error: unknown): boolean {
  if (error instanceof ProvisoError || error instanceof TimeoutError) return false;
  const { code, details } = Object(error) as { code?: unknown; details?: unknown };
  return typeof code !== "number" || /^(Request|Response) message (serialization|parsing) /.test(String(details));
}

function eventOf({ turnId, finalState }: GetTurnResponse, sequence: number): AgentEvent {
  return { turnId, sequence, emitTime: { seconds: String(Math.floor(Date.now() / 1000)), nanos: 0 }, finalState };
}

/** Ends with the final state; a stream that ends without one was cut. */
function untilFinalState(events: Observable<AgentEvent>): Observable<AgentEvent> {
  return concat(events, throwError(cut)).pipe(takeWhile((event) => event.finalState == null, true));
}

function typed(error: unknown): ProvisoError {
  return error instanceof TimeoutError ? cut() : ProvisoError.from(error);
}

function cut(): ProvisoError {
  return new ProvisoError(statusCode("UNAVAILABLE"), "The connection was cut before the turn's final state");
}

function tooLate(failure: ProvisoError): ProvisoError {
  if (failure.status === "DEADLINE_EXCEEDED") return failure;
  const message = `The deadline leaves no time for another try after: ${failure.message}`;
  return new ProvisoError(statusCode("DEADLINE_EXCEEDED"), message, {}, { cause: failure });
}
