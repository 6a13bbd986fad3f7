import { expect } from "vitest";
import type { TurnEvent } from "../../src/index.js";

/** Checks that the events are a whole turn, each sequence in exactly one of them, and returns the last. */
export function wholeTurn(events: readonly TurnEvent[]): Extract<TurnEvent, { kind: "finalState" }> {
  let following = 1;
  for (const event of events) {
    expect(event.kind === "token" ? event.token.firstSequence : event.sequence).toBe(following);
    following = event.sequence + 1;
  }
  expect(events[0]?.kind).toBe("turnStart");
  expect(events.filter((event) => event.kind === "finalState")).toHaveLength(1);
  const last = events.at(-1);
  if (last?.kind !== "finalState") throw new Error(`the last event is ${last?.kind ?? "missing"}`);
  return last;
}
