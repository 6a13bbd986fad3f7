import type { ServerWritableStream } from "@grpc/grpc-js";
import { expect, test } from "vitest";
import { Browser } from "./support/browser.js";
import { gatewayOf } from "./support/gateway.js";
import { WireServer, failure } from "./support/wire-server.js";

const UNAUTHENTICATED = 16;

test("a stream whose credential has ended meanwhile just ends: the browser comes back with the one of the moment", async () => {
  const server = await WireServer.start({
    ChatService: {
      chat: (call: ServerWritableStream<unknown, object>) => {
        call.write({ turnId: "turn", sequence: 1, turnStart: { model: "m" } });
        call.emit("error", failure(UNAUTHENTICATED));
      },
    },
  });
  const gateway = await gatewayOf(server.url);
  const events = await new Browser(gateway.url).events("POST", "/chat", { message: "Hi" });
  expect(events.map(({ event }) => event)).toEqual(["turn_start"]);
  await gateway.close();
  server.close();
});
