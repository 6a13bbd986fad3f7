// @vitest-environment node
import { once } from "node:events";
import { createServer } from "node:http";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { LEFT_OUT, followTurn } from "../../src/chat/turn-stream.js";
import type { TurnSource } from "../../src/chat/turn-stream.js";
import type { TurnEvent } from "../../src/core/contract.js";
import * as make from "../support/turn-events.js";

type Handler = (request: IncomingMessage, response: ServerResponse) => void;

/** What the gateway does, request by request; every further one is answered as the last. */
let handlers: Handler[] = [];
const asked: { method: string; path: string; lastEventId: string | undefined; body: string }[] = [];
const server = createServer((request, response) => {
  void (async () => {
    let body = "";
    for await (const piece of request) body += String(piece);
    asked.push({ method: request.method ?? "", path: request.url ?? "", lastEventId: header(request), body });
    const handler = handlers.length > 1 ? handlers.shift() : handlers[0];
    handler?.(request, response);
  })();
});

beforeEach(async () => {
  asked.length = 0;
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const fetched = globalThis.fetch;
  vi.stubGlobal("fetch", (path: string, init: RequestInit) => fetched(base + path, init));
});

afterEach(async () => {
  vi.unstubAllGlobals();
  server.closeAllConnections();
  server.close();
  await once(server, "close");
});

const TURN = make.events(
  make.start,
  make.token("one "),
  make.token("two "),
  make.token("three"),
  make.end({ message: "one two three" }),
);
const ASK: TurnSource = {
  request: { message: "?", session_id: "s", request_id: "r", on_disconnect: "ON_DISCONNECT_CONTINUE" },
};

/** Answers with the events behind Last-Event-ID; cuts the connection when so many were written. */
function stream(events: readonly TurnEvent[], most = Infinity): Handler {
  return (request, response) => {
    const after = Number(header(request) ?? 0);
    response.writeHead(200, { "Content-Type": "text/event-stream", "Proviso-Turn-Id": "turn-1" });
    const left = events.filter(({ data }) => data.sequence > after);
    for (const event of left.slice(0, most)) response.write(frame(event));
    if (left.length > most) response.write("id: 99\ndata: {", () => response.destroy());
    else response.end();
  };
}

function problem(status: number, body: object): Handler {
  return (_, response) => {
    response.writeHead(status, { "Content-Type": "application/problem+json" }).end(JSON.stringify(body));
  };
}

const json: (body: object) => Handler = (body) => (_, response) => {
  response.writeHead(200, { "Content-Type": "application/json" }).end(JSON.stringify(body));
};

function frame({ kind, data }: TurnEvent): string {
  return `id: ${data.sequence}\nevent: ${kind}\ndata: ${JSON.stringify(data)}\n\n`;
}

function header(request: IncomingMessage): string | undefined {
  return request.headers["last-event-id"]?.toString();
}

async function follow(source: TurnSource): Promise<{ sequences: number[]; connected: boolean[]; waits: number[] }> {
  const sequences: number[] = [];
  const connected: boolean[] = [];
  const waits: number[] = [];
  const listener = {
    event: ({ data }: TurnEvent) => void sequences.push(data.sequence),
    connected: (is: boolean) => void connected.push(is),
  };
  const wait = (ms: number): Promise<void> => {
    waits.push(ms);
    return Promise.resolve();
  };
  await followTurn(source, listener, new AbortController().signal, wait);
  return { sequences, connected, waits };
}

