// The service is killed in the middle of three turns, as by a crash of its machine, and started again on its data.
import { afterAll, beforeAll, expect, test } from "vitest";
import { Browser, all, eventsOf, lastEventId } from "./support/browser.js";
import type { Heard } from "./support/browser.js";
import { gatewayOf } from "./support/gateway.js";
import type { TestGateway } from "./support/gateway.js";
import { Gate, LISTING, Service, script, tokens } from "./support/service.js";
import { textOf, wholeTurn } from "./support/whole-turn.js";

/** A turn as far as its browser has heard of it; `rest` has what comes later, until the response ends. */
interface Begun {
  turnId: string;
  events: Heard[];
  rest: AsyncGenerator<Heard>;
}

const spoken = tokens(40);
const gate = new Gate();
const message = script(LISTING, gate.ending(spoken, 5));
// Else the same question would wait for the answer to the first.
const options = { disable_cache: true };
const service = new Service({ turns: { token_interval_s: 0 } });
let gateway: TestGateway;
let browser: Browser;
let matter_context: { matter_id: string };
/** Turns whose browser stayed, came back while the service was away, and asks the same again later. */
let stayed: Begun;
let cameBack: Begun;
let asksAgain: Begun;

beforeAll(async () => {
  await service.start();
  gateway = await gatewayOf(service.url);
  browser = new Browser(gateway.url);
  const { matter } = await browser.json<{ matter: { matter_id: string } }>("POST", "/matters", { name: "Northwind" });
  matter_context = { matter_id: matter.matter_id };
  [stayed, cameBack, asksAgain] = await Promise.all([
    asked({ session_id: "stayed" }),
    asked({}),
    asked({ request_id: "again" }),
  ]);
  for (const { rest } of [cameBack, asksAgain]) await rest.return(undefined);
  await service.end("SIGKILL");
  const path = `/turns/${cameBack.turnId}/events`;
  const later = browser.fetch("GET", path, undefined, { headers: lastEventId(cameBack.events) });
  gate.open();
  await service.start();
  stayed.events.push(...(await all(stayed.rest)));
  cameBack.rest = eventsOf(await later);
});

afterAll(async () => {
  await gateway.close();
  await service.remove();
  gate.remove();
});

/** Asks, and hears the events until ten words of the answer are there. */
async function asked(body: object): Promise<Begun> {
  const response = await browser.fetch("POST", "/chat", { message, matter_context, options, ...body });
  const rest = eventsOf(response);
  const events: Heard[] = [];
  while (!textOf(events).includes("t9 ")) {
    const next = await rest.next();
    if (next.done) throw new Error("the turn has ended");
    events.push(next.value);
  }
  return { turnId: response.headers.get("proviso-turn-id") ?? "", events, rest };
}

/** A whole turn of the id: each sequence once, the text that was cut voided, and then all of the answer. */
function expectWhole(events: readonly Heard[], turnId: string): void {
  const answer = spoken.join("");
  expect(events.map(({ event }) => event)).toContain("text_discarded");
  expect(wholeTurn(events)).toMatchObject({ exit_reason: "EXIT_REASON_COMPLETED", message: answer, turn_id: turnId });
  expect(textOf(events)).toBe(answer);
}

test("a turn goes on in the same stream, with nothing said twice", async () => {
  expectWhole(stayed.events, stayed.turnId);
  expect(await browser.json("GET", "/sessions/stayed")).toMatchObject({ session: { running_turn_id: "" } });
});

test("a browser that comes back while the service is away waits for it, and has the rest", async () => {
  expectWhole([...cameBack.events, ...(await all(cameBack.rest))], cameBack.turnId);
});

test("a browser that asks the same again has the rest of its turn, and begins no other one", async () => {
  const { turnId, events } = asksAgain;
  const body = { message, matter_context, options, request_id: "again" };
  expectWhole([...events, ...(await browser.events("POST", "/chat", body, lastEventId(events)))], turnId);
});

test("a browser that has the final state is not told it again: EventSource, which comes back, stops", async () => {
  const path = `/turns/${stayed.turnId}/events`;
  const again = await browser.fetch("GET", path, undefined, { headers: lastEventId(stayed.events) });
  expect([again.status, await again.text()]).toEqual([204, ""]);
});
