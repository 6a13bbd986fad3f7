import { act } from "preact/test-utils";
import { afterEach, expect, it, vi } from "vitest";
import { SessionListContext, SessionList } from "../../src/chat/session-list.js";
import { Sessions } from "../../src/chat/Sessions.js";
import { Matters } from "../../src/matters/Matters.js";
import { gatewayWith, problemOf } from "../support/gateway.js";
import { click, drawAll } from "../support/page.js";

const SESSION = { session_id: "s", items: [], approved_tools: [], running_turn_id: "", message_count: 2, title: "" };
const MATTER = { matter_id: "m", name: "Lease", document_count: 0, ready_count: 0, notes: "" };

afterEach(() => {
  vi.unstubAllGlobals();
  document.body.replaceChildren();
});

async function type(root: HTMLElement, text: string): Promise<void> {
  const input = root.querySelector<HTMLInputElement>(".name-form input");
  if (!input) throw new Error("There is no form");
  await act(() => {
    input.value = text;
    input.dispatchEvent(new Event("input", { bubbles: true }));
  });
}

it("a conversation stands under its first question until it is given a title", async () => {
  const calls = gatewayWith({
    "GET /sessions": { sessions: [SESSION], next_page_token: "" },
    "GET /sessions/s/messages": { messages: [{ content: "Which law?" }], next_page_token: "" },
    "PATCH /sessions/s": { session: { ...SESSION, title: "Governing law" } },
  });
  const { root } = await drawAll(
    <SessionListContext.Provider value={new SessionList()}>
      <Sessions />
    </SessionListContext.Provider>,
  );
  await vi.waitFor(() => {
    expect(root.querySelector(".session-title")?.textContent).toBe("Which law?");
  });
  await click(root, "Rename “Which law?”");
  await type(root, " Governing law ");
  await click(root, "Rename");
  expect(calls.at(-1)).toMatchObject({ route: "PATCH /sessions/s", body: { title: "Governing law" } });
  expect(root.querySelector(".session-title")?.textContent).toBe("Governing law");
  expect(document.activeElement?.getAttribute("aria-label")).toBe("Rename “Governing law”");
});

it("a matter is renamed where it stands, and what the service refuses is told there", async () => {
  const answers: Record<string, unknown> = {
    "GET /matters": { matters: [MATTER], next_page_token: "" },
    "PATCH /matters/m": () => problemOf(400, "The name is too long"),
  };
  gatewayWith(answers);
  const { root } = await drawAll(<Matters />);
  await click(root, "Rename the matter Lease");
  await type(root, "Sale");
  await click(root, "Rename");
  expect(root.querySelector(".name-form")?.textContent).toContain("The name is too long");
  answers["PATCH /matters/m"] = { matter: { ...MATTER, name: "Sale" } };
  await click(root, "Rename");
  expect(root.querySelector(".matter-name")?.textContent).toBe("Sale");
  expect(document.activeElement?.getAttribute("aria-label")).toBe("Rename the matter Sale");
});
