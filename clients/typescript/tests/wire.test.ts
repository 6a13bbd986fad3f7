import { create } from "@bufbuild/protobuf";
import type { INestApplicationContext } from "@nestjs/common";
import { once } from "node:events";
import { InterceptingCall, Metadata, status } from "@grpc/grpc-js";
import type { Interceptor } from "@grpc/grpc-js";
import { lastValueFrom, map, toArray } from "rxjs";
import { afterEach, expect, test } from "vitest";
import { agentEvents, followTurn } from "../src/index.js";
import type { AgentEventsOptions, TurnEvent } from "../src/index.js";
import { ErrorInfoSchema } from "../src/es/google/rpc/error_details_pb.js";
import { Assistant, nestApplication } from "./support/nest.js";
import { UNREADABLE, WireServer, fail, last, tellTurnId } from "./support/wire-server.js";
import type { Behaviour } from "./support/wire-server.js";

let server: WireServer | undefined;
let nest: INestApplicationContext | undefined;

afterEach(async () => {
  await nest?.close();
  server?.close();
});

async function chatOf(behaviour: Behaviour): Promise<Assistant["chat"]> {
  server = await WireServer.start(behaviour);
  nest = await nestApplication(server.url);
  return nest.get(Assistant).chat;
}

async function askedOf(behaviour: Behaviour, options: AgentEventsOptions = {}): Promise<TurnEvent[]> {
  const events = agentEvents(await chatOf(behaviour), { message: "Hi", userId: "ann" }, { ...FAST, ...options });
  return lastValueFrom(events.pipe(toArray()));
}

const FAST = { backoff: { firstMs: 1 } };
const END = { turnId: "turn", sequence: 1, finalState: { message: "Done." } };
const EXPIRED = {
  schema: ErrorInfoSchema,
  message: create(ErrorInfoSchema, { reason: "TURN_EXPIRED", domain: "proviso.v1" }),
};

test("a cut before the first event resumes the turn that the initial metadata named", async () => {
  const resumed: unknown[] = [];
  const events = await askedOf({
    chat: (call) => {
      tellTurnId(call, "turn");
      fail(call, status.UNAVAILABLE);
    },
    resumeChat: (call) => {
      resumed.push(call.request);
      last(call, END);
    },
  });
  expect(resumed).toMatchObject([{ turnId: "turn", afterSequence: 0, userId: "ann" }]);
  expect(events.map((event) => event.text)).toEqual(["Done."]);
});

test("what is left out of a turn's events is left out after a cut, too", async () => {
  const leaveOut = { toolOutput: true, repeatedContexts: false, history: true };
  const resumed: unknown[] = [];
  const chat = await chatOf({
    chat: (call) => {
      tellTurnId(call, "turn");
      fail(call, status.UNAVAILABLE);
    },
    resumeChat: (call) => {
      resumed.push(call.request.leaveOut);
      last(call, END);
    },
  });
  await lastValueFrom(agentEvents(chat, { message: "Hi", options: { leaveOut } }, FAST));
  await lastValueFrom(followTurn(chat, { turnId: "turn", leaveOut }));
  expect(resumed).toMatchObject([leaveOut, leaveOut]);
});

test("a try that the service did not answer is made again under the same request_id", async () => {
  const ids: string[] = [];
  await askedOf({
    chat: (call) => {
      ids.push(call.request.requestId);
      if (ids.length < 3) fail(call, status.UNAVAILABLE);
      else last(call, END);
    },
  });
  expect(ids[0]).toMatch(/^[0-9a-f-]{36}$/);
  expect(new Set(ids).size).toBe(1);
  expect(ids).toHaveLength(3);
});

test("a stream that ends without a final state, breaks in the middle or falls silent is resumed", async () => {
  let tries = 0;
  const events = await askedOf(
    {
      chat: (call) => {
        call.write({ turnId: "turn", sequence: 1, token: { textId: "a", text: "Do", firstSequence: 1 } });
        call.end();
      },
      resumeChat: (call) => {
        tries += 1;
        if (tries === 1) fail(call, status.INTERNAL);
        if (tries >= 3) last(call, { ...END, sequence: call.request.afterSequence + 1 });
      },
    },
    { silenceMs: 100, backoff: { firstMs: 1, maxTries: 100 } },
  );
  expect(events.map((event) => event.sequence)).toEqual([1, 2]);
});

