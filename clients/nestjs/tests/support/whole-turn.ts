import { expect } from "vitest";
import type { Heard } from "./browser.js";

/** What tests look at in a final state. */
export interface FinalState {
  turn_id: string;
  message: string;
  exit_reason: string;
  retryable: string;
}

/** Checks that the events are a whole turn, each sequence in exactly one of them, and returns the final state. */
export function wholeTurn(events: readonly Heard[]): FinalState {
  let following = 1;
  for (const { id, event, data } of events) {
    expect(data.sequence).toBe(id);
    expect(event === "token" ? data.first_sequence : data.sequence).toBe(following);
    following = Number(data.sequence) + 1;
  }
  expect(events[0]?.event).toBe("turn_start");
  expect(events.at(-1)?.event).toBe("final_state");
  return events.at(-1)?.data as unknown as FinalState;
}

/** The text that the tokens make, without what was discarded. */
export function textOf(events: readonly Heard[]): string {
  const discarded = new Set(events.filter(({ event }) => event === "text_discarded").map(({ data }) => data.text_id));
  const tokens = events.filter(({ event, data }) => event === "token" && !discarded.has(data.text_id));
  return tokens.map(({ data }) => data.text as string).join("");
}
