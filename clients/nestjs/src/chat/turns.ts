import { Inject, Injectable } from "@nestjs/common";
import { agentEvents, followTurn } from "@proviso/client";
import type { AgentEventsOptions, Partially, TurnEvent } from "@proviso/client";
import type { ChatRequest } from "@proviso/client/stubs/chat";
import { switchMap, take } from "rxjs";
import type { Observable } from "rxjs";
import type { Caller } from "../contract/caller.js";
import { Contract } from "../contract/contract.js";
import type { Gate } from "../contract/gate.js";

/** A service that restarts is waited for: these are about 40 s. */
const BACKOFF = { maxTries: 12 };

/** The events of turns; cuts between gateway and service are resumed here. */
@Injectable()
export class Turns {
  constructor(@Inject(Contract) private readonly contract: Contract) {}

  /** Starts a turn, or attaches to the one that the same request_id began. */
  begin(caller: Caller, request: Partially<ChatRequest>, gate: Gate): Observable<TurnEvent> {
    return agentEvents(this.contract.chat, request, options(caller, gate));
  }

  /**
   * Attaches again to the turn that the same request_id began, behind a sequence. The service may join tokens otherwise
   * than it did the first time, so it is the service that has to be asked for what lies behind.
   */
  goOn(caller: Caller, request: Partially<ChatRequest>, afterSequence: number, gate: Gate): Observable<TurnEvent> {
    const userId = request.userId ?? "";
    return this.begin(caller, request, gate).pipe(
      take(1),
      switchMap(({ turnId }) => this.follow(caller, { turnId, userId, afterSequence }, gate)),
    );
  }

  /** The events of a turn that lie behind a sequence. */
  follow(
    caller: Caller,
    turn: { turnId: string; userId: string; afterSequence: number },
    gate: Gate,
  ): Observable<TurnEvent> {
    return followTurn(this.contract.chat, turn, options(caller, gate));
  }
}

function options({ metadata }: Caller, gate: Gate): AgentEventsOptions {
  return { metadata, interceptors: [gate.interceptor], backoff: BACKOFF };
}
