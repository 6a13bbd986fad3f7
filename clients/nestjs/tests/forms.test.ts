import { once } from "node:events";
import { request } from "node:http";
import type { IncomingMessage } from "node:http";
import { text } from "node:stream/consumers";
import type { ServerReadableStream, sendUnaryData } from "@grpc/grpc-js";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { Browser } from "./support/browser.js";
import { gatewayOf } from "./support/gateway.js";
import type { TestGateway } from "./support/gateway.js";
import { WireServer } from "./support/wire-server.js";
import { PATIENT } from "./support/waiting.js";

interface Piece {
  header?: { filename: string };
  end?: object;
}

let server: WireServer;
let gateway: TestGateway;
let received: Piece[] = [];
let cancelled: Promise<void>;

beforeAll(async () => {
  server = await WireServer.start({
    MatterService: {
      uploadDocument: (call: ServerReadableStream<Piece, object>, answer: sendUnaryData<object>) => {
        received = [];
        cancelled = new Promise((resolve) => call.on("cancelled", resolve));
        call.on("data", (piece: Piece) => received.push(piece));
        call.on("end", () => {
          answer(null, { document: { filename: received[0]?.header?.filename } });
        });
        call.on("error", () => undefined);
      },
    },
  });
  gateway = await gatewayOf(server.url);
});

afterAll(async () => {
  await gateway.close();
  server.close();
});

/** Sends the pieces of a form, each when the one before it has gone, and does not end it. */
async function unended(...pieces: string[]): Promise<{ status: number | undefined; body: string }> {
  const headers = { "Content-Type": "multipart/form-data; boundary=b" };
  const call = request(`${gateway.url}/matters/m/documents`, { method: "POST", headers });
  call.on("error", () => undefined);
  const answered = once(call, "response");
  for (const piece of pieces) await new Promise((sent) => call.write(piece, sent));
  const [response] = (await answered) as [IncomingMessage];
  const body = await text(response);
  call.destroy();
  return { status: response.statusCode, body };
}

const part = (name: string, filename: string): string =>
  `--b\r\nContent-Disposition: form-data; name="${name}"; filename="${filename}"\r\n\r\n`;

test.each([
  ["a file of another name", [part("other", "a.txt"), "text"]],
  ["a second file", [`${part("file", "a.txt")}text\r\n${part("file", "b.txt")}`, "text"]],
  ["a part whose header is none", ["--b\r\n(:no header\r\n\r\n", "text"]],
  [
    "a part whose header is none, behind a file",
    [`${part("file", "a.txt")}text\r\n--b\r\n(:no header\r\n\r\n`, "text"],
  ],
])("%s is refused while it still comes, which ends nothing but the upload", async (_, pieces) => {
  const { status, body } = await unended(...pieces);
  expect([status, JSON.parse(body) as object]).toMatchObject([400, { reason: "INVALID_REQUEST" }]);
  expect((await new Browser(gateway.url).fetch("GET", "/healthz")).status).toBe(200);
});

test("only an upload that has come whole is told to be whole", async () => {
  const headers = { "Content-Type": "multipart/form-data; boundary=b" };
  const call = request(`${gateway.url}/matters/m/documents`, { method: "POST", headers });
  call.on("error", () => undefined);
  call.write(`${part("file", "a.txt")}text`);
  await vi.waitUntil(() => received.length === 2, PATIENT);
  call.destroy();
  // Node ends the stream of a call before it cancels it, so its end says nothing to the service.
  await cancelled;
  expect(received.at(-1)).not.toHaveProperty("end");
  await new Browser(gateway.url).upload("m", "text", "a.txt");
  expect(received.at(-1)).toHaveProperty("end");
});

test.each([
  ["Mietvertrag – für Ülö 😀.txt", "Mietvertrag – für Ülö 😀.txt"],
  ["../../etc/passwd", "passwd"],
  ["C:\\Users\\ann\\lease.docx", "lease.docx"],
])("the name %s comes through without its folders", async (sent, stored) => {
  const response = await new Browser(gateway.url).upload("m", "text", sent);
  expect(await response.json()).toMatchObject({ document: { filename: stored } });
});