describe("following a turn", () => {
  it("gives its events and ends with the final state", async () => {
    handlers = [stream(TURN)];
    expect((await follow(ASK)).sequences).toEqual([1, 2, 3, 4, 5]);
    expect(asked).toMatchObject([{ method: "POST", path: "/chat" }]);
  });

  it.each([1, 2, 3, 4])("goes on behind event %i when the connection is cut there", async (most) => {
    handlers = [stream(TURN, most), stream(TURN)];
    const { sequences, connected } = await follow(ASK);
    expect(sequences).toEqual([1, 2, 3, 4, 5]);
    expect(connected).toEqual([true, false, true]);
    expect(asked[1]).toMatchObject({
      method: "GET",
      path: `/turns/turn-1/events?leave_out=${LEFT_OUT.join("%2C")}`,
      lastEventId: String(most),
    });
  });

  it("passes over events that it has", async () => {
    handlers = [
      stream(TURN, 3),
      (_, response) => {
        response.writeHead(200, { "Content-Type": "text/event-stream" });
        response.end(TURN.map(frame).join(""));
      },
    ];
    expect((await follow(ASK)).sequences).toEqual([1, 2, 3, 4, 5]);
  });

  it("sends the same request again when it does not know whether the turn has begun", async () => {
    handlers = [(_, response) => void response.destroy(), stream(TURN)];
    expect((await follow(ASK)).sequences).toEqual([1, 2, 3, 4, 5]);
    expect(asked[1]).toMatchObject({ method: "POST", path: "/chat", body: asked[0]?.body });
  });

  it("waits longer after each failure, up to a limit, and begins anew after an event", async () => {
    const away = problem(503, { title: "away" });
    handlers = [stream(TURN, 1), away, away, away, away, away, away, away, away, stream(TURN, 1), stream(TURN)];
    const { waits } = await follow(ASK);
    expect(waits).toHaveLength(10);
    expect(Math.max(...waits)).toBeLessThanOrEqual(5_000);
    expect(waits[8]).toBeGreaterThanOrEqual(2_500);
    expect(waits[9]).toBeLessThanOrEqual(250);
  });

  it("waits as long as the gateway says", async () => {
    handlers = [problem(429, { title: "busy", reason: "TOO_BUSY", retry_after_ms: 7_000 }), stream(TURN)];
    expect((await follow(ASK)).waits).toEqual([7_000]);
  });

  it("goes on after an error event that may pass", async () => {
    handlers = [
      (_, response) => {
        response.writeHead(200, { "Content-Type": "text/event-stream", "Proviso-Turn-Id": "turn-1" });
        response.end(`event: error\ndata: ${JSON.stringify({ title: "draining", status: 503 })}\n\n`);
      },
      stream(TURN),
    ];
    expect((await follow(ASK)).sequences).toEqual([1, 2, 3, 4, 5]);
  });

  it("takes the stored end of a turn whose events are gone", async () => {
    const turn = { turn_id: "turn-1", state: "TURN_STATE_ENDED", last_sequence: 5, pending_approvals: [] };
    handlers = [
      stream(TURN, 2),
      problem(404, { title: "gone", reason: "TURN_EXPIRED" }),
      json({ ...turn, final_state: make.finalState({ message: "one two three" }) }),
    ];
    expect((await follow(ASK)).sequences).toEqual([1, 2, 5]);
  });

  it.each([5, 2, 1])(
    "takes the stored end where it is all that is left of the turn (sequence %i)",
    async (sequence) => {
      const end = TURN.slice(-1).map((event) => ({ ...event, data: { ...event.data, sequence } }) as TurnEvent);
      handlers = [
        stream(TURN, 2),
        (_, response) => {
          response.writeHead(200, { "Content-Type": "text/event-stream", "Proviso-Turn-Id": "turn-1" });
          response.end(end.map(frame).join(""));
        },
      ];
      expect((await follow(ASK)).sequences).toEqual([1, 2, sequence]);
    },
  );

  it("fails at once where the question is refused", async () => {
    handlers = [problem(400, { title: "Bad Request", detail: "message is too long", reason: "INVALID_REQUEST" })];
    await expect(follow(ASK)).rejects.toMatchObject({ status: 400, message: "message is too long" });
    expect(asked).toHaveLength(1);
  });

  it("tells which turn keeps the session busy", async () => {
    handlers = [problem(409, { title: "busy", reason: "SESSION_BUSY", metadata: { turn_id: "turn-0" } })];
    await expect(follow(ASK)).rejects.toMatchObject({ problem: { metadata: { turn_id: "turn-0" } } });
  });

  it("gives up after some tries when the turn has not begun", async () => {
    handlers = [problem(503, { title: "away" })];
    await expect(follow(ASK)).rejects.toMatchObject({ status: 503 });
    expect(asked).toHaveLength(5);
  });

  it("ends without an error when aborted", async () => {
    const abort = new AbortController();
    handlers = [
      (_, response) => {
        response.writeHead(200, { "Content-Type": "text/event-stream", "Proviso-Turn-Id": "turn-1" });
        response.write(TURN.slice(0, 2).map(frame).join(""));
      },
    ];
    const seen: number[] = [];
    const listener = {
      event: ({ data }: TurnEvent) => {
        seen.push(data.sequence);
        if (data.sequence === 2) abort.abort();
      },
      connected: () => undefined,
    };
    await followTurn(ASK, listener, abort.signal);
    expect(seen).toEqual([1, 2]);
  });
});
