import { useSignal } from "@preact/signals";
import { useEffect, useId } from "preact/hooks";
import { useConversation } from "../chat/opened-conversation.js";
import { ApiError } from "../core/api.js";
import { Button, ErrorNote } from "../core/components/index.js";
import type { CatalogItem, ItemRef, ItemType, Session } from "../core/contract.js";
import { itemKey, itemName, ITEM_TYPES, TYPE_WORDS } from "./item-words.js";
import { addItem, catalogItems, nearMatches, typedItem } from "./session-items.js";

/** Adds an item by its name; where the catalog has none of it, those with a name like it are offered. */
export function AddItem({ session }: { session: Session }) {
  const conversation = useConversation();
  const id = useId();
  const type = useSignal<ItemType>("CONTEXT_ITEM_TYPE_RULE");
  const name = useSignal("");
  const failure = useSignal<ApiError | undefined>(undefined);
  const catalog = useCatalog();
  const add = async (item: ItemRef): Promise<void> => {
    failure.value = undefined;
    try {
      conversation.take(await addItem(session.session_id, item));
      name.value = "";
    } catch (error) {
      failure.value = ApiError.from(error);
    }
  };
  const held = new Set(session.items.map(({ item }) => itemKey(item)));
  const offered = catalog.filter(({ item }) => item.type === type.value && !held.has(itemKey(item)));
  return (
    <form
      class="add-item"
      onSubmit={(event) => {
        event.preventDefault();
        if (name.peek().trim()) void add(typedItem(type.peek(), name.peek()));
      }}
    >
      <div class="add-item-line">
        <label class="visually-hidden" for={`${id}-type`}>
          Kind of item
        </label>
        <select
          id={`${id}-type`}
          class="field add-item-type"
          value={type.value}
          onChange={(event) => (type.value = event.currentTarget.value as ItemType)}
        >
          {ITEM_TYPES.map((each) => (
            <option key={each} value={each}>
              {TYPE_WORDS[each].title.replace(/s$/, "")}
            </option>
          ))}
        </select>
        <label class="visually-hidden" for={`${id}-name`}>
          Name of the item to add
        </label>
        <input
          id={`${id}-name`}
          class="field"
          list={`${id}-offered`}
          placeholder="Name"
          maxLength={128}
          autocomplete="off"
          value={name.value}
          onInput={(event) => (name.value = event.currentTarget.value)}
        />
        <datalist id={`${id}-offered`}>
          {offered.map(({ item, description }) => (
            <option key={itemKey(item)} value={itemName(item)} label={description} />
          ))}
        </datalist>
        <Button type="submit" disabled={name.value.trim() === ""}>
          Add
        </Button>
      </div>
      {failure.value && <AddFailure failure={failure.value} onAdd={(item) => void add(item)} />}
    </form>
  );
}

function AddFailure({ failure, onAdd }: { failure: ApiError; onAdd: (item: ItemRef) => void }) {
  const near = nearMatches(failure.problem.metadata);
  if (near.length === 0) return <ErrorNote error={failure} />;
  return (
    <div class="near-matches" role="alert">
      <p>The catalog has no item of this name. Did you mean:</p>
      <div class="picker-choices">
        {near.map((item) => (
          <Button
            key={itemKey(item)}
            small
            onClick={() => {
              onAdd(item);
            }}
          >
            {itemName(item)} <span class="near-type">{TYPE_WORDS[item.type].one}</span>
          </Button>
        ))}
      </div>
    </div>
  );
}

/** The catalog's items, empty until they are there: names can be typed without them. */
function useCatalog(): readonly CatalogItem[] {
  const items = useSignal<readonly CatalogItem[]>([]);
  useEffect(() => {
    let isHere = true;
    catalogItems().then(
      (found) => {
        if (isHere) items.value = found;
      },
      () => undefined,
    );
    return () => {
      isHere = false;
    };
  }, [items]);
  return items.value;
}
