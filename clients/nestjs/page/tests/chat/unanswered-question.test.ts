import { afterEach, expect, it, vi } from "vitest";
import { Conversation } from "../../src/chat/conversation.js";
import { PendingQuestions } from "../../src/chat/pending-questions.js";
import { gatewayWith } from "../support/gateway.js";

/** However busy the machine is. */
const PATIENT = { timeout: 30_000 };
const QUESTION = "Which law governs the lease?";
const SESSION = { session_id: "s", items: [], approved_tools: [], running_turn_id: "", message_count: 0 };

afterEach(() => {
  vi.unstubAllGlobals();
  sessionStorage.clear();
});

/** The conversation as a page finds it that is loaded anew: with a question that was asked, and the messages there are. */
async function found(...messages: object[]): Promise<Conversation> {
  new PendingQuestions(sessionStorage).keep("s", QUESTION);
  return opened(...messages);
}

async function opened(...messages: object[]): Promise<Conversation> {
  gatewayWith({
    "GET /sessions/s": { session: SESSION },
    "GET /sessions/s/messages": { messages, next_page_token: "" },
  });
  const events = { onBegun: () => undefined, onChanged: () => undefined, onContinued: () => undefined };
  const conversation = new Conversation("s", new PendingQuestions(sessionStorage), events);
  await vi.waitFor(() => {
    expect(conversation.isLoading.value).toBe(false);
  }, PATIENT);
  expect(conversation.loadError.value).toBeUndefined();
  return conversation;
}

function message(role: string, content: string): object {
  return { role: `MESSAGE_ROLE_${role}`, content, turn_id: "t", message_id: role };
}

it("waits in the box again, for the service has died over it and stored nothing", async () => {
  const conversation = await found();
  expect(conversation.draft.value).toBe(QUESTION);
  expect(conversation.notice.value).toContain("was not answered");
  expect(new PendingQuestions(sessionStorage).read("s")).toBe("");
});

it("waits in the box again where there was no room for it, also in a conversation that is opened later", async () => {
  const full = { exit_reason: "EXIT_REASON_MAX_CONTEXT_REACHED", exit_cause: "EXIT_CAUSE_CONVERSATION_FULL" };
  const stored = [
    message("USER", "Shorter?"),
    { ...message("ERROR", "It is full."), turn: { ...full, tool_calls: [] } },
  ];
  expect((await found(...stored)).draft.value).toBe(QUESTION);
  expect((await opened(...stored)).draft.value).toBe("Shorter?");
});

it("does not wait where it was answered meanwhile", async () => {
  const conversation = await found(message("USER", `${QUESTION} `), message("ASSISTANT", "Delaware."));
  expect([conversation.draft.value, conversation.notice.value]).toEqual(["", ""]);
  expect(conversation.exchanges.value).toHaveLength(1);
});
