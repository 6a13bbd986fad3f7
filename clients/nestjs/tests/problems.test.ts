import { create } from "@bufbuild/protobuf";
import type { Metadata, sendUnaryData } from "@grpc/grpc-js";
import { status } from "@grpc/grpc-js";
import { BadRequestSchema, ErrorInfoSchema, RetryInfoSchema } from "@proviso/client/es/errors/details";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { Browser, all, eventsOf } from "./support/browser.js";
import { gatewayOf } from "./support/gateway.js";
import type { TestGateway } from "./support/gateway.js";
import { WireServer, failure } from "./support/wire-server.js";

interface Call {
  metadata: Metadata;
  request: { sessionId: string };
}

interface Stream extends Call {
  emit: (event: "error", error: object) => void;
  write: (message: object) => void;
  end: () => void;
}

const TOKEN = "Bearer right";
const TURN_START = { turnId: "turn", sequence: 1, turnStart: { model: "m" } };
const INFO = create(ErrorInfoSchema, { reason: "TOO_BUSY", domain: "proviso.v1", metadata: { turn_id: "t" } });
const DETAILS = [
  { schema: ErrorInfoSchema, message: INFO },
  { schema: RetryInfoSchema, message: create(RetryInfoSchema, { retryDelay: { seconds: 1n, nanos: 500_000_000 } }) },
  {
    schema: BadRequestSchema,
    message: create(BadRequestSchema, { fieldViolations: [{ field: "message", description: "Too long." }] }),
  },
];

let seen: Metadata[] = [];
let server: WireServer;
let gateway: TestGateway;
let browser: Browser;

/** Refuses every caller without the right credential. */
function admitted(call: Call): Error | undefined {
  seen.push(call.metadata);
  return call.metadata.get("authorization")[0] === TOKEN ? undefined : failure(status.UNAUTHENTICATED);
}

beforeAll(async () => {
  server = await WireServer.start({
    SessionService: {
      // The id of the session says which status the call fails with.
      getSession: (call: Call, answer: sendUnaryData<object>) => {
        const named = status[call.request.sessionId as keyof typeof status] as status | undefined;
        if (named === undefined) answer(admitted(call) ?? null, { session: { sessionId: call.request.sessionId } });
        else answer(failure(named, named === status.RESOURCE_EXHAUSTED ? DETAILS : []));
      },
    },
    ChatService: {
      chat: (call: Stream) => {
        const refused = admitted(call);
        if (refused) {
          call.emit("error", refused);
          return;
        }
        call.write(TURN_START);
        call.emit(
          "error",
          failure(status.NOT_FOUND, [
            {
              schema: ErrorInfoSchema,
              message: create(ErrorInfoSchema, { reason: "TURN_UNKNOWN", domain: "proviso.v1" }),
            },
          ]),
        );
      },
    },
    MatterService: {
      uploadDocument: (call: Call, answer: sendUnaryData<object>) => {
        answer(admitted(call) ?? null, { document: {} });
      },
      watchDocuments: (call: Stream) => {
        const refused = admitted(call);
        if (refused) call.emit("error", refused);
        else call.end();
      },
    },
  });
  gateway = await gatewayOf(server.url, { callTimeoutMs: 3_000 });
  browser = new Browser(gateway.url);
});

afterEach(() => {
  seen = [];
});

afterAll(async () => {
  await gateway.close();
  server.close();
});

test.each([
  ["INVALID_ARGUMENT", 400],
  ["OUT_OF_RANGE", 400],
  ["UNAUTHENTICATED", 401],
  ["PERMISSION_DENIED", 403],
  ["NOT_FOUND", 404],
  ["ALREADY_EXISTS", 409],
  ["ABORTED", 409],
  ["FAILED_PRECONDITION", 412],
  ["RESOURCE_EXHAUSTED", 429],
  ["CANCELLED", 499],
  ["INTERNAL", 500],
  ["UNKNOWN", 500],
  ["DATA_LOSS", 500],
  ["UNIMPLEMENTED", 501],
  ["UNAVAILABLE", 503],
  ["DEADLINE_EXCEEDED", 504],
])("%s is %i", async (name, expected) => {
  const response = await browser.fetch("GET", `/sessions/${name}`);
  expect(response.status).toBe(expected);
  expect(response.headers.get("content-type")).toBe("application/problem+json; charset=utf-8");
  const problem = { type: "about:blank", status: expected, instance: `/sessions/${name}` };
  expect(await response.json()).toMatchObject({ ...problem, title: expect.any(String) as string });
});

