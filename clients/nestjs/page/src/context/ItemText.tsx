import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { Button, ErrorNote, Panel, Pill, Spinner } from "../core/components/index.js";
import { api, pathOf } from "../core/api.js";
import type { CatalogItem, ItemRef } from "../core/contract.js";
import { formatCount } from "../core/format.js";
import { itemKey, itemName, TYPE_WORDS } from "./item-words.js";

interface CatalogEntry {
  item: CatalogItem;
  content: string;
}

interface ItemTextProps {
  item: ItemRef;
  onBack: () => void;
  onClose: () => void;
}

/** An item's text as the catalog has it now. */
export function ItemText({ item, onBack, onClose }: ItemTextProps) {
  const entry = useSignal<CatalogEntry | undefined>(undefined);
  const failure = useSignal<unknown>(undefined);
  useEffect(() => {
    const leaving = new AbortController();
    const path = pathOf("catalog", "items", item.type, item.name);
    api.get<CatalogEntry>(path, { query: { server_name: item.server_name }, signal: leaving.signal }).then(
      (found) => (entry.value = found),
      (error: unknown) => {
        if (!leaving.signal.aborted) failure.value = error;
      },
    );
    return () => {
      leaving.abort();
    };
  }, [item, entry, failure]);
  const found = entry.value;
  return (
    <Panel
      title={itemName(item)}
      subtitle={`${TYPE_WORDS[item.type].one}, as it is in the catalog now`}
      actions={
        <Button small look="quiet" onClick={onBack}>
          Back
        </Button>
      }
      onClose={onClose}
      focusOn={itemKey(item)}
    >
      {failure.value !== undefined && <ErrorNote error={failure.value} />}
      {!found && failure.value === undefined && <Spinner label="Reading the item" showLabel />}
      {found && (
        <>
          <p class="item-description">{found.item.description}</p>
          <p class="item-pills">
            <Pill>{formatCount(found.item.characters)} characters</Pill>
            {!found.item.enabled && <Pill tone="warning">Switched off</Pill>}
            {found.item.approval === "TOOL_APPROVAL_REQUIRED" && <Pill tone="warning">Needs your approval</Pill>}
          </p>
          <pre class={item.type === "CONTEXT_ITEM_TYPE_TOOL" ? "item-code" : "item-text"}>
            {shownContent(found.content)}
          </pre>
        </>
      )}
    </Panel>
  );
}

/** A tool's content is JSON; texts are as they are. */
function shownContent(content: string): string {
  if (!content.startsWith("{")) return content;
  try {
    return JSON.stringify(JSON.parse(content), undefined, 2);
  } catch {
    return content;
  }
}
