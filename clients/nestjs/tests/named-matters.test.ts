import type { ServerReadableStream, ServerUnaryCall, ServerWritableStream, sendUnaryData } from "@grpc/grpc-js";
import type { Metadata } from "@grpc/grpc-js";
import { expect, test } from "vitest";
import { Browser } from "./support/browser.js";
import { gatewayOf } from "./support/gateway.js";
import { WireServer } from "./support/wire-server.js";

const MATTER = "7d444840-9dc0-11d1-b245-5ffdce74fad2";

test("the calls that the gateway makes about a matter name it", async () => {
  const seen: unknown[] = [];
  const saw = (method: string, metadata: Metadata): void => {
    seen.push([method, ...metadata.get("proviso-matter")]);
  };
  const server = await WireServer.start({
    MatterService: {
      getMatter: ({ metadata }: ServerUnaryCall<object, object>, answer: sendUnaryData<object>) => {
        saw("getMatter", metadata);
        answer(null, { matter: { matterId: MATTER } });
      },
      watchDocuments: (call: ServerWritableStream<object, object>) => {
        saw("watchDocuments", call.metadata);
        call.end();
      },
      uploadDocument: (call: ServerReadableStream<object, object>, answer: sendUnaryData<object>) => {
        saw("uploadDocument", call.metadata);
        call.resume().on("end", () => {
          answer(null, { document: { filename: "a.txt" } });
        });
      },
    },
    ChatService: {
      chat: (call: ServerWritableStream<object, object>) => {
        saw("chat", call.metadata);
        call.write({ turnId: "turn", sequence: 1, finalState: { message: "Done." } });
        call.end();
      },
    },
  });
  const gateway = await gatewayOf(server.url);
  const browser = new Browser(gateway.url);
  await browser.json("GET", `/matters/${MATTER}`);
  await browser.events("GET", `/matters/${MATTER}/documents/events`);
  await browser.upload(MATTER, "text", "a.txt");
  await browser.events("POST", "/chat", { message: "Hi", matter_context: { matter_id: MATTER } });
  expect(seen).toEqual([
    ["getMatter", MATTER],
    ["watchDocuments", MATTER],
    ["uploadDocument", MATTER],
    ["chat", MATTER],
  ]);
  await gateway.close();
  server.close();
});