test("a problem has all that the service says, and the header Retry-After in whole seconds", async () => {
  const response = await browser.fetch("GET", "/sessions/RESOURCE_EXHAUSTED");
  expect(response.headers.get("retry-after")).toBe("2");
  expect(await response.json()).toEqual({
    type: "about:blank",
    title: "Too Many Requests",
    status: 429,
    detail: "no",
    reason: "TOO_BUSY",
    violations: [{ field: "message", description: "Too long." }],
    retry_after_ms: 1500,
    metadata: { turn_id: "t" },
    instance: "/sessions/RESOURCE_EXHAUSTED",
  });
});

test("a route that there is not, a body that is no JSON and one that is too large are problems", async () => {
  const unknown = await browser.fetch("GET", "/nowhere");
  expect([unknown.status, (await unknown.json()) as object]).toMatchObject([
    404,
    { status: 404, instance: "/nowhere" },
  ]);
  const headers = { "Content-Type": "application/json" };
  const post = { method: "POST", headers };
  expect((await fetch(`${gateway.url}/chat`, { ...post, body: "{" })).status).toBe(400);
  const form = await fetch(`${gateway.url}/chat`, { method: "POST", body: "message=Hi" });
  const violations = [{ field: "body", description: expect.stringContaining("application/json") as string }];
  expect(await form.json()).toMatchObject({ status: 400, violations });
  const large = JSON.stringify({ message: "x".repeat(1024 * 1024) });
  const tooLarge = await fetch(`${gateway.url}/chat`, { ...post, body: large });
  expect([tooLarge.status, (await tooLarge.json()) as object]).toMatchObject([413, { status: 413 }]);
});

test("a caller whom the service does not know is refused on every kind of call", async () => {
  const form = new FormData();
  form.append("file", new Blob(["x"]), "a.txt");
  const upload = { method: "POST", body: form };
  const refused = [
    await browser.fetch("GET", "/sessions/mine"),
    await browser.fetch("POST", "/chat", { message: "Hi" }, { headers: { Authorization: "Bearer wrong" } }),
    await browser.fetch("GET", "/matters/m/documents/events"),
    await fetch(`${gateway.url}/matters/m/documents`, upload),
  ];
  expect(refused.map((response) => response.status)).toEqual([401, 401, 401, 401]);
  expect(refused[0]?.headers.get("www-authenticate")).toBe("Bearer");
  expect(seen).toHaveLength(4);
});

test("the credential and the request's id are passed on", async () => {
  const headers = { Authorization: TOKEN, "X-Request-Id": "request-7" };
  const response = await browser.fetch("GET", "/sessions/mine", undefined, { headers });
  expect(response.status).toBe(200);
  expect(response.headers.get("x-request-id")).toBe("request-7");
  expect(seen.map((metadata) => metadata.get("x-request-id"))).toEqual([["request-7"]]);
});

test("a request without an id, or with one that could forge a line of a log, is given another", async () => {
  for (const id of ["", "a b"]) {
    const response = await browser.fetch("GET", "/healthz", undefined, { headers: { "X-Request-Id": id } });
    expect(response.headers.get("x-request-id")).toMatch(/^[0-9a-f-]{36}$/);
  }
});

test("a request's id that a header cannot tell is refused, and a resumption that does not say of what", async () => {
  for (const request_id of ["läuft", "日本", "a b", "a\r\nSet-Cookie: b"]) {
    const response = await browser.fetch("POST", "/chat", { message: "Hi", request_id });
    expect([response.status, (await response.json()) as object], request_id).toMatchObject([
      400,
      { violations: [{ field: "request_id" }] },
    ]);
  }
  const headers = { "Last-Event-ID": "3" };
  const unnamed = await browser.fetch("POST", "/chat", { message: "Hi" }, { headers });
  expect(await unnamed.json()).toMatchObject({ status: 400, violations: [{ field: "request_id" }] });
  expect(seen).toEqual([]);
});

test("a failure after the stream has begun is an event, the last", async () => {
  const response = await browser.fetch("POST", "/chat", { message: "Hi" }, { headers: { Authorization: TOKEN } });
  const events = await all(eventsOf(response));
  expect(events.map(({ event }) => event)).toEqual(["turn_start", "error"]);
  expect(events.at(-1)?.data).toMatchObject({ status: 404, reason: "TURN_UNKNOWN", instance: "/chat" });
});

test("a service that cannot be reached is a problem that tells nothing of where it is", async () => {
  const lost = await gatewayOf("127.0.0.1:1");
  const response = await new Browser(lost.url).fetch("GET", "/matters");
  expect([response.status, (await response.text()).includes("127.0.0.1")]).toEqual([503, false]);
  expect((await new Browser(lost.url).fetch("GET", "/readyz")).status).toBe(503);
  expect((await new Browser(lost.url).fetch("GET", "/healthz")).status).toBe(200);
  await lost.close();
});
