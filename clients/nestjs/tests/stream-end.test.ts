import { text } from "node:stream/consumers";
import { setTimeout as pause } from "node:timers/promises";
import type { ServerWritableStream } from "@grpc/grpc-js";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { gatewayOf } from "./support/gateway.js";
import type { TestGateway } from "./support/gateway.js";
import { stalledAnswer } from "./support/stalled-browser.js";
import { PATIENT } from "./support/waiting.js";
import { WireServer } from "./support/wire-server.js";

// More than the buffers of the system's connections hold.
const ANSWER = "x".repeat(14 * 1024 * 1024);

let server: WireServer;
let gateway: TestGateway;

beforeEach(async () => {
  server = await WireServer.start({
    ChatService: {
      chat: (call: ServerWritableStream<unknown, object>) => {
        call.write({ turnId: "turn", sequence: 1, finalState: { message: ANSWER } });
        call.end();
      },
    },
  });
});

afterEach(async () => {
  await gateway.close();
  server.close();
});

test("a browser that takes its time over the end of a stream gets all of it, and no comment behind the end", async () => {
  gateway = await gatewayOf(server.url, { keepAliveMs: 10, stallMs: 60_000 });
  const response = await stalledAnswer(gateway.url);
  await pause(300); // in which many a comment would be due
  const answer = await text(response);
  expect(answer).toContain(ANSWER);
  expect(answer).toMatch(/\}\n\n$/);
});

test("a browser that never takes the end of a stream is cut off", async () => {
  gateway = await gatewayOf(server.url, { stallMs: 100 });
  const response = await stalledAnswer(gateway.url);
  await vi.waitUntil(async () => (await gateway.connections()) === 0, PATIENT);
  await expect(text(response)).rejects.toThrow("aborted");
});
