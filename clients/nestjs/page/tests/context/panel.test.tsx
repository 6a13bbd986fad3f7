import { render } from "preact";
import type { ComponentChildren } from "preact";
import { describe, expect, it, vi } from "vitest";
import { newExchange } from "../../src/chat/exchange.js";
import { newTurnView, withEvent } from "../../src/chat/turn-view.js";
import { ContextPanel } from "../../src/context/ContextPanel.js";
import { FillMeters } from "../../src/context/FillMeters.js";
import { ItemSections } from "../../src/context/ItemSections.js";
import type { ContextFill, ContextItem } from "../../src/core/contract.js";
import { gatewayWith } from "../support/gateway.js";
import { draw, drawAll } from "../support/page.js";
import { CONTEXT, end, events, finalState, start } from "../support/turn-events.js";

function item(name: string, more: Partial<ContextItem> = {}): ContextItem {
  const usual = { type: "CONTEXT_ITEM_TYPE_RULE", server_name: "", include_mode: "INCLUDE_MODE_ALWAYS" } as const;
  return { ...usual, name, content_sha256: "", missing: false, note: "", cited: false, ...more };
}

function drawn(parts: ComponentChildren): HTMLElement {
  const root = document.createElement("div");
  render(parts, root);
  return root;
}

const FILL: ContextFill = {
  characters_used: 9_700,
  characters_limit: 12_000,
  item_characters: 17_283,
  item_characters_limit: 40_000,
  item_tokens: 4_327,
  item_tokens_limit: 12_000,
  near_limit: false,
};

describe("the items of a context", () => {
  it("have pills for how they came in, whether they were used, and whether they have left the catalog", () => {
    const items = [
      item("Plain language", { missing: true, note: "it is not in the catalog" }),
      item("House style", {
        type: "CONTEXT_ITEM_TYPE_REFERENCE",
        include_mode: "INCLUDE_MODE_AGENT",
        similarity_score: 0.875,
        cited: true,
      }),
      item("query", { type: "CONTEXT_ITEM_TYPE_TOOL", server_name: "database", include_mode: "INCLUDE_MODE_MANUAL" }),
    ];
    const root = drawn(<ItemSections items={items} onOpen={() => undefined} />);
    const rows = Array.from(root.querySelectorAll(".item"), (row) =>
      Array.from(row.querySelectorAll(".item-link, .pill, .item-note"), (part) => part.textContent),
    );
    expect(rows).toEqual([
      ["Plain language", "Missing", "Always", "it is not in the catalog"],
      ["House style", "Used", "Agent - 0.88"],
      ["database:query", "Manual"],
    ]);
    expect(Array.from(root.querySelectorAll("h3"), (title) => title.textContent)).toEqual([
      "Rules (1)",
      "References (1)",
      "Tools (1)",
    ]);
  });
});

describe("the room of a context", () => {
  it("is told in characters and tokens", () => {
    const root = drawn(<FillMeters fill={FILL} />);
    expect(root.textContent).toContain("9,700 of 12,000 characters");
    expect(root.querySelector(".fill-warning")).toBeNull();
  });

  it("warns when it is nearly used up", () => {
    const root = drawn(<FillMeters fill={{ ...FILL, near_limit: true }} />);
    expect(root.querySelector(".fill-warning")?.textContent).toContain("nearly used up");
  });
});

describe("the panel", () => {
  it("says so where an answer has no context", () => {
    expect(draw(<ContextPanel turnId="unknown" />).root.textContent).toContain("No context data available");
  });

  it("reads the lists of a context that came without them", async () => {
    const context = { ...CONTEXT, items: [item("House style")] };
    gatewayWith({
      "GET /turns/turn-1": { turn_id: "turn-1", final_state: finalState({ request_context: context }) },
    });
    const { root, conversation } = await drawAll(<ContextPanel turnId="turn-1" />);
    const exchange = newExchange({ question: "Which?", turnId: "turn-1" });
    exchange.view.value = events(start, end({ request_context: CONTEXT })).reduce(withEvent, newTurnView("turn-1"));
    conversation.current.peek().exchanges.value = [exchange];
    await vi.waitFor(() => {
      expect(root.textContent).toContain("House style");
    });
    vi.unstubAllGlobals();
  });
});
