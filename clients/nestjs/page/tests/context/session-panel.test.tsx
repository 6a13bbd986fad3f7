import { afterEach, describe, expect, it, vi } from "vitest";
import { SessionPanel } from "../../src/context/SessionPanel.js";
import type { ItemRef, Session, SessionItem } from "../../src/core/contract.js";
import { gatewayWith } from "../support/gateway.js";
import { click, drawAll } from "../support/page.js";

function held(name: string): SessionItem {
  const item: ItemRef = { type: "CONTEXT_ITEM_TYPE_RULE", name, server_name: "" };
  return { item, include_mode: "INCLUDE_MODE_ALWAYS", missing: false };
}

function sessionWith(...items: SessionItem[]): Session {
  return { session_id: "s1", items, running_turn_id: "", message_count: 6, approved_tools: [], title: "", notes: "" };
}

afterEach(() => {
  vi.unstubAllGlobals();
});

describe("items that no answer has used", () => {
  const [plain, jurisdictions] = [held("Plain language"), held("Jurisdictions")];

  async function drawn() {
    const calls = gatewayWith({
      "GET /catalog/items": { items: [], next_page_token: "" },
      // The second is not in the session any more.
      "GET /sessions/s1/suggested-removals": {
        suggestions: [
          { item: plain, answers: 3 },
          { item: held("Gone"), answers: 4 },
        ],
      },
      "DELETE /sessions/s1/context-items": { session: sessionWith(jurisdictions) },
    });
    const page = await drawAll((conversation) => {
      conversation.take(sessionWith(plain, jurisdictions));
      return <SessionPanel />;
    });
    return { ...page, calls };
  }

  const suggested = (root: HTMLElement) =>
    Array.from(root.querySelectorAll(".suggestions li"), (row) => row.textContent);

  it("are suggested for removal, with the answers that they entered", async () => {
    const { root } = await drawn();
    expect(suggested(root)).toEqual(["Plain languagein 3 answersRemove"]);
  });

  it("are removed, and the focus stays in the panel", async () => {
    const { root, calls } = await drawn();
    await click(root, "Remove Plain language, which was never used");
    expect(calls.find(({ route }) => route.startsWith("DELETE"))?.query).toEqual({
      type: "CONTEXT_ITEM_TYPE_RULE",
      name: "Plain language",
    });
    expect(suggested(root)).toEqual([]);
    expect(Array.from(root.querySelectorAll(".item-link"), (link) => link.textContent)).toEqual(["Jurisdictions"]);
    expect(document.activeElement).toBe(root.querySelector("h2"));
  });
});
