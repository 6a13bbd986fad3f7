import type { INestApplicationContext } from "@nestjs/common";
import { firstValueFrom, lastValueFrom, take, tap, toArray } from "rxjs";
import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
import type { TurnEvent } from "../src/index.js";
import { followTurn } from "../src/index.js";
import { Assistant, nestApplication } from "./support/nest.js";
import { Proxy } from "./support/proxy.js";
import { LISTING, script, tokens } from "./support/script.js";
import { wholeTurn } from "./support/sequences.js";
import { Service } from "./support/service.js";

const GRACE_MS = 1_000;
/** For a service that takes its time to start, on a busy machine. */
const PATIENT = { backoff: { maxTries: 60, maxMs: 500 } };

const service = new Service({ turns: { token_interval_s: 0, grace_s: GRACE_MS / 1000 } });
let proxy: Proxy;
let nest: INestApplicationContext;
let assistant: Assistant;
let matterContext: { matterId: string };

beforeAll(async () => {
  await service.start();
  proxy = await Proxy.to(() => service.port);
  nest = await nestApplication(proxy.url, { "grpc.initial_reconnect_backoff_ms": 20 });
  assistant = nest.get(Assistant);
  matterContext = { matterId: await assistant.createMatter() };
});

afterEach(() => {
  proxy.cutAfter();
});

afterAll(async () => {
  await nest.close();
  await proxy.close();
  await service.remove();
});

/** Numbers in [0, 1), the same in every run. */
function* seeded(seed: number): Generator<number, never> {
  for (let state = seed; ;) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    yield state / 2 ** 32;
  }
}

test("50 turns cut at random points give every event exactly once", { timeout: 120_000 }, async () => {
  const random = seeded(7);
  const spoken = tokens(60);
  const message = script(LISTING, { tokens: spoken, pause_ms: 1 });
  for (let round = 0; round < 50; round += 1) {
    // Some connections do not get beyond their headers, some not beyond the first event.
    proxy.cutAfter(...[500, 5_000, 12_000].map((most) => Math.floor(random.next().value * most)));
    const request = { message, matterContext, options: { disableCache: true } };
    const asked = assistant.ask(request, { backoff: { firstMs: 10 } });
    const events = await lastValueFrom(asked.pipe(toArray()));
    expect(wholeTurn(events).finalState.message).toBe(spoken.join(""));
    expect(events.findLast((event) => event.kind === "token")?.text).toBe(spoken.join(""));
  }
  expect(proxy.cuts).toBeGreaterThan(100);
});

test("unsubscribing detaches the reader within a second, and after the grace time the turn is cancelled", async () => {
  let turnId = "";
  const asked = assistant.ask({ message: script({ tokens: ["Hi"], hold: true }), matterContext });
  await firstValueFrom(asked.pipe(tap((event) => (turnId = event.turnId))));
  const left = Date.now();
  await service.readers(0);
  expect(Date.now() - left).toBeLessThan(1_000);
  const { state } = await firstValueFrom(assistant.chat.getTurn({ turnId }));
  expect(state).toBe("TURN_STATE_RUNNING");
  const cancelled = { finalState: { exitReason: "EXIT_REASON_CANCELLED" } };
  const ended = async (): Promise<void> => {
    expect(await firstValueFrom(assistant.chat.getTurn({ turnId }))).toMatchObject(cancelled);
  };
  await vi.waitFor(ended, { timeout: 5 * GRACE_MS });
  expect(Date.now() - left).toBeGreaterThanOrEqual(GRACE_MS);
});

test("a reader that comes back follows the turn from where it was", async () => {
  const asked = assistant.ask({ message: script(LISTING, { tokens: tokens(20), pause_ms: 5 }), matterContext });
  const before = await lastValueFrom(asked.pipe(take(4), toArray()));
  const { turnId = "", sequence = 0 } = before.at(-1) ?? {};
  const followed = followTurn(assistant.chat, { turnId, afterSequence: sequence });
  wholeTurn([...before, ...(await lastValueFrom(followed.pipe(toArray())))]);
});

test("a turn that is under way when the service stops ends in a state that invites another try", async () => {
  const asked = assistant.ask({ message: script({ tokens: ["Hi"], hold: true }), matterContext }, PATIENT);
  const events: TurnEvent[] = [];
  const whole = lastValueFrom(asked.pipe(tap((event) => events.push(event))));
  await vi.waitFor(() => {
    expect(events.at(-1)?.kind).toBe("token");
  });
  await service.end("SIGTERM");
  await service.start();
  await whole;
  expect(wholeTurn(events).finalState).toMatchObject({
    exitReason: "EXIT_REASON_CANCELLED",
    retryable: "RETRYABLE_YES",
  });
});

test("a killed service: its turn ends as the next start says, and a message sent meanwhile is answered", async () => {
  const asked = assistant.ask({ message: script({ tokens: ["Hi"], hold: true }), matterContext }, PATIENT);
  const events: TurnEvent[] = [];
  const whole = lastValueFrom(asked.pipe(tap((event) => events.push(event))));
  await vi.waitFor(() => {
    expect(events.at(-1)?.kind).toBe("token");
  });
  await service.end("SIGKILL");
  const sent = { message: script(LISTING, { tokens: tokens(3) }), matterContext };
  const answered = lastValueFrom(assistant.ask(sent, PATIENT).pipe(toArray()));
  await Promise.all([service.start(), whole, answered]);
  expect(wholeTurn(events).finalState.exitReason).toBe("EXIT_REASON_INTERNAL_ERROR");
  expect(wholeTurn(await answered).finalState.exitReason).toBe("EXIT_REASON_COMPLETED");
});

test("a service that stays away fails the call after the tries allowed, or when no time is left for another", async () => {
  const nowhere = await nestApplication("127.0.0.1:1");
  const lost = nowhere.get(Assistant);
  const tried = lost.ask({ message: "Hi" }, { backoff: { maxTries: 3, firstMs: 1 } });
  await expect(lastValueFrom(tried)).rejects.toMatchObject({ status: "UNAVAILABLE", reason: undefined });
  const late = lost.ask({ message: "Hi" }, { backoff: { firstMs: 400 }, timeoutMs: 150 });
  await expect(lastValueFrom(late)).rejects.toMatchObject({ status: "DEADLINE_EXCEEDED" });
  await nowhere.close();
});
