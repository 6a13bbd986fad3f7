import { act } from "preact/test-utils";
import { afterEach, describe, expect, it, vi } from "vitest";
import type { Conversation } from "../../src/chat/conversation.js";
import { MessageList } from "../../src/chat/MessageList.js";
import { PendingQuestions } from "../../src/chat/pending-questions.js";
import type { FinalState } from "../../src/core/contract.js";
import { gatewayWith, problemOf, streamOf } from "../support/gateway.js";
import { buttons, click, drawAll } from "../support/page.js";
import * as make from "../support/turn-events.js";

const QUESTION = "Which law governs the lease?";
const FULL: Partial<FinalState> = {
  exit_reason: "EXIT_REASON_MAX_CONTEXT_REACHED",
  exit_cause: "EXIT_CAUSE_CONVERSATION_FULL",
  retryable: "RETRYABLE_NO",
  message: "There is no room left.",
};
const NEW = { session_id: "new", items: [], approved_tools: [], running_turn_id: "", message_count: 2 };

afterEach(() => {
  vi.unstubAllGlobals();
  sessionStorage.clear();
  location.hash = "";
});

function ending(state: Partial<FinalState>): () => Response {
  return () => streamOf(make.events(make.start, make.end(state)));
}

/** Asks in a new conversation, and waits until that has come to its end. */
async function asked(
  answers: Record<string, unknown>,
  whileItRuns: (conversation: Conversation) => void = () => undefined,
) {
  const calls = gatewayWith(answers);
  const drawn = await drawAll((conversation) => <MessageList conversation={conversation} />);
  const conversation = drawn.conversation.current.peek();
  const unfollow = drawn.conversation.follow();
  await act(async () => {
    const asking = conversation.ask(QUESTION, undefined);
    whileItRuns(conversation);
    await asking;
  });
  return { ...drawn, conversation, opened: drawn.conversation, calls, unfollow };
}

describe("a question that came to nothing", () => {
  it.each([
    ["COMPLETED", "UNSPECIFIED", "NOT_APPLICABLE", ""],
    ["MAX_TOOL_CALLS_REACHED", "UNSPECIFIED", "YES", ""],
    ["MAX_CONTEXT_REACHED", "CONVERSATION_FULL", "NO", QUESTION],
    ["MAX_CONTEXT_REACHED", "MESSAGE_TOO_LONG", "NO", QUESTION],
    ["RATE_LIMITED", "UNSPECIFIED", "YES", QUESTION],
    ["LLM_ERROR", "PROVIDER_PAUSED", "YES", QUESTION],
    ["LLM_GENERATION_FAILURE", "EMPTY", "YES", QUESTION],
    ["LLM_GENERATION_FAILURE", "BLOCKED", "NO", QUESTION],
    ["LLM_GENERATION_FAILURE", "NOTHING_FOUND", "YES", ""],
    ["LLM_GENERATION_FAILURE", "UNGROUNDED", "YES", ""],
    ["CANCELLED", "CANCELLED_BY_CALLER", "NOT_APPLICABLE", ""],
    ["CANCELLED", "STOPPING", "YES", QUESTION],
  ])("as by %s (%s), is back in the box; one that was answered, refused or stopped is not", async (...of) => {
    const [reason, cause, retryable, waiting] = of;
    const state = {
      exit_reason: `EXIT_REASON_${reason}`,
      exit_cause: `EXIT_CAUSE_${cause}`,
      retryable: `RETRYABLE_${retryable}`,
    } as Partial<FinalState>;
    const { conversation, unfollow } = await asked({ "POST /chat": ending(state) });
    expect(conversation.draft.value).toBe(waiting);
    expect(conversation.notice.value !== "").toBe(waiting !== "");
    unfollow();
  });

  it.each([
    [400, []],
    [403, []],
    [500, ["Try again"]],
  ])("as by a refusal with %i, is back in the box, with %o", async (status, offered) => {
    const { conversation, root, unfollow } = await asked({ "POST /chat": () => problemOf(status, "No.") });
    expect(conversation.draft.value).toBe(QUESTION);
    expect(buttons(root)).toEqual(offered);
    unfollow();
  });

  it("does not take the place of one that the person has begun meanwhile", async () => {
    const { conversation, unfollow } = await asked({ "POST /chat": ending(FULL) }, (asking) => {
      asking.draft.value = "And who";
    });
    expect(conversation.draft.value).toBe("And who");
    unfollow();
  });

  it("leaves the box when it is asked again", async () => {
    const limited = { exit_reason: "EXIT_REASON_RATE_LIMITED", retryable: "RETRYABLE_YES" } as const;
    const { conversation, root, calls, unfollow } = await asked({ "POST /chat": ending(limited) });
    expect(conversation.draft.value).toBe(QUESTION);
    gatewayWith({ "POST /chat": ending({ message: "Oregon." }) });
    await click(root, "Try again");
    await vi.waitFor(() => {
      expect(conversation.exchanges.value.at(-1)?.view.value.end?.message).toBe("Oregon.");
    });
    expect([conversation.draft.value, conversation.notice.value]).toEqual(["", ""]);
    expect(calls.filter(({ route }) => route === "POST /chat")).toHaveLength(1);
    unfollow();
  });
});

describe("a conversation that is full", () => {
  it("goes on in a new one, into which the question goes along", async () => {
    const { root, opened, navigation, conversation, calls, unfollow } = await asked({ "POST /chat": ending(FULL) });
    const path = `POST /sessions/${conversation.sessionId}/continue`;
    const going = gatewayWith({
      [path]: { session: NEW },
      "GET /sessions/new": { session: NEW },
      "GET /sessions/new/messages": { messages: [], next_page_token: "" },
      "GET /sessions": { sessions: [NEW], next_page_token: "" },
    });
    await click(root, "Continue in a new conversation");
    expect(going.map(({ route }) => route)).toContain(path);
    expect(navigation.sessionId.value).toBe("new");
    await vi.waitFor(() => {
      expect(opened.current.value.draft.value).toBe(QUESTION);
    });
    expect(opened.current.value.sessionId).toBe("new");
    expect(new PendingQuestions(sessionStorage).read(conversation.sessionId)).toBe("");
    expect(calls.some(({ route }) => route === path)).toBe(false);
    unfollow();
  });

  it("says why where it cannot go on, and keeps the question", async () => {
    const { root, conversation, unfollow } = await asked({ "POST /chat": ending(FULL) });
    gatewayWith({});
    await click(root, "Continue in a new conversation");
    expect(root.querySelector(".error-note")?.textContent).toContain("Not found");
    expect(conversation.draft.value).toBe(QUESTION);
    unfollow();
  });
});