test("a proxy or a stopping server that ends the stream, before the turn's id too, does not end the turn", async () => {
  const asked: string[] = [];
  const events = await askedOf({
    chat: (call) => {
      asked.push("chat");
      if (asked.length === 1) fail(call, status.CANCELLED);
      else if (asked.length === 2) fail(call, status.DEADLINE_EXCEEDED);
      else {
        tellTurnId(call, "turn");
        fail(call, status.DEADLINE_EXCEEDED);
      }
    },
    resumeChat: (call) => {
      asked.push("resumeChat");
      if (asked.length === 4) fail(call, status.CANCELLED);
      else last(call, END);
    },
  });
  expect(asked).toEqual(["chat", "chat", "chat", "resumeChat", "resumeChat"]);
  expect(events.map((event) => event.text)).toEqual(["Done."]);
});

test("a deadline that the service tells of is no cut", async () => {
  const info = create(ErrorInfoSchema, { reason: "DEADLINE_EXCEEDED", domain: "proviso.v1" });
  const asked = askedOf({
    chat: (call) => {
      fail(call, status.DEADLINE_EXCEEDED, { schema: ErrorInfoSchema, message: info });
    },
  });
  await expect(asked).rejects.toMatchObject({ status: "DEADLINE_EXCEEDED", reason: "DEADLINE_EXCEEDED" });
});

test("the caller's own deadline is told as gRPC tells it", async () => {
  const asked = askedOf({ chat: () => undefined }, { timeoutMs: 100 });
  await expect(asked).rejects.toMatchObject({
    status: "DEADLINE_EXCEEDED",
    message: expect.not.stringContaining("another try") as string,
  });
});

test("heartbeats keep a stream open and are not shown", async () => {
  const events = await askedOf(
    {
      chat: (call) => {
        let beats = 0;
        const timer = setInterval(() => {
          beats += 1;
          if (beats < 6) call.write({ turnId: "turn", sequence: 0, heartbeat: {} });
          else {
            clearInterval(timer);
            last(call, END);
          }
        }, 50);
      },
    },
    { silenceMs: 200 },
  );
  expect(events.map((event) => event.kind)).toEqual(["finalState"]);
});

test("a turn whose events are no longer kept ends in its stored final state", async () => {
  const chat = await chatOf({
    resumeChat: (call) => {
      fail(call, status.NOT_FOUND, EXPIRED);
    },
    getTurn: () => ({ turnId: "turn", lastSequence: 9, state: "TURN_STATE_ENDED", finalState: { message: "Done." } }),
  });
  const events = await lastValueFrom(followTurn(chat, { turnId: "turn" }, FAST).pipe(toArray()));
  expect(events).toMatchObject([{ kind: "finalState", sequence: 9, text: "Done." }]);
});

test.each([9, 3, 1])("a stored final state that is all of a turn is taken, whatever its sequence", async (sequence) => {
  const chat = await chatOf({
    resumeChat: (call) => {
      last(call, { turnId: "turn", sequence, finalState: { message: "Done." } });
    },
  });
  const events = await lastValueFrom(followTurn(chat, { turnId: "turn", afterSequence: 3 }, FAST).pipe(toArray()));
  expect(events).toMatchObject([{ kind: "finalState", sequence, text: "Done." }]);
});

test("a turn that was seen to its end gives its final state at once, under its own sequence", async () => {
  const asked: number[] = [];
  const chat = await chatOf({
    resumeChat: (call) => {
      asked.push(call.request.afterSequence);
      call.end();
    },
    getTurn: () => ({ turnId: "turn", lastSequence: 9, state: "TURN_STATE_ENDED", finalState: { message: "Done." } }),
  });
  const events = await lastValueFrom(followTurn(chat, { turnId: "turn", afterSequence: 9 }, FAST).pipe(toArray()));
  expect(events).toMatchObject([{ kind: "finalState", sequence: 9, text: "Done." }]);
  const early = followTurn(chat, { turnId: "turn", afterSequence: 8 }, { backoff: { firstMs: 1, maxTries: 1 } });
  await expect(lastValueFrom(early)).rejects.toMatchObject({ status: "UNAVAILABLE" });
  expect(asked).toEqual([9, 8, 8]);
});

