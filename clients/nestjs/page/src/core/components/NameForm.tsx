import { useSignal } from "@preact/signals";
import { useEffect, useId, useRef } from "preact/hooks";
import { Button } from "./Button.js";
import { ErrorNote } from "./ErrorNote.js";

/** The contract's limit for names and titles. */
const MOST_CHARACTERS = 512;

interface NameFormProps {
  label: string;
  /** What the button says, as "Create". */
  action: string;
  /** The name that there is. */
  name?: string;
  /** Takes the name; what it throws is shown, and the form stays. */
  onName: (name: string) => Promise<void>;
  onClose: () => void;
}

/** A form for one name, which has the focus at once. */
export function NameForm({ label, action, name: known = "", onName, onClose }: NameFormProps) {
  const id = useId();
  const input = useRef<HTMLInputElement>(null);
  const name = useSignal(known);
  const busy = useSignal(false);
  const error = useSignal<unknown>(undefined);
  useEffect(() => input.current?.select(), []);
  const submit = async (): Promise<void> => {
    busy.value = true;
    error.value = undefined;
    try {
      await onName(name.peek().trim());
    } catch (thrown) {
      error.value = thrown;
      busy.value = false;
    }
  };
  return (
    <form
      class="name-form"
      onSubmit={(event) => {
        event.preventDefault();
        if (!busy.value && name.value.trim() !== "") void submit();
      }}
      onKeyDown={(event) => {
        if (event.key !== "Escape") return;
        event.preventDefault();
        onClose();
      }}
    >
      <label for={id}>{label}</label>
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
          {action}
        </Button>
        <Button look="quiet" small onClick={onClose}>
          Cancel
        </Button>
      </div>
    </form>
  );
}
