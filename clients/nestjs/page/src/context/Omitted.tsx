import { Disclosure, Pill } from "../core/components/index.js";
import type { ItemRef, OmittedItem } from "../core/contract.js";
import { ItemLink, SectionTitle } from "./ItemSections.js";
import { formatScore, itemKey, OMISSION_WORDS, TYPE_WORDS } from "./item-words.js";

/** What was considered and left out, and why. */
export function Omitted({ omitted, onOpen }: { omitted: readonly OmittedItem[]; onOpen: (item: ItemRef) => void }) {
  if (omitted.length === 0) return null;
  return (
    <Disclosure class="section" summary={<SectionTitle title="Left out" count={omitted.length} />}>
      <ul class="items">
        {omitted.map(({ item, reason, score }) => (
          <li class="item" key={itemKey(item)} data-item={itemKey(item)}>
            <div class="item-line">
              <ItemLink item={item} onOpen={onOpen} />
              <Pill>
                {TYPE_WORDS[item.type].one}
                {score === undefined ? "" : ` - ${formatScore(score)}`}
              </Pill>
            </div>
            <p class="item-note">{OMISSION_WORDS[reason]}</p>
          </li>
        ))}
      </ul>
    </Disclosure>
  );
}
