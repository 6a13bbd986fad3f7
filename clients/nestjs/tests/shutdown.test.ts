import type { ServerWritableStream, sendUnaryData } from "@grpc/grpc-js";
import { expect, test, vi } from "vitest";
import { Browser, all, eventsOf } from "./support/browser.js";
import { gatewayOf } from "./support/gateway.js";
import { WireServer } from "./support/wire-server.js";
import { PATIENT } from "./support/waiting.js";

test("stopping ends the event streams and the calls behind them, and the gateway is gone at once", async () => {
  let ended: () => void = () => undefined;
  const cancelled = new Promise<void>((resolve) => (ended = resolve));
  const server = await WireServer.start({
    ChatService: {
      chat: (call: ServerWritableStream<unknown, object>) => {
        call.once("cancelled", ended);
        call.write({ turnId: "turn", sequence: 1, turnStart: { model: "m" } });
      },
    },
  });
  const gateway = await gatewayOf(server.url);
  const response = await new Browser(gateway.url).fetch("POST", "/chat", { message: "Hi" });
  const events = all(eventsOf(response));
  const began = Date.now();
  await gateway.close();
  expect((await events).map(({ event }) => event)).toEqual(["turn_start"]);
  await cancelled;
  expect(Date.now() - began).toBeLessThan(10_000);
  await expect(new Browser(gateway.url).fetch("GET", "/healthz")).rejects.toThrow();
  server.close();
});

test("stopping waits for the requests that run, and refuses others", async () => {
  let answer: () => void = () => undefined;
  let begun: () => void = () => undefined;
  const called = new Promise<void>((resolve) => {
    begun = resolve;
  });
  const server = await WireServer.start({
    MatterService: {
      listMatters: (_call: unknown, reply: sendUnaryData<object>) => {
        answer = () => {
          reply(null, { matters: [] });
        };
        begun();
      },
    },
  });
  const gateway = await gatewayOf(server.url);
  const browser = new Browser(gateway.url);
  const running = browser.fetch("GET", "/matters");
  await called;
  const stopped = gateway.close();
  await vi.waitFor(async () => {
    expect((await browser.fetch("GET", "/healthz")).status).toBe(503);
  }, PATIENT);
  answer();
  expect((await running).status).toBe(200);
  await stopped;
  await expect(browser.fetch("GET", "/healthz")).rejects.toThrow();
  server.close();
});

test("a port that is in use is told to who starts the gateway", async () => {
  const first = await gatewayOf("127.0.0.1:1");
  await expect(gatewayOf("127.0.0.1:1", { port: Number(new URL(first.url).port) })).rejects.toThrow("EADDRINUSE");
  await first.close();
});

test("a silent stream has comments", async () => {
  const server = await WireServer.start({ ChatService: { chat: () => undefined } });
  const gateway = await gatewayOf(server.url, { keepAliveMs: 20 });
  const response = await new Browser(gateway.url).fetch("POST", "/chat", { message: "Hi" });
  let comments = "";
  for await (const piece of response.body ?? []) {
    comments += new TextDecoder().decode(piece as Uint8Array);
    if (comments.length > 3) break;
  }
  expect(comments).toMatch(/^(:\n\n){2,}$/);
  await gateway.close();
  server.close();
});
