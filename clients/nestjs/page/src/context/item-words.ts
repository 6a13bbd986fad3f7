import type { IncludeMode, ItemRef, ItemType, OmissionReason } from "../core/contract.js";

export const ITEM_TYPES: readonly ItemType[] = [
  "CONTEXT_ITEM_TYPE_RULE",
  "CONTEXT_ITEM_TYPE_REFERENCE",
  "CONTEXT_ITEM_TYPE_TOOL",
];

export const TYPE_WORDS: Record<ItemType, { one: string; many: string; title: string }> = {
  CONTEXT_ITEM_TYPE_RULE: { one: "rule", many: "rules", title: "Rules" },
  CONTEXT_ITEM_TYPE_REFERENCE: { one: "reference", many: "references", title: "References" },
  CONTEXT_ITEM_TYPE_TOOL: { one: "tool", many: "tools", title: "Tools" },
};

export const MODE_WORDS: Record<IncludeMode, string> = {
  INCLUDE_MODE_AGENT: "Agent",
  INCLUDE_MODE_ALWAYS: "Always",
  INCLUDE_MODE_MANUAL: "Manual",
};

export const OMISSION_WORDS: Record<OmissionReason, string> = {
  OMISSION_REASON_BELOW_THRESHOLD: "Not similar enough to the message",
  OMISSION_REASON_BUDGET: "Better ones took its place or the room",
  OMISSION_REASON_SEARCH_FAILED: "The search for items failed or took too long",
  OMISSION_REASON_DISABLED: "Switched off in the catalog",
};

/** An item's name, a tool's with its server. */
export function itemName({ name, server_name: server }: ItemRef): string {
  return server ? `${server}:${name}` : name;
}

/** Tells items apart. */
export function itemKey(item: ItemRef): string {
  return `${item.type} ${itemName(item)}`;
}

/** A similarity of 0 to 1, as in "0.87". */
export function formatScore(score: number): string {
  return score.toFixed(2);
}
