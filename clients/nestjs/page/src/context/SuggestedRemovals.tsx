import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { Button } from "../core/components/index.js";
import type { ItemRef, RemovalSuggestion, Session } from "../core/contract.js";
import { counted } from "../core/format.js";
import { itemKey, itemName } from "./item-words.js";
import { suggestedRemovals } from "./session-items.js";

/** Items that entered some answers and were used by none; nothing is shown where there are none. */
export function SuggestedRemovals({ session, onRemove }: { session: Session; onRemove: (item: ItemRef) => void }) {
  const suggestions = useSignal<readonly RemovalSuggestion[]>([]);
  useEffect(() => {
    let isHere = true;
    suggestedRemovals(session.session_id).then(
      (found) => {
        if (isHere) suggestions.value = found;
      },
      // It is no more than advice.
      () => undefined,
    );
    return () => {
      isHere = false;
    };
  }, [session.session_id, session.message_count, suggestions]);
  const held = new Set(session.items.map(({ item }) => itemKey(item)));
  const left = suggestions.value.filter(({ item }) => held.has(itemKey(item.item)));
  if (left.length === 0) return null;
  return (
    <section class="context-block suggestions" aria-labelledby="suggestions-title">
      <h3 id="suggestions-title">Never used so far</h3>
      <ul class="items">
        {left.map(({ item: { item }, answers }) => (
          <li class="item" key={itemKey(item)}>
            <div class="item-line">
              <span class="item-name">{itemName(item)}</span>
              <span class="item-note">{`in ${counted(answers, "answer")}`}</span>
              <Button
                small
                aria-label={`Remove ${itemName(item)}, which was never used`}
                onClick={() => {
                  onRemove(item);
                }}
              >
                Remove
              </Button>
            </div>
          </li>
        ))}
      </ul>
    </section>
  );
}
