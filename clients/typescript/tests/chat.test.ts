import type { INestApplicationContext } from "@nestjs/common";
import { firstValueFrom, lastValueFrom, take, toArray } from "rxjs";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { CodePoints, ProvisoError, uploadRequests } from "../src/index.js";
import type { TurnEvent } from "../src/index.js";
import { failure } from "./support/failure.js";
import { Assistant, nestApplication } from "./support/nest.js";
import { begun } from "./support/running.js";
import { HOLDING, LISTING, script, tokens } from "./support/script.js";
import { wholeTurn } from "./support/sequences.js";

const QUOTE = "𝒢overning law ⚖️ 準拠法 cafe\u0301 naïve: the laws of the State of Oregon";
const AGREEMENT = `# 🏛️ Agreement 契約書\n\nPreamble 😀😀😀 with Ame\u0301lie.\n\n## 9. Law ⚖️\n\n${QUOTE} apply.\n`;

let nest: INestApplicationContext;
let assistant: Assistant;
let matterId: string;

beforeAll(async () => {
  nest = await nestApplication(`127.0.0.1:${inject("port")}`);
  assistant = nest.get(Assistant);
  matterId = await assistant.createMatter();
  await assistant.upload(matterId, "agreement.md", Buffer.from(AGREEMENT));
});

afterAll(async () => {
  await nest.close();
});

async function eventsOf(message: string): Promise<TurnEvent[]> {
  return lastValueFrom(assistant.ask({ message, matterContext: { matterId } }).pipe(toArray()));
}

describe("a chat with tool calls and citations", () => {
  let events: TurnEvent[];

  beforeAll(async () => {
    const search = { name: "isaacus_search", args: { query: "laws of the State of Oregon" } };
    events = await eventsOf(
      script({ tokens: ["Let me ", "see."], calls: [search] }, { tokens: ["😀 It says ", `“${QUOTE}”`, " [1]."] }),
    );
  });

  test("ends with the final state, and every sequence comes once", () => {
    wholeTurn(events);
    expect(new Set(events.map((event) => event.kind))).toEqual(
      new Set(["turnStart", "token", "textDiscarded", "toolStart", "toolEnd", "citation", "finalState"]),
    );
    expect(events.at(-1)).toMatchObject({
      kind: "finalState",
      finalState: { exitReason: "EXIT_REASON_COMPLETED", toolCalls: 1 },
    });
  });

  test("text grows with tokens and loses what is discarded", () => {
    const discarded = events.findIndex((event) => event.kind === "textDiscarded");
    expect(events[discarded - 1]?.text).toBe("Let me see.");
    expect(events[discarded]?.text).toBe("");
    const last = events.at(-1);
    expect(last?.kind === "finalState" && last.finalState.message).toBe(last?.text);
    expect(events.findLast((event) => event.kind === "token")?.text).toBe(last?.text);
  });

  test("times are dates, durations milliseconds, and what is absent is left out", () => {
    const ended = events.find((event) => event.kind === "toolEnd");
    expect(ended?.emitTime.getTime()).toBeGreaterThan(Date.parse("2020-01-01"));
    expect(ended?.toolEnd.durationMs).toBeGreaterThan(0);
    expect(JSON.stringify(events)).not.toMatch(/"(seconds|nanos)"|null/);
  });

  test("a cited part of the answer is a slice of it, in the event as in the final state", () => {
    const expected = `“${QUOTE}”`;
    const cited = events.find((event) => event.kind === "citation");
    const ended = events.at(-1);
    if (cited?.kind !== "citation" || ended?.kind !== "finalState") throw new Error("no citation");
    const [inEnd] = ended.finalState.citations;
    for (const [text, range] of [
      [cited.text, cited.citation.answerUtf16],
      [ended.text, inEnd?.answerUtf16],
    ] as const) {
      expect(text.slice(range?.start, range?.end)).toContain(expected);
    }
  });

  test("a quote is a slice of the document, with emoji, combining marks and CJK before and in it", async () => {
    const cited = events.find((event) => event.kind === "citation")?.citation;
    const { documentId = "", start = 0, end = 0, quote } = cited ?? {};
    const { text } = await firstValueFrom(assistant.tools.getDocumentText({ matterId, documentId }));
    const { start: from, end: to } = new CodePoints(text).range(start, end);
    expect(text.slice(from, to)).toBe(quote);
    expect(quote).toBe(QUOTE);
    expect(text.slice(start, end)).not.toBe(quote);
  });
});

test("INVALID_ARGUMENT has every violation", async () => {
  const asked = assistant.ask({ message: "x".repeat(40_000), imageUrls: ["http://x"], sessionId: "s".repeat(200) });
  const error = await failure(lastValueFrom(asked));
  expect(error).toMatchObject({ status: "INVALID_ARGUMENT", code: 3, reason: "INVALID_REQUEST" });
  expect(error.violations.map((violation) => violation.field).sort()).toEqual(
    expect.arrayContaining(["message", "session_id"]),
  );
  expect(error.violations.every((violation) => violation.description !== "")).toBe(true);
});

test("SESSION_BUSY names the turn to attach to", async () => {
  const running = await begun(assistant, { message: HOLDING, matterContext: { matterId }, sessionId: "busy" });
  const error = await failure(lastValueFrom(assistant.ask({ message: "Hi", sessionId: "busy" })));
  expect(error).toMatchObject({ status: "ABORTED", reason: "SESSION_BUSY", metadata: { turn_id: running.turnId } });
  await running.end();
});

test("a deadline of the caller fails the call and leaves the turn to go on", async () => {
  const held = { message: HOLDING, matterContext: { matterId }, requestId: "patience" };
  const request = { ...held, onDisconnect: "ON_DISCONNECT_CONTINUE" } as const;
  const error = await failure(lastValueFrom(assistant.ask(request, { timeoutMs: 500 })));
  expect(error.status).toBe("DEADLINE_EXCEEDED");
  const running = await begun(assistant, request);
  const turn = await firstValueFrom(assistant.chat.getTurn({ turnId: running.turnId }));
  expect(turn.state).toBe("TURN_STATE_RUNNING");
  await running.end();
});

test("who subscribes again attaches to the turn that has begun", async () => {
  const asked = assistant.ask({ message: script(LISTING, { tokens: tokens(5) }), matterContext: { matterId } });
  const [first, second] = await Promise.all([lastValueFrom(asked), lastValueFrom(asked)]);
  expect(first.turnId).toBe(second.turnId);
  expect(first.text).toBe(second.text);
});

test("an upload that breaks off is not stored", async () => {
  const matter = await assistant.createMatter("Broken off");
  const pieces = uploadRequests({ matterId: matter, filename: "a.txt" }, Buffer.from("The rent is"));
  const uploaded = lastValueFrom(assistant.matters.uploadDocument(pieces.pipe(take(2))));
  const error = ProvisoError.from(await uploaded.catch((error: unknown) => error));
  expect(error).toMatchObject({ reason: "INVALID_REQUEST", violations: [{ field: "end" }] });
});

test("20 MB are uploaded and read", async () => {
  const filler = `<!-- ${"x".repeat(20 * 1024 * 1024)} -->`;
  const matter = await assistant.createMatter("Large");
  const document = await assistant.upload(matter, "large.html", Buffer.from(`<p>Rent is USD 500.</p>${filler}`));
  expect(document).toMatchObject({ filename: "large.html", status: "DOCUMENT_STATUS_READY" });
  expect(document.sizeBytes).toBeGreaterThan(20 * 1024 * 1024);
});
