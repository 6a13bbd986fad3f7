import { Button, ErrorNote, Panel, Pill, Spinner } from "../core/components/index.js";
import { api, pathOf } from "../core/api.js";
import type { CatalogItem, ItemRef } from "../core/contract.js";
import { formatCount } from "../core/format.js";
import { useLoaded } from "../core/use-loaded.js";
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
  const { found, failure, retry } = useLoaded(
    (signal) => {
      const path = pathOf("catalog", "items", item.type, item.name);
      return api.get<CatalogEntry>(path, { query: { server_name: item.server_name }, signal });
    },
    [item],
  );
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
      {failure && <ErrorNote error={failure} onRetry={retry} />}
      {!found && !failure && <Spinner label="Reading the item" showLabel />}
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
