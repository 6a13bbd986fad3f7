import { Disclosure, Pill } from "../core/components/index.js";
import type { ContextItem, IncludeMode, ItemRef } from "../core/contract.js";
import { formatScore, itemKey, itemName, ITEM_TYPES, MODE_WORDS, TYPE_WORDS } from "./item-words.js";

interface ItemSectionsProps {
  items: readonly ContextItem[];
  onOpen: (item: ItemRef) => void;
}

/** Rules, references and tools, each section collapsible. */
export function ItemSections({ items, onOpen }: ItemSectionsProps) {
  return (
    <>
      {ITEM_TYPES.map((type) => {
        const own = items.filter((item) => item.type === type);
        if (own.length === 0) return null;
        return (
          <Disclosure
            key={type}
            class="section"
            isOpen
            summary={<SectionTitle title={TYPE_WORDS[type].title} count={own.length} />}
          >
            <ul class="items">
              {own.map((item) => (
                <ItemRow key={itemKey(item)} item={item} onOpen={onOpen} />
              ))}
            </ul>
          </Disclosure>
        );
      })}
    </>
  );
}

/** A section's title and how much is in it. */
export function SectionTitle({ title, count }: { title: string; count: number }) {
  return (
    <h3 class="section-title">
      {title} <span class="section-count">({count})</span>
    </h3>
  );
}

function ItemRow({ item, onOpen }: { item: ContextItem; onOpen: (item: ItemRef) => void }) {
  return (
    <li class="item" data-item={itemKey(item)}>
      <div class="item-line">
        <ItemLink item={item} onOpen={onOpen} />
        {item.cited && (
          <Pill
            tone="good"
            title={item.type === "CONTEXT_ITEM_TYPE_TOOL" ? "It was called" : "The answer quotes or names it"}
          >
            Used
          </Pill>
        )}
        {item.missing && (
          <Pill tone="warning" title="It has left the catalog since">
            Missing
          </Pill>
        )}
        <ModePill mode={item.include_mode} score={item.similarity_score} />
      </div>
      {item.note !== "" && <p class="item-note">{item.note}</p>}
    </li>
  );
}

/** The item's name; it opens the item's text. */
export function ItemLink({ item, onOpen }: { item: ItemRef; onOpen: (item: ItemRef) => void }) {
  return (
    <button
      type="button"
      class="item-link"
      onClick={() => {
        onOpen(item);
      }}
    >
      {itemName(item)}
    </button>
  );
}

/** How the item came in; of those that were chosen, how similar it is to the message. */
export function ModePill({ mode, score }: { mode: IncludeMode; score?: number | undefined }) {
  const words = MODE_WORDS[mode];
  const title = {
    INCLUDE_MODE_ALWAYS: "Part of every new session",
    INCLUDE_MODE_MANUAL: "Added by a person",
    INCLUDE_MODE_AGENT: "Chosen for this message by its similarity",
  }[mode];
  return (
    <Pill tone={mode === "INCLUDE_MODE_AGENT" ? "accent" : "neutral"} title={title}>
      {score === undefined ? words : `${words} - ${formatScore(score)}`}
    </Pill>
  );
}
