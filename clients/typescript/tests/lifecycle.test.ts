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
import { ASKING, Gate, HOLDING, LISTING, script, tokens } from "./support/script.js";
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

test("RESOURCE_EXHAUSTED has the delay after which to try again, and a turn is asked for again then", async () => {
  const held = { message: HOLDING, matterContext };
  const running = await Promise.all([1, 2, 3].map(() => begun(assistant, held)));
  const patient = reading(assistant.ask({ message: script(LISTING, { tokens: tokens(3) }), matterContext }));
  const error = await failure(lastValueFrom(assistant.ask(held, { backoff: { maxTries: 0 } })));
  expect(error).toMatchObject({ status: "RESOURCE_EXHAUSTED", reason: "TOO_BUSY" });
  expect(error.retryAfterMs).toBeGreaterThanOrEqual(1_000);
  // The patient one, who asked before, was refused before.
  await Promise.all(running.map((turn) => turn.end()));
  expect(wholeTurn(await patient.whole).finalState.exitReason).toBe("EXIT_REASON_COMPLETED");
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

/** A turn whose answer ends when the gate is open, read until all before that is there. */
async function gated(gate: Gate): Promise<Reading> {
  const message = script(LISTING, gate.ending(tokens(5)));
  const running = reading(assistant.ask({ message, matterContext, options: { disableCache: true } }, PATIENT));
  await vi.waitFor(() => {
    expect(running.events.some((event) => event.kind === "token" && event.token.text.includes("t3 "))).toBe(true);
  }, WAITING);
  return running;
}

/** The turn has gone on: each sequence was there once, the text that was cut is voided, and the answer is whole. */
async function expectWhole(running: Reading): Promise<void> {
  const events = await running.whole;
  expect(wholeTurn(events).finalState).toMatchObject({
    exitReason: "EXIT_REASON_COMPLETED",
    message: tokens(5).join(""),
  });
  expect(events.some(({ kind }) => kind === "textDiscarded")).toBe(true);
}

test("a service restarted in the middle: a turn under way goes on, as does one that waits for a person", async () => {
  const gate = new Gate();
  const running = await gated(gate);
  const message = script(LISTING, ASKING, { tokens: ["Done."] });
  const request = { message, matterContext, onDisconnect: "ON_DISCONNECT_CONTINUE" } as const;
  const waiting = reading(assistant.ask(request, PATIENT));
  const asked = await until(waiting, "approvalRequired");
  await service.end("SIGTERM");
  gate.open();
  await service.start();
  await vi.waitFor(() => assistant.decide(asked, "TOOL_CALL_DECISION_APPROVE_ONCE"), WAITING);
  await expectWhole(running);
  gate.remove();
  expect(wholeTurn(await waiting.whole).finalState).toMatchObject({
    exitReason: "EXIT_REASON_COMPLETED",
    message: "Done.",
  });
});

test("a killed service: its turn goes on with the next start, and a message sent meanwhile is answered", async () => {
  const gate = new Gate();
  const running = await gated(gate);
  await service.end("SIGKILL");
  const message = script(LISTING, { tokens: tokens(3) });
  const meanwhile = reading(assistant.ask({ message, matterContext }, PATIENT));
  gate.open();
  await service.start();
  await expectWhole(running);
  gate.remove();
  expect(wholeTurn(await meanwhile.whole).finalState.exitReason).toBe("EXIT_REASON_COMPLETED");
});
