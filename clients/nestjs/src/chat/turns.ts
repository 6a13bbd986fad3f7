import { Inject, Injectable } from "@nestjs/common";
import { agentEvents, followTurn } from "@proviso/client";
import type { AgentEventsOptions, FollowedTurn, Partially, TurnEvent } from "@proviso/client";
import type { ChatRequest } from "@proviso/client/stubs/chat";
import { firstValueFrom, map, switchMap, take, tap } from "rxjs";
import type { Observable } from "rxjs";
import type { Caller } from "../contract/caller.js";
import { Contract } from "../contract/contract.js";
import { Gate } from "../contract/gate.js";
import { ToldEnds } from "./told-ends.js";

/** A service that restarts is waited for: these are about 40 s. */
const BACKOFF = { maxTries: 12 };

/** The events of turns; cuts between gateway and service are resumed here. */
@Injectable()
export class Turns {
  private readonly ends = new ToldEnds();

  constructor(@Inject(Contract) private readonly contract: Contract) {}

  /** Starts a turn, or attaches to the one that the same request_id began. */
  begin(caller: Caller, request: Partially<ChatRequest>, gate: Gate): Observable<TurnEvent> {
    return this.noted(this.attached(caller, request, gate));
  }

  /**
   * Attaches again to the turn that the same request_id began, behind a sequence. The service may join tokens otherwise
   * than it did the first time, so it is the service that has to be asked for what lies behind.
   */
  goOn(caller: Caller, request: Partially<ChatRequest>, afterSequence: number, gate: Gate): Observable<TurnEvent> {
    const { userId = "", options: { leaveOut = {} } = {} } = request;
    return this.attached(caller, request, gate).pipe(
      take(1),
      switchMap(({ turnId }) => this.follow(caller, { turnId, userId, afterSequence, leaveOut }, gate)),
    );
  }

  /** The events of a turn that lie behind a sequence. */
  follow(caller: Caller, turn: Required<FollowedTurn>, gate: Gate): Observable<TurnEvent> {
    return this.noted(followTurn(this.contract.chat, turn, options(caller, gate)));
  }

  /**
   * Whether a turn has ended at a sequence, so that nothing comes behind it. The stored sequence alone does not tell: that
   * of a turn whose service has died is behind its events, and its end is known to who told it. False where the service
   * does not say: what fails here is told, or waited for, by who follows the turn.
   */
  async endedAt(caller: Caller, { turnId, userId, afterSequence }: Required<FollowedTurn>): Promise<boolean> {
    if (afterSequence === 0) return false;
    try {
      const turn = await this.contract.ask(caller, this.contract.chat, "getTurn", { turnId, userId });
      if (turn.state !== "TURN_STATE_ENDED") return false;
      if (this.ends.has(turnId, afterSequence)) return true;
      if (turn.lastSequence !== afterSequence) return false;
      const request = { turnId, userId, afterSequence };
      const behind = this.contract.stream(caller, this.contract.chat, "resumeChat", request, new Gate());
      return await firstValueFrom(behind.pipe(map(() => false)), { defaultValue: true });
    } catch {
      return false;
    }
  }

  private attached(caller: Caller, request: Partially<ChatRequest>, gate: Gate): Observable<TurnEvent> {
    return agentEvents(this.contract.chat, request, options(caller, gate));
  }

  /** What goes to the browser. */
  private noted(events: Observable<TurnEvent>): Observable<TurnEvent> {
    return events.pipe(
      tap(({ kind, turnId, sequence }) => {
        if (kind === "finalState") this.ends.add(turnId, sequence);
      }),
    );
  }
}

function options({ metadata }: Caller, gate: Gate): AgentEventsOptions {
  return { metadata, interceptors: [gate.interceptor], backoff: BACKOFF };
}
