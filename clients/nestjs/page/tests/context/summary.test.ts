import { describe, expect, it } from "vitest";
import { summaryLine } from "../../src/context/summary.js";
import type { IncludeMode, ItemType } from "../../src/core/contract.js";

function items(
  type: ItemType,
  ...modes: ("AGENT" | "ALWAYS" | "MANUAL")[]
): { type: ItemType; include_mode: IncludeMode }[] {
  return modes.map((mode) => ({ type, include_mode: `INCLUDE_MODE_${mode}` as const }));
}

const RULE = "CONTEXT_ITEM_TYPE_RULE";
const REFERENCE = "CONTEXT_ITEM_TYPE_REFERENCE";
const TOOL = "CONTEXT_ITEM_TYPE_TOOL";

describe("the summary of a context", () => {
  it("counts items by kind and include mode", () => {
    const all = [
      ...items(RULE, "ALWAYS", "AGENT", "AGENT", "ALWAYS", "AGENT"),
      ...items(REFERENCE, "MANUAL", "AGENT"),
      ...items(TOOL, "MANUAL", "MANUAL", "MANUAL"),
    ];
    expect(summaryLine(all)).toBe(
      "5 rules (3 agent, 2 always), 2 references (1 agent, 1 manual), 3 tools (all manual)",
    );
  });

  it("says of one item how it came in", () => {
    expect(summaryLine(items(RULE, "AGENT"))).toBe("1 rule (agent)");
  });

  it("says that there is nothing", () => {
    expect(summaryLine([])).toBe("No rules, references or tools");
  });
});
