import { create } from "@bufbuild/protobuf";
import { durationMs, timestampDate } from "@bufbuild/protobuf/wkt";
import { Code, ConnectError, createClient } from "@connectrpc/connect";
import type { Client } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { beforeAll, expect, inject, test } from "vitest";
import { CodePoints, ProvisoError } from "../src/index.js";
import { ErrorInfoSchema } from "../src/es/google/rpc/error_details_pb.js";
import { ChatRequestSchema, ChatService, OnDisconnect } from "../src/es/proviso/v1/chat_pb.js";
import type { AgentEvent } from "../src/es/proviso/v1/chat_pb.js";
import { MatterService, UploadDocumentRequestSchema } from "../src/es/proviso/v1/matters_pb.js";
import { ExitReason } from "../src/es/proviso/v1/turns_pb.js";
import { Proxy } from "./support/proxy.js";
import { LISTING, script, tokens } from "./support/script.js";

const QUOTE = "準拠法 😀: the laws of the State of Oregon";

const PROVISO = `127.0.0.1:${inject("port")}`;

let chat: Client<typeof ChatService>;
let matters: Client<typeof MatterService>;
let matterContext: { matterId: string };

beforeAll(async () => {
  const transport = createGrpcTransport({ baseUrl: `http://${PROVISO}` });
  chat = createClient(ChatService, transport);
  matters = createClient(MatterService, transport);
  const { matter } = await matters.createMatter({ name: "Northwind" });
  matterContext = { matterId: matter?.matterId ?? "" };
});

async function upload(filename: string, data: Uint8Array): Promise<string> {
  const uploaded = await matters.uploadDocument(
    (async function* () {
      const header = { ...matterContext, filename };
      yield create(UploadDocumentRequestSchema, { payload: { case: "header", value: header } });
      for (let start = 0; start < data.length; start += 65_536) {
        const value = data.subarray(start, start + 65_536);
        yield await Promise.resolve(create(UploadDocumentRequestSchema, { payload: { case: "data", value } }));
      }
      yield create(UploadDocumentRequestSchema, { payload: { case: "end", value: {} } });
    })(),
  );
  await toTheEnd(matters.watchDocuments(matterContext));
  return uploaded.document?.documentId ?? "";
}

async function toTheEnd(stream: AsyncIterable<unknown>): Promise<void> {
  const items = stream[Symbol.asyncIterator]();
  while (!(await items.next()).done);
}

async function failure(asked: Promise<unknown>): Promise<ConnectError> {
  const error: unknown = await asked.catch((error: unknown) => error);
  expect(error).toBeInstanceOf(ConnectError);
  return error as ConnectError;
}

test("a chat with a tool call and a citation", async () => {
  const documentId = await upload("agreement.md", Buffer.from(`# 契約書 😀\n\n${QUOTE} apply.\n`));
  const search = { name: "isaacus_search", args: { query: "governing law" } };
  const message = script({ calls: [search] }, { tokens: ["😀 It says ", `“${QUOTE}”`, " [1]."] });
  const events: AgentEvent[] = [];
  for await (const event of chat.chat({ message, matterContext })) events.push(event);
  const last = events.at(-1)?.event;
  if (last?.case !== "finalState") throw new Error("no final state");
  const [citation] = last.value.citations;
  expect(last.value.exitReason).toBe(ExitReason.COMPLETED);
  expect(citation).toMatchObject({ documentId, quote: QUOTE });
  const { answerStart = 0, answerEnd = 0 } = citation ?? {};
  expect(new CodePoints(last.value.message).slice(answerStart, answerEnd)).toContain(QUOTE);
  const [emitted, took] = [events[0]?.emitTime, last.value.duration];
  expect(emitted && timestampDate(emitted).getTime()).toBeGreaterThan(Date.parse("2020-01-01"));
  expect(took && durationMs(took)).toBeGreaterThan(0);
});

test("a cut stream is resumed by the id of its headers", async () => {
  const spoken = tokens(30, 200);
  const message = script(LISTING, { tokens: spoken, pause_ms: 3 });
  const request = create(ChatRequestSchema, { message, matterContext, onDisconnect: OnDisconnect.GRACE });
  const events: AgentEvent[] = [];
  let turnId = "";
  const onHeader = (headers: Headers): void => {
    turnId = headers.get("proviso-turn-id") ?? "";
  };
  const proxy = await Proxy.to(() => inject("port"));
  proxy.cutAfter(5_000);
  const chat = createClient(ChatService, createGrpcTransport({ baseUrl: `http://${proxy.url}` }));
  const error = await failure(
    (async () => {
      for await (const event of chat.chat(request, { onHeader })) events.push(event);
    })(),
  );
  expect(ProvisoError.from(error).reason).toBeUndefined();
  expect(events.length).toBeGreaterThan(0);
  const afterSequence = events.at(-1)?.sequence ?? 0;
  for await (const event of chat.resumeChat({ turnId, afterSequence })) events.push(event);
  let following = 1;
  for (const { sequence, event } of events) {
    expect(event.case === "token" ? event.value.firstSequence : sequence).toBe(following);
    following = sequence + 1;
  }
  expect(events.at(-1)?.event).toMatchObject({ case: "finalState", value: { message: spoken.join("") } });
  await proxy.close();
});

test("the details of a failed call are typed", async () => {
  const error = await failure(chat.invoke({ message: "x".repeat(40_000) }));
  expect(error.code).toBe(Code.InvalidArgument);
  expect(error.findDetails(ErrorInfoSchema)).toMatchObject([{ reason: "INVALID_REQUEST", domain: "proviso.v1" }]);
  expect(ProvisoError.from(error)).toMatchObject({
    status: "INVALID_ARGUMENT",
    reason: "INVALID_REQUEST",
    violations: [{ field: "message" }],
  });
});

test("a deadline", async () => {
  const message = script({ tokens: ["Hi"], hold: true });
  const error = await failure(chat.invoke({ message, matterContext }, { timeoutMs: 300 }));
  expect(ProvisoError.from(error).status).toBe("DEADLINE_EXCEEDED");
});

test("20 MB are uploaded", async () => {
  const documentId = await upload("large.html", Buffer.from(`<p>Rent.</p><!-- ${"x".repeat(20 * 1024 * 1024)} -->`));
  const { document } = await matters.getDocument({ ...matterContext, documentId });
  expect(Number(document?.sizeBytes)).toBeGreaterThan(20 * 1024 * 1024);
});
