import { useSignal } from "@preact/signals";
import { useRef } from "preact/hooks";
import { Button, EditIcon, NameForm, Pill } from "../core/components/index.js";
import type { Matter } from "../core/contract.js";
import { useFocusBack } from "../core/use-focus-back.js";
import { DeleteIcon } from "./icons.js";
import { mayEdit, mayOwn, roleWord } from "./roles.js";

interface MatterRowProps {
  matter: Matter;
  selected: boolean;
  /** Uploads into it that are not over. */
  uploading: number;
  onSelect: () => void;
  /** Throws ApiError. */
  onRename: (name: string) => Promise<void>;
  onDelete: () => void;
}

/** A matter to select, and to rename or delete where the caller may. */
export function MatterRow({ matter, selected, uploading, onSelect, onRename, onDelete }: MatterRowProps) {
  const row = useRef<HTMLLIElement>(null);
  const renaming = useSignal(false);
  useFocusBack(row, renaming.value, ".matter-rename");
  const close = (): void => {
    renaming.value = false;
  };
  return (
    <li class={selected ? "matter matter-selected" : "matter"} ref={row}>
      {renaming.value ? (
        <NameForm
          label="New name of the matter"
          action="Rename"
          name={matter.name}
          onName={async (name) => {
            await onRename(name);
            close();
          }}
          onClose={close}
        />
      ) : (
        <>
          <button type="button" class="matter-name" aria-current={selected ? "true" : undefined} onClick={onSelect}>
            {matter.name}
          </button>
          {uploading > 0 && !selected && <Pill>{uploading} uploading</Pill>}
          {roleWord(matter) && <Pill>{roleWord(matter)}</Pill>}
          {mayEdit(matter) && (
            <Button
              look="quiet"
              small
              class="matter-rename"
              aria-label={`Rename the matter ${matter.name}`}
              title="Rename"
              onClick={() => (renaming.value = true)}
            >
              <EditIcon />
            </Button>
          )}
          {mayOwn(matter) && (
            <Button
              look="quiet"
              small
              aria-label={`Delete the matter ${matter.name}`}
              title="Delete"
              onClick={onDelete}
            >
              <DeleteIcon />
            </Button>
          )}
        </>
      )}
    </li>
  );
}
