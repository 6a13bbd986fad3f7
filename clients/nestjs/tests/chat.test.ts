import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Browser, all, eventsOf, lastEventId } from "./support/browser.js";
import type { Heard } from "./support/browser.js";
import { gatewayOf } from "./support/gateway.js";
import type { TestGateway } from "./support/gateway.js";
import { ASKING, LISTING, Service, script, tokens } from "./support/service.js";
import { textOf, wholeTurn } from "./support/whole-turn.js";

const service = new Service({ turns: { token_interval_s: 0 } });
const HELD = script({ tokens: ["Hi"], hold: true });
let gateway: TestGateway;
let browser: Browser;
let matter_context: { matter_id: string };

beforeAll(async () => {
  await service.start();
  gateway = await gatewayOf(service.url);
  browser = new Browser(gateway.url);
  const { matter } = await browser.json<{ matter: { matter_id: string } }>("POST", "/matters", { name: "Northwind" });
  matter_context = { matter_id: matter.matter_id };
});

afterAll(async () => {
  await gateway.close();
  await service.remove();
});

/** Begins a turn that does not end by itself, and reads its first event. */
async function begun(body: object): Promise<{ turnId: string; leave: () => void }> {
  const leaving = new AbortController();
  const init = { signal: leaving.signal };
  const response = await browser.fetch("POST", "/chat", { message: HELD, matter_context, ...body }, init);
  const events = eventsOf(response);
  await events.next();
  return {
    turnId: response.headers.get("Proviso-Turn-Id") ?? "",
    leave: () => {
      leaving.abort();
    },
  };
}

describe("a turn", () => {
  const spoken = tokens(30);
  let response: Response;
  let events: Heard[];

  beforeAll(async () => {
    const message = script(LISTING, { tokens: spoken, pause_ms: 2 });
    response = await browser.fetch("POST", "/chat", { message, matter_context });
    events = await all(eventsOf(response));
  });

  test("comes as Server-Sent Events whose ids are the sequences", () => {
    expect(response.headers.get("content-type")).toBe("text/event-stream; charset=utf-8");
    expect(wholeTurn(events)).toMatchObject({ message: spoken.join(""), exit_reason: "EXIT_REASON_COMPLETED" });
    expect(textOf(events)).toBe(spoken.join(""));
    expect(events.length).toBeGreaterThan(10);
  });

  test("has its id and the request's in the headers", async () => {
    const turnId = response.headers.get("proviso-turn-id");
    expect(events.every(({ data }) => data.turn_id === turnId)).toBe(true);
    expect(response.headers.get("proviso-request-id")).toMatch(/^[0-9a-f-]{36}$/);
    const turn = await browser.json<Record<string, unknown>>("GET", `/turns/${turnId ?? ""}`);
    expect(turn).toMatchObject({
      turn_id: turnId,
      state: "TURN_STATE_ENDED",
      last_sequence: events.length > 0 && events.at(-1)?.id,
    });
    expect(turn.final_state).toMatchObject({ message: spoken.join("") });
  });

  test("has the contract's names, times in ISO 8601 and durations in milliseconds", () => {
    const ended = events.find(({ event }) => event === "tool_end");
    expect(ended?.data).toMatchObject({ tool: "list_matter_documents", duration_ms: expect.any(Number) as number });
    expect(ended?.data.emit_time).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
    expect(JSON.stringify(events)).not.toMatch(/"(seconds|nanos|\w+[A-Z]\w+)":|:null/);
  });

  test("is told again from any event, by header or by query", async () => {
    const turnId = response.headers.get("proviso-turn-id") ?? "";
    const later = await browser.events("GET", `/turns/${turnId}/events?after=4`);
    expect(later.at(-1)?.id).toBe(events.at(-1)?.id);
    const header = { "Last-Event-ID": String(Number(events.at(-1)?.id) - 1) };
    expect(await browser.events("GET", `/turns/${turnId}/events?after=4`, undefined, header)).toEqual([events.at(-1)]);
  });

  test("is not streamed again to a browser that has its end: 204, at which EventSource stops asking", async () => {
    const turnId = response.headers.get("proviso-turn-id") ?? "";
    const last = events.at(-1)?.id ?? 0;
    const began = Date.now();
    const again = await browser.fetch("GET", `/turns/${turnId}/events`, undefined, { headers: lastEventId(events) });
    expect([again.status, await again.text()]).toEqual([204, ""]);
    expect(Date.now() - began).toBeLessThan(10_000);
    const beyond = await browser.fetch("GET", `/turns/${turnId}/events?after=${last + 1}`);
    expect(await beyond.json()).toMatchObject({ status: 400, violations: [{ field: "after_sequence" }] });
  });
});

