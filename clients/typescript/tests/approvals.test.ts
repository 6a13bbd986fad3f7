import type { INestApplicationContext } from "@nestjs/common";
import { concatMap, firstValueFrom, lastValueFrom, takeWhile, toArray } from "rxjs";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { followTurn } from "../src/index.js";
import type { TurnEvent } from "../src/index.js";
import type { ToolCallDecision } from "../src/stubs/proviso/v1/turns.js";
import { failure } from "./support/failure.js";
import { Assistant, nestApplication } from "./support/nest.js";
import { ASKING, LISTING, script } from "./support/script.js";
import { wholeTurn } from "./support/sequences.js";

const MESSAGE = script(LISTING, ASKING, { tokens: ["Done."] });

let nest: INestApplicationContext;
let assistant: Assistant;
let request: { message: string; matterContext: { matterId: string } };

beforeAll(async () => {
  nest = await nestApplication(`127.0.0.1:${inject("port")}`);
  assistant = nest.get(Assistant);
  const matterId = await assistant.createMatter();
  await assistant.upload(matterId, "lease.md", Buffer.from("# Lease\n\nThe rent is USD 500 per month.\n"));
  request = { message: MESSAGE, matterContext: { matterId } };
});

afterAll(async () => {
  await nest.close();
});

/** The events of a turn whose person decides when it is asked to. */
async function decided(decision: ToolCallDecision): Promise<TurnEvent[]> {
  const decide = async (event: TurnEvent): Promise<TurnEvent> => {
    if (event.kind === "approvalRequired") await assistant.decide(event, decision);
    return event;
  };
  return lastValueFrom(assistant.ask(request).pipe(concatMap(decide), toArray()));
}

/** What became of the call that was asked about. */
function outcome(events: TurnEvent[]): { error: string } | undefined {
  const asked = events.find((event) => event.kind === "approvalRequired");
  const ends = events.filter((event) => event.kind === "toolEnd");
  return ends.find((event) => event.toolEnd.callId === asked?.approvalRequired.callId)?.toolEnd;
}

test("an approved call is made, and the turn goes on in the same stream", async () => {
  const events = await decided("TOOL_CALL_DECISION_APPROVE_ONCE");
  expect(outcome(events)).toMatchObject({ tool: "isaacus_extract", error: "" });
  expect(wholeTurn(events).finalState).toMatchObject({ exitReason: "EXIT_REASON_COMPLETED", message: "Done." });
  const asked = events.find((event) => event.kind === "approvalRequired")?.approvalRequired;
  expect(JSON.parse(asked?.inputJson ?? "")).toMatchObject({ question: "What is the rent?" });
  expect(asked?.expireTime?.getTime()).toBeGreaterThan(Date.now());
});

test("a denied call is not made, and the turn goes on without it", async () => {
  const events = await decided("TOOL_CALL_DECISION_DENY");
  expect(outcome(events)?.error).toContain("did not approve");
  expect(wholeTurn(events).finalState.exitReason).toBe("EXIT_REASON_COMPLETED");
});

test("a turn that nobody reads waits on, tells what it waits for, and is followed when the person comes back", async () => {
  const asked = assistant.ask(request);
  const before = await lastValueFrom(
    asked.pipe(
      takeWhile((event) => event.kind !== "approvalRequired", true),
      toArray(),
    ),
  );
  const last = before.at(-1);
  if (last?.kind !== "approvalRequired") throw new Error("nobody was asked");
  const { turnId, sequence } = last;
  const waiting = await firstValueFrom(assistant.chat.getTurn({ turnId }));
  expect(waiting).toMatchObject({
    state: "TURN_STATE_AWAITING_APPROVAL",
    pendingApprovals: [{ callId: last.approvalRequired.callId }],
  });
  const after = lastValueFrom(followTurn(assistant.chat, { turnId, afterSequence: sequence }).pipe(toArray()));
  await assistant.decide(last, "TOOL_CALL_DECISION_APPROVE_ONCE");
  wholeTurn([...before, ...(await after)]);
});

test("a decision on a call that does not wait is refused with its reason", async () => {
  const events = await decided("TOOL_CALL_DECISION_APPROVE_ONCE");
  const asked = events.find((event) => event.kind === "approvalRequired");
  if (!asked) throw new Error("nobody was asked");
  const error = await failure(assistant.decide(asked, "TOOL_CALL_DECISION_DENY"));
  expect(error).toMatchObject({ status: "FAILED_PRECONDITION", reason: "TURN_NOT_WAITING" });
});
