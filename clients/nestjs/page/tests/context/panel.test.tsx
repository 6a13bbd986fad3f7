import { render } from "preact";
import type { ComponentChildren } from "preact";
import { describe, expect, it } from "vitest";
import { ContextPanel } from "../../src/context/ContextPanel.js";
import { FillMeters } from "../../src/context/FillMeters.js";
import { ItemSections } from "../../src/context/ItemSections.js";
import type { ContextFill, ContextItem } from "../../src/core/contract.js";
import { draw } from "../support/page.js";

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
});