test("a request that had begun a turn long ago ends in that turn's stored final state", async () => {
  const events = await askedOf({
    chat: (call) => {
      tellTurnId(call, "turn");
      fail(call, status.NOT_FOUND, EXPIRED);
    },
    getTurn: () => ({ turnId: "turn", lastSequence: 9, finalState: { message: "Done." } }),
  });
  expect(events).toMatchObject([{ kind: "finalState", sequence: 9, text: "Done." }]);
});

test("what cannot be read of a request fails at once", async () => {
  const calls: unknown[] = [];
  const chat = await chatOf({ chat: (call) => calls.push(call) });
  const broken = agentEvents(chat, { message: "Hi", imageUrls: 3 as unknown as [] });
  await expect(lastValueFrom(broken)).rejects.toMatchObject({ status: "INTERNAL", reason: undefined });
  const noClient = agentEvents({} as typeof chat, { message: "Hi" });
  await expect(lastValueFrom(noClient)).rejects.toMatchObject({
    status: "UNKNOWN",
    cause: expect.any(TypeError) as Error,
  });
  expect(calls).toEqual([]);
});

test("what fails in this process, after the turn has begun too, fails at once", async () => {
  const calls: string[] = [];
  const chat = await chatOf({
    chat: (call) => {
      calls.push("chat");
      tellTurnId(call, "turn");
      fail(call, status.UNAVAILABLE);
    },
    resumeChat: () => calls.push("resumeChat"),
  });
  const fault = new TypeError("no such header");
  const faulty: Interceptor = (options, nextCall) => {
    if (calls.push("call") > 2) throw fault;
    return new InterceptingCall(nextCall(options));
  };
  const asked = agentEvents(chat, { message: "Hi" }, { ...FAST, interceptors: [faulty] });
  await expect(lastValueFrom(asked)).rejects.toMatchObject({ status: "UNKNOWN", cause: fault });
  expect(calls).toEqual(["call", "chat", "call"]);
});

test("an event that cannot be read fails at once", async () => {
  const calls: string[] = [];
  const asked = askedOf({
    chat: (call) => {
      calls.push("chat");
      tellTurnId(call, "turn");
      call.write(UNREADABLE);
    },
    resumeChat: () => calls.push("resumeChat"),
  });
  await expect(asked).rejects.toMatchObject({
    status: "INTERNAL",
    message: expect.stringContaining("parsing") as string,
  });
  expect(calls).toEqual(["chat"]);
});

test("what fails behind the events comes out as it is, and ends the call", async () => {
  const ended: Promise<unknown>[] = [];
  const chat = await chatOf({
    chat: (call) => {
      ended.push(once(call, "cancelled"));
      call.write({ turnId: "turn", sequence: 1, turnStart: {} });
    },
  });
  const fault = new TypeError("no such field");
  const asked = agentEvents(chat, { message: "Hi" }, FAST).pipe(
    map(() => {
      throw fault;
    }),
  );
  await expect(lastValueFrom(asked)).rejects.toBe(fault);
  await Promise.all(ended);
  expect(ended).toHaveLength(1);
});

test("every call has the caller's metadata", async () => {
  const seen: unknown[] = [];
  const metadata = new Metadata();
  metadata.set("authorization", "Bearer x");
  await askedOf(
    {
      chat: (call) => {
        seen.push(...call.metadata.get("authorization"));
        tellTurnId(call, "turn");
        fail(call, status.UNAVAILABLE);
      },
      resumeChat: (call) => {
        seen.push(...call.metadata.get("authorization"));
        last(call, END);
      },
    },
    { metadata },
  );
  expect(seen).toEqual(["Bearer x", "Bearer x"]);
});
