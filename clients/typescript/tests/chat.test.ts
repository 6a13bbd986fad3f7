import type { INestApplicationContext } from "@nestjs/common";
import { Subject, firstValueFrom, lastValueFrom, share, takeUntil, toArray } from "rxjs";
import type { Observable } from "rxjs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { CodePoints, ProvisoError } from "../src/index.js";
import type { TurnEvent } from "../src/index.js";
import { Assistant, nestApplication } from "./support/nest.js";
import { LISTING, script, tokens } from "./support/script.js";
import { wholeTurn } from "./support/sequences.js";
import { Service } from "./support/service.js";

const QUOTE = "𝒢overning law 👩‍⚖️ 準拠法 cafe\u0301 naïve: the laws of the State of Oregon";
const AGREEMENT = `# 🏛️ Agreement 契約書\n\nPreamble 😀😀😀 with Ame\u0301lie.\n\n## 9. Law ⚖️\n\n${QUOTE} apply.\n`;

const service = new Service({ server: { max_turns_running: 3 }, turns: { token_interval_s: 0 } });
let nest: INestApplicationContext;
let assistant: Assistant;
let matterId: string;

beforeAll(async () => {
  await service.start();
  nest = await nestApplication(service.url);
  assistant = nest.get(Assistant);
  matterId = await assistant.createMatter();
  await assistant.upload(matterId, "agreement.md", Buffer.from(AGREEMENT));
});

afterAll(async () => {
  await nest.close();
  await service.remove();
});

async function eventsOf(message: string): Promise<TurnEvent[]> {
  return lastValueFrom(assistant.ask({ message, matterContext: { matterId } }).pipe(toArray()));
}

async function failure(asked: Promise<unknown>): Promise<ProvisoError> {
  const error: unknown = await asked.then(
    () => undefined,
    (error: unknown) => error,
  );
  expect(error).toBeInstanceOf(ProvisoError);
  return error as ProvisoError;
}

/** A turn whose model never comes to an end. */
const HELD = { message: script({ tokens: ["Hi"], hold: true }) };

interface Running {
  turnId: string;
  /** Settles as the events do. */
  ended: Promise<void>;
  /** Stops reading and cancels the turn. */
  end(): Promise<void>;
}

/** Returns when the first event is there. */
async function begun(events: Observable<TurnEvent>): Promise<Running> {
  const stop = new Subject<void>();
  const shared = events.pipe(takeUntil(stop), share());
  const ended = lastValueFrom(shared, { defaultValue: undefined }).then(() => undefined);
  const { turnId } = await firstValueFrom(shared);
  const end = async (): Promise<void> => {
    stop.next();
    await firstValueFrom(assistant.chat.cancelTurn({ turnId }));
  };
  return { turnId, ended, end };
}

describe("a chat with tool calls and citations", () => {
  let events: TurnEvent[];

  beforeAll(async () => {
    const search = { name: "isaacus_search", args: { query: "governing law" } };
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
  const running = await begun(assistant.ask({ ...HELD, matterContext: { matterId }, sessionId: "busy" }));
  const error = await failure(lastValueFrom(assistant.ask({ message: "Hi", sessionId: "busy" })));
  expect(error).toMatchObject({ status: "ABORTED", reason: "SESSION_BUSY", metadata: { turn_id: running.turnId } });
  await running.end();
});

test("RESOURCE_EXHAUSTED has the delay after which to try again", async () => {
  const held = { ...HELD, matterContext: { matterId } };
  const running = await Promise.all([1, 2, 3].map(() => begun(assistant.ask(held))));
  const error = await failure(lastValueFrom(assistant.ask(held)));
  expect(error).toMatchObject({ status: "RESOURCE_EXHAUSTED", reason: "TOO_BUSY", retryAfterMs: 1000 });
  await Promise.all(running.map((turn) => turn.end()));
});

test("a deadline of the caller fails the call and leaves the turn to go on", async () => {
  const running = await begun(assistant.ask({ ...HELD, matterContext: { matterId } }, { timeoutMs: 500 }));
  const error = await failure(running.ended);
  expect(error.status).toBe("DEADLINE_EXCEEDED");
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

test("20 MB are uploaded and read", async () => {
  const filler = `<!-- ${"x".repeat(20 * 1024 * 1024)} -->`;
  const matter = await assistant.createMatter("Large");
  const document = await assistant.upload(matter, "large.html", Buffer.from(`<p>Rent is USD 500.</p>${filler}`));
  expect(document).toMatchObject({ filename: "large.html", status: "DOCUMENT_STATUS_READY" });
});