describe("a call that a person has to approve", () => {
  const ask = async (decision: string): Promise<Heard[]> => {
    const message = script(LISTING, ASKING, { tokens: ["Done."] });
    const events: Heard[] = [];
    for await (const event of eventsOf(await browser.fetch("POST", "/chat", { message, matter_context }))) {
      events.push(event);
      if (event.event !== "approval_required") continue;
      const { turn_id, call_id } = event.data as { turn_id: string; call_id: string };
      const decided = await browser.fetch("POST", `/turns/${turn_id}/tool-calls/${call_id}/decision`, { decision });
      expect([decided.status, await decided.text()]).toEqual([204, ""]);
    }
    expect(wholeTurn(events)).toMatchObject({ message: "Done.", exit_reason: "EXIT_REASON_COMPLETED" });
    return events.filter(({ event, data }) => event === "tool_end" && data.tool === "isaacus_extract");
  };

  beforeAll(async () => {
    const { matter_id } = matter_context;
    await browser.upload(matter_id, "# Lease\n\nThe rent is USD 500 per month.\n", "lease.md");
    await browser.events("GET", `/matters/${matter_id}/documents/events`); // ends when it is READY
  });

  test("is made when it is approved, in the same stream", async () => {
    expect((await ask("APPROVE_ONCE")).map(({ data }) => data.error)).toEqual([""]);
  });

  test("is not made when it is denied, and the turn goes on", async () => {
    expect((await ask("DENY")).map(({ data }) => data.error)).toEqual([expect.stringContaining("did not approve")]);
  });
});

describe("what a browser leaves out is not sent", () => {
  const SUBJECTS = ["rent", "deposit", "repairs", "insurance", "access", "notices"];
  const duties = SUBJECTS.map((name, number) => `The tenant answers for the ${name} within ${number + 11} days.`);
  const WITHOUT_DELAY =
    "It acts without delay, bears the cost, and tells the landlord in writing what was done. ".repeat(3);
  const GOOD_FAITH = "The parties go about this in good faith, as they have agreed.".repeat(8);
  const sections = duties.map((duty, number) => `## The ${SUBJECTS[number] ?? ""}\n\n${duty} ${GOOD_FAITH}`);
  const leave_out = { tool_output: true, repeated_contexts: true, history: true, told: true, context_items: true };
  let brief: string;
  let turnId: string;

  beforeAll(async () => {
    const { matter } = await browser.json<{ matter: { matter_id: string } }>("POST", "/matters", { name: "Lease" });
    await browser.upload(matter.matter_id, ["# Lease", ...sections].join("\n\n"), "lease.md");
    await browser.events("GET", `/matters/${matter.matter_id}/documents/events`);
    const searches = [0, 2, 4].map((number) => ({
      calls: [{ name: "isaacus_search", args: { query: `${duties[number] ?? ""} ${duties[number + 1] ?? ""}` } }],
    }));
    // Sentences at a time, as the service lets an answer out.
    const answer = { tokens: duties.flatMap((duty) => [`“${duty}”\n\n`, `${WITHOUT_DELAY}\n\n`]), pause_ms: 20 };
    const response = await browser.fetch("POST", "/chat", {
      message: script(...searches, answer),
      matter_context: { matter_id: matter.matter_id },
      options: { leave_out },
    });
    turnId = response.headers.get("proviso-turn-id") ?? "";
    brief = await response.text();
  });

  test("so that an answer of 1,900 characters with citations is below 15 kB", async () => {
    const whole = await (await browser.fetch("GET", `/turns/${turnId}/events`)).text();
    const [sent, all] = [Buffer.byteLength(brief), Buffer.byteLength(whole)];
    expect(sent).toBeLessThan(15_000);
    expect(all).toBeGreaterThan(3 * sent);
    expect(brief.match(/^event: citation$/gm)).toHaveLength(6);
    const { final_state } = await browser.json<{ final_state: Record<string, string> }>("GET", `/turns/${turnId}`);
    expect(final_state.message?.length).toBeGreaterThan(1_800);
  });

  test("when a turn is resumed, too", async () => {
    const left = Object.keys(leave_out).join(",");
    const again = await browser.fetch("GET", `/turns/${turnId}/events?leave_out=${left}`);
    expect(Buffer.byteLength(await again.text())).toBeLessThan(15_000);
    const unknown = await browser.fetch("GET", `/turns/${turnId}/events?leave_out=history,words`);
    expect(await unknown.json()).toMatchObject({ status: 400, violations: [{ field: "leave_out.1" }] });
  });
});

test("text is sent as the model writes it where that is asked for, under the contract's name", async () => {
  const raw = { message: script({ tokens: ["Hi"] }), matter_context, options: { text_release: "TEXT_RELEASE_RAW" } };
  expect(wholeTurn(await browser.events("POST", "/chat", raw))).toMatchObject({ message: "Hi" });
  const unknown = { ...raw, options: { text_release: "SOON" } };
  expect((await browser.fetch("POST", "/chat", unknown)).status).toBe(400);
});

