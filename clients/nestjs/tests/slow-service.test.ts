import { once } from "node:events";
import { request } from "node:http";
import type { IncomingMessage } from "node:http";
import { setTimeout as pause } from "node:timers/promises";
import type { ServerReadableStream, sendUnaryData } from "@grpc/grpc-js";
import { expect, test } from "vitest";
import { gatewayOf } from "./support/gateway.js";
import { WireServer } from "./support/wire-server.js";

type Upload = ServerReadableStream<{ data?: Buffer }, object>;

const MB = 1024 * 1024;
const SIZE = 48 * MB;

test("a service that takes an upload slowly slows the browser down: the gateway does not hold the file", async () => {
  let received = 0;
  let begin: (call: Upload) => void = () => undefined;
  const begun = new Promise<Upload>((resolve) => {
    begin = resolve;
  });
  const server = await WireServer.start({
    MatterService: {
      uploadDocument: (call: Upload, answer: sendUnaryData<object>) => {
        call.pause();
        call.on("data", ({ data }: { data?: Buffer }) => {
          received += data?.length ?? 0;
        });
        call.on("end", () => {
          answer(null, { document: { filename: "a.txt" } });
        });
        begin(call);
      },
    },
  });
  const gateway = await gatewayOf(server.url);
  const headers = { "Content-Type": "multipart/form-data; boundary=b" };
  const upload = request(`${gateway.url}/matters/m/documents`, { method: "POST", headers });
  upload.write('--b\r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\n\r\n');
  let sent = 0;
  const sending = (async () => {
    for (; sent < SIZE; sent += MB) if (!upload.write("x".repeat(MB))) await once(upload, "drain");
    upload.end("\r\n--b--\r\n");
  })();
  const call = await begun;
  for (let before = -1; before < sent;) {
    before = sent;
    await pause(300);
  }
  // What the buffers of the system's connections hold on the way, and no more.
  expect(sent).toBeLessThan(24 * MB);
  call.resume();
  await sending;
  const [response] = (await once(upload, "response")) as [IncomingMessage];
  expect([response.statusCode, received]).toEqual([201, SIZE]);
  response.resume();
  await gateway.close();
  server.close();
});
