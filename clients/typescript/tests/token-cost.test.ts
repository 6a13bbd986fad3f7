import { lastValueFrom, map, range } from "rxjs";
import { expect, test } from "vitest";
import { agentEvents } from "../src/index.js";
import type { ChatCalls, TurnEvent } from "../src/index.js";
import type { AgentEvent, FinalState } from "../src/stubs/proviso/v1/chat.js";

const END = { message: "Done.", citations: [] as object[] } as FinalState;

/** A turn of so many tokens, without a connection. */
function turnOf(tokens: number): ChatCalls {
  const event = (sequence: number): AgentEvent => ({
    turnId: "turn",
    sequence,
    emitTime: { seconds: "1", nanos: 0 },
    ...(sequence > tokens ? { finalState: END } : { token: { textId: "a", text: "four ", firstSequence: sequence } }),
  });
  const unused = (): never => {
    throw new Error("not called");
  };
  return { chat: () => range(1, tokens + 1).pipe(map(event)), resumeChat: unused, getTurn: unused };
}

/** CPU of this process for a token, in microseconds. */
async function costOf(tokens: number): Promise<number> {
  const before = process.cpuUsage();
  const last: TurnEvent = await lastValueFrom(agentEvents(turnOf(tokens), { message: "Hi" }));
  const { user, system } = process.cpuUsage(before);
  expect(last.sequence).toBe(tokens + 1);
  return (user + system) / tokens;
}

test("a token costs microseconds, in a long answer as in a short one", async () => {
  await costOf(20_000); // the engine has compiled it by then
  for (const tokens of [2_000, 30_000]) {
    const costs = [await costOf(tokens), await costOf(tokens), await costOf(tokens)];
    // The best of three: a busy machine only ever adds to what it takes.
    expect(Math.min(...costs)).toBeLessThan(50);
  }
});
