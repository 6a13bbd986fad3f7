import { render } from "preact";
import { act } from "preact/test-utils";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { newExchange } from "../../src/chat/exchange.js";
import { TurnEnd } from "../../src/chat/TurnEnd.js";
import type { FinalState } from "../../src/core/contract.js";
import { buttons, draw } from "../support/page.js";
import { CONTEXT, finalState } from "../support/turn-events.js";

const FILL = {
  characters_used: 11_000,
  characters_limit: 12_000,
  item_characters: 0,
  item_characters_limit: 0,
  item_tokens: 0,
  item_tokens_limit: 0,
};

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

/** The end as it is drawn `ago` milliseconds behind it. */
async function drawn(state: Partial<FinalState>, ago = 0): Promise<HTMLElement> {
  const { root, conversation } = draw(null);
  const exchange = newExchange({ question: "Who?" });
  exchange.view.value = { ...exchange.view.peek(), endTime: Date.now() - ago };
  const of = { exchange, end: finalState(state), conversation: conversation.current.peek() };
  await act(() => {
    render(<TurnEnd {...of} isLast />, root);
  });
  return root;
}

async function pass(ms: number): Promise<void> {
  await act(() => {
    vi.advanceTimersByTime(ms);
  });
}

describe("the end of a turn", () => {
  it("is silent for a usual answer", async () => {
    expect((await drawn({})).textContent).toBe("");
  });

  it.each([
    ["EXIT_REASON_MAX_TURNS_REACHED", "RETRYABLE_YES", true],
    ["EXIT_REASON_MAX_TOOL_CALLS_REACHED", "RETRYABLE_YES", true],
    ["EXIT_REASON_LLM_ERROR", "RETRYABLE_MAYBE", true],
    ["EXIT_REASON_LLM_GENERATION_FAILURE", "RETRYABLE_YES", true],
    ["EXIT_REASON_INVALID_TOOL_CALL", "RETRYABLE_YES", true],
    ["EXIT_REASON_DEADLINE_EXCEEDED", "RETRYABLE_YES", true],
    ["EXIT_REASON_INTERNAL_ERROR", "RETRYABLE_MAYBE", true],
    ["EXIT_REASON_CANCELLED", "RETRYABLE_NOT_APPLICABLE", false],
    ["EXIT_REASON_CANCELLED", "RETRYABLE_YES", true],
  ] as const)("says why for %s, and offers to ask again with %s: %o", async (exit_reason, retryable, isOffered) => {
    const root = await drawn({ exit_reason, retryable, display_message: false });
    expect(root.querySelector("p")?.textContent).toBeTruthy();
    expect(root.querySelector("button")?.textContent).toBe(isOffered ? "Try again" : undefined);
  });

  it.each([
    ["EXIT_CAUSE_BLOCKED", "EXIT_REASON_LLM_GENERATION_FAILURE", "Blocked"],
    ["EXIT_CAUSE_EMPTY", "EXIT_REASON_LLM_GENERATION_FAILURE", "returned nothing"],
    ["EXIT_CAUSE_MESSAGE_TOO_LONG", "EXIT_REASON_MAX_CONTEXT_REACHED", "too long"],
    ["EXIT_CAUSE_OVER_BUDGET", "EXIT_REASON_LLM_ERROR", "budget"],
    ["EXIT_CAUSE_LATER", "EXIT_REASON_LLM_ERROR", "language model failed"],
  ])("says the cause %s of %s, without a button where nothing can be done", async (cause, reason, words) => {
    const state = { exit_cause: cause, exit_reason: reason, retryable: "RETRYABLE_NO" } as Partial<FinalState>;
    const root = await drawn(state);
    expect(root.textContent).toContain(words);
    expect(root.querySelector("button")).toBeNull();
  });

  it("says when another try can help that cannot now", async () => {
    const root = await drawn({
      exit_reason: "EXIT_REASON_LLM_ERROR",
      exit_cause: "EXIT_CAUSE_OVER_BUDGET",
      retryable: "RETRYABLE_NO",
      retry_after_ms: 60_000,
    });
    expect(root.textContent).toMatch(/used up\. Not before \d\d:\d\d\.$/);
  });

  it.each([
    [{ exit_cause: "EXIT_CAUSE_CONVERSATION_FULL", exit_reason: "EXIT_REASON_MAX_CONTEXT_REACHED" }, "is full"],
    [{ exit_reason: "EXIT_REASON_MAX_CONTEXT_REACHED" }, "is full"],
    [{ request_context: { ...CONTEXT, fill: { ...FILL, near_limit: true } } }, "nearly full"],
  ] as [Partial<FinalState>, string][])(
    "offers a new conversation where this one has no room: %o",
    async (state, words) => {
      const root = await drawn({ retryable: "RETRYABLE_NO", ...state });
      expect(root.textContent).toContain(words);
      expect(buttons(root)).toEqual(["Continue in a new conversation"]);
    },
  );

  it("counts down until it can be asked again", async () => {
    const root = await drawn({
      exit_reason: "EXIT_REASON_RATE_LIMITED",
      retryable: "RETRYABLE_YES",
      retry_after_ms: 3_000,
    });
    const button = root.querySelector("button");
    expect([button?.textContent, button?.disabled]).toEqual(["Try again in 3 s", true]);
    await pass(1_500);
    expect(button?.textContent).toBe("Try again in 2 s");
    await pass(2_000);
    expect([button?.textContent, button?.disabled]).toEqual(["Try again", false]);
  });

  it.each([
    [1_000, "Try again in 2 s"],
    [60_000, "Try again"],
    // A clock that is ahead of this one.
    [-60_000, "Try again in 3 s"],
  ])("counts from the end that was %d ms ago, not from when it is drawn", async (ago, words) => {
    const limited = {
      exit_reason: "EXIT_REASON_RATE_LIMITED",
      retryable: "RETRYABLE_YES",
      retry_after_ms: 3_000,
    } as const;
    expect((await drawn(limited, ago)).querySelector("button")?.textContent).toBe(words);
  });
});
