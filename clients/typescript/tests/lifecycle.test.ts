// What needs a service of its own: limits that are reached, readers that are counted, restarts.
import type { INestApplicationContext } from "@nestjs/common";
import { firstValueFrom, lastValueFrom, tap, toArray } from "rxjs";
import type { Observable } from "rxjs";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { turnResult } from "../src/index.js";
import type { AgentEventsOptions, TurnEvent } from "../src/index.js";
import { failure } from "./support/failure.js";
import { Assistant, nestApplication } from "./support/nest.js";
import { begun } from "./support/running.js";
import { ASKING, HOLDING, LISTING, script, tokens } from "./support/script.js";
import { wholeTurn } from "./support/sequences.js";
import { Service } from "./support/service.js";

const GRACE_MS = 1_000;
/** For a service that takes its time to start, on a busy machine. */
const PATIENT: AgentEventsOptions = { backoff: { maxTries: 10_000, maxMs: 500 } };
const WAITING = { timeout: 120_000 };

const service = new Service({
  server: { max_turns_running: 3 },
  turns: { token_interval_s: 0, grace_s: GRACE_MS / 1000 },
});
let nest: INestApplicationContext;
let assistant: Assistant;
let matterContext: { matterId: string };

beforeAll(async () => {
  await service.start();
  nest = await nestApplication(service.url);
  assistant = nest.get(Assistant);
  matterContext = { matterId: await assistant.createMatter() };
});

afterAll(async () => {
  await nest.close();
  await service.remove();
});

/** Events as they come, and all of them when they have ended. */
interface Reading {
  events: TurnEvent[];
  whole: Promise<TurnEvent[]>;
}

function reading(asked: Observable<TurnEvent>): Reading {
  const events: TurnEvent[] = [];
  const told = asked.pipe(tap((event) => events.push(event)));
  return { events, whole: lastValueFrom(told.pipe(toArray())) };
}

async function until<K extends TurnEvent["kind"]>(
  { events }: Reading,
  kind: K,
): Promise<Extract<TurnEvent, { kind: K }>> {
  return vi.waitFor(() => {
    const found = events.find((event): event is Extract<TurnEvent, { kind: K }> => event.kind === kind);
    if (!found) throw new Error(`no ${kind} so far`);
    return found;
  }, WAITING);
}

test("RESOURCE_EXHAUSTED has the delay after which to try again", async () => {
  const held = { message: HOLDING, matterContext };
  const running = await Promise.all([1, 2, 3].map(() => begun(assistant, held)));
  const error = await failure(lastValueFrom(assistant.ask(held)));
  expect(error).toMatchObject({ status: "RESOURCE_EXHAUSTED", reason: "TOO_BUSY", retryAfterMs: 1000 });
  await Promise.all(running.map((turn) => turn.end()));
});

test("unsubscribing detaches the reader within a second, and after the grace time the turn is cancelled", async () => {
  const tookMs: number[] = [];
  const turnIds: string[] = [];
  await service.unread();
  for (let round = 0; round < 3; round += 1) {
    const running = await begun(assistant, { message: HOLDING, matterContext });
    await service.read();
    const left = Date.now();
    running.leave();
    tookMs.push((await service.unread()) - left);
    turnIds.push(running.turnId);
  }
  // The best of three: a busy machine only ever adds to what it takes.
  expect(Math.min(...tookMs)).toBeLessThan(1_000);
  for (const turnId of turnIds) {
    const ended = await vi.waitFor(async () => {
      const { finalState } = await firstValueFrom(assistant.chat.getTurn({ turnId }));
      if (!finalState) throw new Error("the turn goes on");
      return turnResult(finalState);
    }, WAITING);
    expect(ended.exitReason).toBe("EXIT_REASON_CANCELLED");
    expect(ended.durationMs).toBeGreaterThanOrEqual(GRACE_MS);
  }
});

test("a service restarted in the middle: a turn under way ends, one that waits for a person goes on", async () => {
  const running = reading(assistant.ask({ message: HOLDING, matterContext }, PATIENT));
  const message = script(LISTING, ASKING, { tokens: ["Done."] });
  const request = { message, matterContext, onDisconnect: "ON_DISCONNECT_CONTINUE" } as const;
  const waiting = reading(assistant.ask(request, PATIENT));
  await until(running, "token");
  const asked = await until(waiting, "approvalRequired");
  await service.end("SIGTERM");
  await service.start();
  await vi.waitFor(() => assistant.decide(asked, "TOOL_CALL_DECISION_APPROVE_ONCE"), WAITING);
  expect(wholeTurn(await running.whole).finalState).toMatchObject({
    exitReason: "EXIT_REASON_CANCELLED",
    retryable: "RETRYABLE_YES",
  });
  expect(wholeTurn(await waiting.whole).finalState).toMatchObject({
    exitReason: "EXIT_REASON_COMPLETED",
    message: "Done.",
  });
});

test("a killed service: its turn ends as the next start says, and a message sent meanwhile is answered", async () => {
  const running = reading(assistant.ask({ message: HOLDING, matterContext }, PATIENT));
  await until(running, "token");
  await service.end("SIGKILL");
  const message = script(LISTING, { tokens: tokens(3) });
  const meanwhile = reading(assistant.ask({ message, matterContext }, PATIENT));
  await service.start();
  expect(wholeTurn(await running.whole).finalState.exitReason).toBe("EXIT_REASON_INTERNAL_ERROR");
  expect(wholeTurn(await meanwhile.whole).finalState.exitReason).toBe("EXIT_REASON_COMPLETED");
});
