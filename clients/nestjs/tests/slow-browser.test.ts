import { once } from "node:events";
import { setTimeout as pause } from "node:timers/promises";
import type { ServerWritableStream } from "@grpc/grpc-js";
import { afterEach, expect, test, vi } from "vitest";
import { Browser } from "./support/browser.js";
import { gatewayOf } from "./support/gateway.js";
import type { TestGateway } from "./support/gateway.js";
import { stalledAnswer } from "./support/stalled-browser.js";
import { WireServer } from "./support/wire-server.js";
import { PATIENT } from "./support/waiting.js";

const MB = 1024 * 1024;
const PIECE = "x".repeat(64 * 1024);
const PIECES = 1024;

let sentBytes = 0;
let cancelled = false;
let server: WireServer;
let gateway: TestGateway;

/** Sends 64 MB of tokens, as fast as they are taken. */
async function talk(call: ServerWritableStream<unknown, object>): Promise<void> {
  call.once("cancelled", () => {
    cancelled = true;
  });
  for (let sequence = 1; sequence <= PIECES && !call.cancelled; sequence += 1) {
    const token = { textId: "a", text: PIECE, firstSequence: sequence };
    sentBytes += PIECE.length;
    if (!call.write({ turnId: "turn", sequence, token })) await once(call, "drain");
  }
  call.write({ turnId: "turn", sequence: PIECES + 1, finalState: { message: "Done." } });
  call.end();
}

async function start(stallMs: number): Promise<void> {
  sentBytes = 0;
  cancelled = false;
  server = await WireServer.start({
    ChatService: {
      chat: (call: ServerWritableStream<unknown, object>) => {
        talk(call).catch(() => undefined);
      },
    },
    MatterService: {
      listMatters: (_call: unknown, answer: (error: null, matters: object) => void) => {
        answer(null, { matters: [] });
      },
    },
  });
  gateway = await gatewayOf(server.url, { stallMs });
}

afterEach(async () => {
  await gateway.close();
  server.close();
});

/** Waits until the service can send no more. */
async function stopped(): Promise<void> {
  for (let before = -1; before < sentBytes;) {
    before = sentBytes;
    await pause(300);
  }
}

test("what a slow browser does not take waits in the service; then it gets all of it", async () => {
  await start(60_000);
  const response = await stalledAnswer(gateway.url);
  await stopped();
  // What the buffers of the system's connections hold on the way, and no more.
  expect(sentBytes).toBeLessThan(24 * MB);
  expect(await new Browser(gateway.url).json("GET", "/matters")).toMatchObject({ matters: [], next_page_token: "" });
  let received = 0;
  let end = "";
  for await (const piece of response as AsyncIterable<Buffer>) {
    received += piece.length;
    end = `${end}${piece.toString()}`.slice(-1_000);
  }
  expect(received).toBeGreaterThan(PIECES * PIECE.length);
  expect(end).toContain(`id: ${PIECES + 1}\nevent: final_state`);
});

test("a browser that takes nothing for too long is cut off, and its call ended", async () => {
  await start(200);
  const response = await stalledAnswer(gateway.url);
  response.on("error", () => undefined);
  await vi.waitFor(() => {
    expect(cancelled).toBe(true);
  }, PATIENT);
  expect(sentBytes).toBeLessThan(24 * MB);
  response.destroy();
});