test("an answer is rated, and its message has the rating until that is taken back", async () => {
  const asked = { message: script({ tokens: ["Good day."] }), matter_context, session_id: "rated" };
  const [first] = await browser.events("POST", "/chat", asked);
  const path = `/turns/${String(first?.data.turn_id)}/rating`;
  const rating = { rating: "RATING_DOWN", reason: "RATING_REASON_INCOMPLETE", text: "No date" };
  expect(await browser.json("PUT", path, rating)).toMatchObject({ rating });
  expect(await messagesOf()).toMatchObject([{ role: "MESSAGE_ROLE_USER" }, { rating }]);
  expect(await browser.json("PUT", path, { rating: "RATING_UNSPECIFIED" })).toEqual({});
  expect((await messagesOf())[1]).not.toHaveProperty("rating");
  expect((await browser.fetch("PUT", path, { rating: "UP" })).status).toBe(400);
  expect((await browser.fetch("PUT", "/turns/unknown/rating", rating)).status).toBe(404);

  async function messagesOf(): Promise<object[]> {
    return (await browser.json<{ messages: object[] }>("GET", "/sessions/rated/messages")).messages;
  }
});

test("a browser that goes away detaches from the turn, which goes on", async () => {
  const turn = await begun({ session_id: "left" });
  await service.read();
  turn.leave();
  await service.unread();
  expect(await browser.json("GET", `/turns/${turn.turnId}`)).toMatchObject({ state: "TURN_STATE_RUNNING" });
  expect(await browser.json("GET", "/sessions/left")).toMatchObject({ session: { running_turn_id: turn.turnId } });
  expect(await browser.json("POST", `/turns/${turn.turnId}/cancel`)).toEqual({ cancelled: true });
  const [last] = (await browser.events("GET", `/turns/${turn.turnId}/events`)).slice(-1);
  expect(last?.data).toMatchObject({ exit_reason: "EXIT_REASON_CANCELLED" });
});

test("a turn whose browser asked for it is cancelled when it goes away", async () => {
  const turn = await begun({ on_disconnect: "ON_DISCONNECT_CANCEL" });
  await service.read();
  turn.leave();
  await service.unread();
  const [last] = (await browser.events("GET", `/turns/${turn.turnId}/events`)).slice(-1);
  expect(last?.data).toMatchObject({ exit_reason: "EXIT_REASON_CANCELLED" });
});

test("100 turns stream at the same time, each whole", async () => {
  const ask = async (number: number): Promise<void> => {
    const spoken = tokens(10).map((token) => `${number}:${token}`);
    const message = script(LISTING, { tokens: spoken, pause_ms: 20 });
    const body = { message, matter_context, options: { disable_cache: true } };
    const events = await browser.events("POST", "/chat", body);
    expect(wholeTurn(events).message).toBe(spoken.join(""));
  };
  await Promise.all(Array.from({ length: 100 }, (_, number) => ask(number)));
});

describe("what cannot become a turn is a problem", () => {
  test("of a field, from the gateway for its shape and from the service for its limits", async () => {
    for (const body of [{ message: 3 }, { message: "Hi", session_id: "s".repeat(200) }]) {
      const response = await browser.fetch("POST", "/chat", body);
      expect(response.status).toBe(400);
      expect(response.headers.get("content-type")).toBe("application/problem+json; charset=utf-8");
      const field = "session_id" in body ? "session_id" : "message";
      expect(await response.json()).toMatchObject({
        type: "about:blank",
        title: "Bad Request",
        status: 400,
        reason: "INVALID_REQUEST",
        violations: [{ field, description: expect.any(String) as string }],
        instance: "/chat",
      });
    }
  });

  test("of a name that is not a field, in its place", async () => {
    const response = await browser.fetch("POST", "/chat", { message: "Hi", matter_context: { matter: "x" } });
    const violations = [{ field: "matter_context.matter", description: "There is no such field." }];
    expect(await response.json()).toMatchObject({ status: 400, violations });
  });

  test("of a session that is busy, with the turn to attach to", async () => {
    const turn = await begun({ session_id: "busy" });
    const response = await browser.fetch("POST", "/chat", { message: "Hi", session_id: "busy" });
    expect(response.status).toBe(409);
    expect(await response.json()).toMatchObject({ reason: "SESSION_BUSY", metadata: { turn_id: turn.turnId } });
    await browser.json("POST", `/turns/${turn.turnId}/cancel`);
    turn.leave();
  });

  test("of a turn that is unknown, and of an event id that is none", async () => {
    const unknown = await browser.fetch("GET", "/turns/nowhere/events");
    expect(unknown.status).toBe(404);
    expect(await unknown.json()).toMatchObject({ reason: "TURN_UNKNOWN" });
    const headers = { "Last-Event-ID": "x" };
    const malformed = await browser.fetch("GET", "/turns/nowhere/events", undefined, { headers });
    expect(await malformed.json()).toMatchObject({ status: 400, violations: [{ field: "last-event-id" }] });
  });
});

test("a decision on a call that nobody waits for is a problem, and one that is no decision too", async () => {
  const turn = await begun({});
  const path = `/turns/${turn.turnId}/tool-calls/call/decision`;
  const undecided = await browser.fetch("POST", path, { decision: "APPROVE_ONCE" });
  expect(undecided.status).toBe(412);
  expect(await undecided.json()).toMatchObject({ reason: "TURN_NOT_WAITING" });
  expect((await browser.fetch("POST", path, { decision: "MAYBE" })).status).toBe(400);
  await browser.json("POST", `/turns/${turn.turnId}/cancel`);
  turn.leave();
});
