import { counted } from "../core/format.js";
import type { IncludeMode, ItemType } from "../core/contract.js";
import { ITEM_TYPES, MODE_WORDS, TYPE_WORDS } from "./item-words.js";

interface Counted {
  type: ItemType;
  include_mode: IncludeMode;
}

const MODES: readonly IncludeMode[] = ["INCLUDE_MODE_AGENT", "INCLUDE_MODE_ALWAYS", "INCLUDE_MODE_MANUAL"];

/** The items in a line: "5 rules (3 agent, 2 always), 1 reference (manual), 3 tools (all manual)". */
export function summaryLine(items: readonly Counted[]): string {
  const parts = ITEM_TYPES.map((type) => part(type, items)).filter((text) => text !== "");
  return parts.length > 0 ? parts.join(", ") : "No rules, references or tools";
}

function part(type: ItemType, items: readonly Counted[]): string {
  const own = items.filter((item) => item.type === type);
  if (own.length === 0) return "";
  const counts = MODES.map((mode) => ({
    mode: MODE_WORDS[mode].toLowerCase(),
    count: own.filter(({ include_mode }) => include_mode === mode).length,
  })).filter(({ count }) => count > 0);
  const [first] = counts;
  const { one, many } = TYPE_WORDS[type];
  const only = own.length === 1 ? (first?.mode ?? "") : `all ${first?.mode ?? ""}`;
  const modes = counts.length === 1 ? only : counts.map(({ mode, count }) => `${count} ${mode}`).join(", ");
  return `${counted(own.length, one, many)} (${modes})`;
}
