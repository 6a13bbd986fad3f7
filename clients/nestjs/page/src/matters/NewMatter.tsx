import { useSignal } from "@preact/signals";
import { useEffect, useId, useRef } from "preact/hooks";
import { Button, ErrorNote } from "../core/components/index.js";

/** The contract's limit. */
const MOST_CHARACTERS = 512;

interface NewMatterProps {
  /** Makes the matter; what it throws is shown, and the form stays. */
  onCreate: (name: string) => Promise<void>;
  onClose: () => void;
}

/** The form for a new matter. */
export function NewMatter({ onCreate, onClose }: NewMatterProps) {
  const id = useId();
  const input = useRef<HTMLInputElement>(null);
  const name = useSignal("");
  const busy = useSignal(false);
  const error = useSignal<unknown>(undefined);
  useEffect(() => input.current?.focus(), []);
  const create = async (): Promise<void> => {
    busy.value = true;
    error.value = undefined;
    try {
      await onCreate(name.peek().trim());
    } catch (thrown) {
      error.value = thrown;
      busy.value = false;
    }
  };
  return (
    <form
      class="new-matter"
      onSubmit={(event) => {
        event.preventDefault();
        if (!busy.value && name.value.trim() !== "") void create();
      }}
      onKeyDown={(event) => {
        if (event.key !== "Escape") return;
        event.preventDefault();
        onClose();
      }}
    >
      <label for={id}>Name of the matter</label>
      <input
        id={id}
        ref={input}
        class="field"
        maxLength={MOST_CHARACTERS}
        autoComplete="off"
        value={name.value}
        onInput={(event) => (name.value = event.currentTarget.value)}
      />
      {error.value !== undefined && <ErrorNote error={error.value} />}
      <div class="row">
        <Button look="primary" small type="submit" disabled={busy.value || name.value.trim() === ""}>
          Create
        </Button>
        <Button look="quiet" small onClick={onClose}>
          Cancel
        </Button>
      </div>
    </form>
  );
}
