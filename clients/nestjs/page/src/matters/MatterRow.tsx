import { Button, Pill } from "../core/components/index.js";
import type { Matter } from "../core/contract.js";
import { DeleteIcon } from "./icons.js";

interface MatterRowProps {
  matter: Matter;
  selected: boolean;
  /** Uploads into it that are not over. */
  uploading: number;
  onSelect: () => void;
  onDelete: () => void;
}

/** A matter to select or delete. */
export function MatterRow({ matter, selected, uploading, onSelect, onDelete }: MatterRowProps) {
  return (
    <li class={selected ? "matter matter-selected" : "matter"}>
      <button type="button" class="matter-name" aria-current={selected ? "true" : undefined} onClick={onSelect}>
        {matter.name}
      </button>
      {uploading > 0 && !selected && <Pill>{uploading} uploading</Pill>}
      <Button look="quiet" small aria-label={`Delete the matter ${matter.name}`} title="Delete" onClick={onDelete}>
        <DeleteIcon />
      </Button>
    </li>
  );
}
