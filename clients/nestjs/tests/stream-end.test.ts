import { once } from "node:events";
import { request } from "node:http";
import type { IncomingMessage } from "node:http";
import { text } from "node:stream/consumers";
import { setTimeout as pause } from "node:timers/promises";
import type { ServerWritableStream } from "@grpc/grpc-js";
import { afterEach, beforeEach, expect, test } from "vitest";
import { gatewayOf } from "./support/gateway.js";
import type { TestGateway } from "./support/gateway.js";
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

/** A browser that has asked and takes nothing of the answer yet. */
async function asking(): Promise<IncomingMessage> {
  const headers = { "Content-Type": "application/json" };
  const call = request(`${gateway.url}/chat`, { method: "POST", headers });
  call.end(JSON.stringify({ message: "Hi" }));
  const [response] = (await once(call, "response")) as [IncomingMessage];
  return response.pause();
}

test("a browser that takes its time over the end of a stream gets all of it, and no comment behind the end", async () => {
  gateway = await gatewayOf(server.url, { keepAliveMs: 10, stallMs: 60_000 });
  const response = await asking();
  await pause(300); // in which many a comment would be due
  const answer = await text(response);
  expect(answer).toContain(ANSWER);
  expect(answer).toMatch(/\}\n\n$/);
});

test("a browser that never takes the end of a stream is cut off", async () => {
  gateway = await gatewayOf(server.url, { stallMs: 100 });
  const response = await asking();
  await pause(1_500); // the cut is due after a fifteenth of it
  await expect(text(response)).rejects.toThrow("aborted");
});
