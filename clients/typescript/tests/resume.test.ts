import type { INestApplicationContext } from "@nestjs/common";
import { lastValueFrom, take, tap, toArray } from "rxjs";
import { afterAll, afterEach, beforeAll, expect, inject, test } from "vitest";
import { channelOptions, followTurn } from "../src/index.js";
import { Assistant, nestApplication } from "./support/nest.js";
import { Proxy } from "./support/proxy.js";
import { LISTING, script, tokens } from "./support/script.js";
import { wholeTurn } from "./support/sequences.js";

let proxy: Proxy;
let nest: INestApplicationContext;
let assistant: Assistant;
let matterContext: { matterId: string };

beforeAll(async () => {
  proxy = await Proxy.to(() => inject("port"));
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
});

/** Numbers in [0, 1), the same in every run. */
function* seeded(seed: number): Generator<number, never> {
  for (let state = seed; ;) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    yield state / 2 ** 32;
  }
}

test("50 turns cut at random points give every event exactly once", async () => {
  const random = seeded(7);
  const spoken = tokens(30, 200);
  const message = script(LISTING, { tokens: spoken, pause_ms: 1 });
  for (let round = 0; round < 50; round += 1) {
    // Some connections do not get beyond their headers, some not beyond the first event.
    proxy.cutAfter(...[500, 3_000, 6_000].map((most) => Math.floor(random.next().value * most)));
    const request = { message, matterContext, options: { disableCache: true } };
    const asked = assistant.ask(request, { backoff: { firstMs: 10 } });
    const events = await lastValueFrom(asked.pipe(toArray()));
    expect(wholeTurn(events).finalState.message).toBe(spoken.join(""));
    expect(events.findLast((event) => event.kind === "token")?.text).toBe(spoken.join(""));
  }
  expect(proxy.cuts).toBe(3 * 50);
});

test("a connection whose other end vanishes without a word is replaced, and the turn goes on", async () => {
  const watchful = await nestApplication(proxy.url, {
    "grpc.keepalive_time_ms": 500,
    "grpc.keepalive_timeout_ms": 1_000,
  });
  const request = { message: script(LISTING, { tokens: tokens(30), pause_ms: 50 }), matterContext };
  const asked = watchful.get(Assistant).ask(request, { backoff: { maxTries: 1_000 } });
  let hushes = 0;
  const events = await lastValueFrom(
    asked.pipe(
      tap((event) => {
        if (event.kind === "token" && hushes++ === 0) proxy.hushNow();
      }),
      toArray(),
    ),
  );
  expect(wholeTurn(events).finalState.exitReason).toBe("EXIT_REASON_COMPLETED");
  await watchful.close();
});

test("by default it is replaced before the connection's silence would count as a cut", () => {
  expect(channelOptions["grpc.keepalive_time_ms"] + channelOptions["grpc.keepalive_timeout_ms"]).toBeLessThan(45_000);
});

test("a reader that comes back follows the turn from where it was", async () => {
  const asked = assistant.ask({ message: script(LISTING, { tokens: tokens(20), pause_ms: 5 }), matterContext });
  const before = await lastValueFrom(asked.pipe(take(4), toArray()));
  const { turnId = "", sequence = 0 } = before.at(-1) ?? {};
  const followed = followTurn(assistant.chat, { turnId, afterSequence: sequence });
  wholeTurn([...before, ...(await lastValueFrom(followed.pipe(toArray())))]);
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
