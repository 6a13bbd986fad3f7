import type { ServerWritableStream, sendUnaryData } from "@grpc/grpc-js";
import type { EventEmitter } from "node:events";
import { afterAll, beforeAll, beforeEach, expect, test, vi } from "vitest";
import { Browser, eventsOf } from "./support/browser.js";
import { gatewayOf } from "./support/gateway.js";
import type { TestGateway } from "./support/gateway.js";
import { WireServer } from "./support/wire-server.js";
import { PATIENT } from "./support/waiting.js";

let calls: string[] = [];
let ended: string[] = [];
let server: WireServer;
let gateway: TestGateway;
let browser: Browser;

/** Notes that a call has come, and that its caller has left. */
function note(name: string, call: EventEmitter): void {
  calls.push(name);
  call.once("cancelled", () => ended.push(name));
}

beforeAll(async () => {
  server = await WireServer.start({
    ChatService: {
      chat: (call: ServerWritableStream<{ message: string }, object>) => {
        note("chat", call);
        if (call.request.message === "Start") call.write({ turnId: "turn", sequence: 1, turnStart: { model: "m" } });
      },
    },
    ToolService: {
      search: (call: EventEmitter) => {
        note("search", call);
      },
    },
    SessionService: {
      getSession: (call: EventEmitter & { request: { sessionId: string } }, answer: sendUnaryData<object>) => {
        note("getSession", call);
        if (call.request.sessionId === "known") answer(null, { session: { sessionId: "known" } });
      },
      deleteSession: (call: EventEmitter, answer: sendUnaryData<object>) => {
        note("deleteSession", call);
        setTimeout(() => {
          if (!ended.includes("deleteSession")) calls.push("deleted");
          answer(null, {});
        }, 200);
      },
    },
  });
  gateway = await gatewayOf(server.url);
  browser = new Browser(gateway.url);
});

beforeEach(() => {
  calls = [];
  ended = [];
});

afterAll(async () => {
  await gateway.close();
  server.close();
});

/** Asks, and leaves when the service has been called. */
async function askAndLeave(method: string, path: string, body?: object): Promise<void> {
  const leaving = new AbortController();
  const answer = browser.fetch(method, path, body, { signal: leaving.signal });
  answer.catch(() => undefined);
  await vi.waitFor(() => {
    expect(calls.length).toBeGreaterThan(0);
  }, PATIENT);
  leaving.abort();
}

async function leftBehind(...names: string[]): Promise<void> {
  await vi.waitFor(() => {
    expect(ended).toEqual(names);
  }, PATIENT);
}

test("a browser that leaves ahead of its answer ends the call behind it", async () => {
  await askAndLeave("POST", "/matters/m/search", { query: "rent" });
  await leftBehind("search");
});

test("a browser that leaves while its session is looked up begins no turn", async () => {
  await askAndLeave("POST", "/chat", { message: "Hi", session_id: "slow" });
  await leftBehind("getSession");
  expect(calls).toEqual(["getSession"]);
});

test("a browser that leaves ahead of a turn's first event, or behind it, detaches from the turn", async () => {
  await askAndLeave("POST", "/chat", { message: "Wait" });
  await leftBehind("chat");
  const leaving = new AbortController();
  const response = await browser.fetch("POST", "/chat", { message: "Start" }, { signal: leaving.signal });
  await eventsOf(response).next();
  leaving.abort();
  await leftBehind("chat", "chat");
});

test("a deletion that has begun goes through, though its browser leaves", async () => {
  const leaving = new AbortController();
  const answer = browser.fetch("DELETE", "/sessions/known", undefined, { signal: leaving.signal });
  answer.catch(() => undefined);
  await vi.waitFor(() => {
    expect(calls).toEqual(["getSession", "deleteSession"]);
  }, PATIENT);
  leaving.abort();
  await vi.waitFor(() => {
    expect(calls).toEqual(["getSession", "deleteSession", "deleted"]);
  }, PATIENT);
});
