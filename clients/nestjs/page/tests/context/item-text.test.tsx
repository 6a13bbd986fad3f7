import { afterEach, expect, it, vi } from "vitest";
import { ItemText } from "../../src/context/ItemText.js";
import { gatewayWith } from "../support/gateway.js";
import { click, drawAll } from "../support/page.js";

const ITEM = { type: "CONTEXT_ITEM_TYPE_RULE", name: "Plain language", server_name: "" } as const;

afterEach(() => {
  vi.unstubAllGlobals();
});

it("is asked for again where the gateway did not answer", async () => {
  const answers: Record<string, unknown> = {};
  gatewayWith(answers);
  const { root } = await drawAll(<ItemText item={ITEM} onBack={() => undefined} onClose={() => undefined} />);
  expect(root.querySelector("[role=alert]")?.textContent).toContain("Not found");
  const item = { item: ITEM, description: "How to write", characters: 12, enabled: true, approval: "" };
  answers["GET /catalog/items/CONTEXT_ITEM_TYPE_RULE/Plain%20language"] = { item, content: "Write plainly." };
  await click(root, "Try again");
  expect(root.querySelector(".item-text")?.textContent).toBe("Write plainly.");
  expect(root.querySelector("[role=alert]")).toBeNull();
});
