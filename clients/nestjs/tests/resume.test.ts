import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { Browser, eventsOf, lastEventId } from "./support/browser.js";
import type { Heard } from "./support/browser.js";
import { gatewayOf } from "./support/gateway.js";
import type { TestGateway } from "./support/gateway.js";
import { Gate, LISTING, Proxy, Service, script, tokens } from "./support/service.js";
import { textOf, wholeTurn } from "./support/whole-turn.js";
import { PATIENT } from "./support/waiting.js";

const ROUNDS = 8;
const service = new Service({ turns: { token_interval_s: 0 } });
const spoken = tokens(60);
const message = script(LISTING, { tokens: spoken, pause_ms: 1 });
const options = { disable_cache: true };
let proxy: Proxy;
let gateway: TestGateway;
let browser: Browser;
let matter_context: { matter_id: string };

beforeAll(async () => {
  await service.start();
  proxy = await Proxy.to(() => service.port);
  gateway = await gatewayOf(proxy.url);
  browser = new Browser(gateway.url);
  const { matter } = await browser.json<{ matter: { matter_id: string } }>("POST", "/matters", { name: "Northwind" });
  matter_context = { matter_id: matter.matter_id };
});

afterAll(async () => {
  await gateway.close();
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

/** Asks, is cut off after so many bytes as often as there are numbers, and comes back by `again` until the turn has ended. */
async function cutOff(
  body: object,
  bytes: readonly number[],
  again: (turnId: string, headers: Record<string, string>) => Promise<Response>,
): Promise<Heard[]> {
  const events: Heard[] = [];
  let response = await browser.fetch("POST", "/chat", body);
  const turnId = response.headers.get("proviso-turn-id") ?? "";
  for (const most of [...bytes, Infinity]) {
    for await (const event of eventsOf(response, most)) events.push(event);
    if (most !== Infinity) response = await again(turnId, lastEventId(events));
  }
  return events;
}

test("a browser cut off at random points comes back to the turn's events and has each once", async () => {
  const random = seeded(3);
  for (let round = 0; round < ROUNDS; round += 1) {
    const bytes = [4_000, 3_000].map((most) => Math.floor(random.next().value * most));
    const events = await cutOff({ message, matter_context, options }, bytes, (turnId, headers) =>
      browser.fetch("GET", `/turns/${turnId}/events`, undefined, { headers }),
    );
    expect(wholeTurn(events).message).toBe(spoken.join(""));
    expect(textOf(events)).toBe(spoken.join(""));
  }
});

test("a browser cut off at random points asks the same again and has each event once", async () => {
  const random = seeded(5);
  for (let round = 0; round < ROUNDS; round += 1) {
    const bytes = [4_000, 3_000].map((most) => Math.floor(random.next().value * most));
    const body = { message, matter_context, options, request_id: `round-${round}` };
    const events = await cutOff(body, bytes, (_, headers) => browser.fetch("POST", "/chat", body, { headers }));
    expect(wholeTurn(events).message).toBe(spoken.join(""));
    expect(textOf(events)).toBe(spoken.join(""));
  }
});

test("cuts between gateway and service are not seen by the browser", async () => {
  const random = seeded(7);
  for (let round = 0; round < ROUNDS; round += 1) {
    proxy.cutAfter(...[5_000, 12_000].map((most) => 400 + Math.floor(random.next().value * most)));
    const events = await browser.events("POST", "/chat", { message, matter_context, options });
    expect(wholeTurn(events).message).toBe(spoken.join(""));
    expect(textOf(events)).toBe(spoken.join(""));
  }
  proxy.cutAfter();
  expect(proxy.cuts).toBeGreaterThan(ROUNDS);
});

test("a turn goes on in the same stream when its service is restarted in the middle of it", async () => {
  const gate = new Gate();
  const events: Heard[] = [];
  const body = { message: script(LISTING, gate.ending(spoken)), matter_context, options };
  const response = await browser.fetch("POST", "/chat", body);
  const whole = (async () => {
    for await (const event of eventsOf(response)) events.push(event);
  })();
  await vi.waitFor(() => {
    expect(textOf(events)).toContain("t58 ");
  }, PATIENT);
  await service.end("SIGTERM");
  expect((await browser.fetch("GET", "/readyz")).status).toBe(503);
  gate.open();
  await service.start();
  await whole;
  expect(wholeTurn(events)).toMatchObject({ exit_reason: "EXIT_REASON_COMPLETED", message: spoken.join("") });
  expect(textOf(events)).toBe(spoken.join(""));
  const ready = async (): Promise<void> => {
    expect((await browser.fetch("GET", "/readyz")).status).toBe(200);
  };
  await vi.waitFor(ready, PATIENT);
  gate.remove();
  wholeTurn(await browser.events("POST", "/chat", { message, matter_context }));
});
