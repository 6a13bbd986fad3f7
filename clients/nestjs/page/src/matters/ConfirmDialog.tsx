import { useSignal } from "@preact/signals";
import { useEffect, useId, useRef } from "preact/hooks";
import { Button, ErrorNote } from "../core/components/index.js";

interface ConfirmDialogProps {
  /** The question; names what it is about. */
  question: string;
  /** What follows from it. */
  consequence: string;
  /** The button's words, as "Delete matter". */
  action: string;
  /** Id of what has the focus when it is done: what it was asked from is gone. */
  focusNext: string;
  /** Does it; what it throws is shown, and the dialog stays. */
  onConfirm: () => Promise<void>;
  onClose: () => void;
}

/** Asks before something that cannot be undone. The focus begins on the safe answer, and goes back where it was if that is taken. */
export function ConfirmDialog({ question, consequence, action, focusNext, onConfirm, onClose }: ConfirmDialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  const busy = useSignal(false);
  const error = useSignal<unknown>(undefined);
  useEffect(() => {
    dialog.current?.showModal();
  }, []);
  const confirm = async (): Promise<void> => {
    busy.value = true;
    error.value = undefined;
    try {
      await onConfirm();
      dialog.current?.close();
      document.getElementById(focusNext)?.focus();
    } catch (thrown) {
      error.value = thrown;
      busy.value = false;
    }
  };
  return (
    <dialog class="confirm" ref={dialog} aria-labelledby={id} aria-describedby={`${id}-more`} onClose={onClose}>
      <h2 id={id}>{question}</h2>
      <p id={`${id}-more`}>{consequence}</p>
      {error.value !== undefined && <ErrorNote error={error.value} />}
      <div class="confirm-buttons">
        {/* The safe answer comes first and so has the focus. */}
        <Button onClick={() => dialog.current?.close()}>Keep</Button>
        <Button look="danger" disabled={busy.value} onClick={() => void confirm()}>
          {action}
        </Button>
      </div>
    </dialog>
  );
}
