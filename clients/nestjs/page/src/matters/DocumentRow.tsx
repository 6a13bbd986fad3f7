import { Button, Pill } from "../core/components/index.js";
import { stateWords } from "./document-states.js";
import type { DocumentEvent, StateWords } from "./document-states.js";
import { AskIcon, DeleteIcon } from "./icons.js";

interface DocumentRowProps {
  event: DocumentEvent;
  /** Whether questions are about this document. */
  chosen: boolean;
  /** Whether its text is open. */
  opened: boolean;
  onOpen: () => void;
  onChoose: () => void;
  /** Absent where the caller may not. */
  onDelete?: (() => void) | undefined;
}

/** A document with its state, and what can be done with it. */
export function DocumentRow({ event, chosen, opened, onOpen, onChoose, onDelete }: DocumentRowProps) {
  const { filename, status } = event.document;
  const state = stateWords(event);
  const ready = status === "DOCUMENT_STATUS_READY";
  return (
    <li class={`file file-${state.tone}${opened ? " file-opened" : ""}`}>
      {ready ? (
        <button type="button" class="file-name file-open" aria-current={opened ? "true" : undefined} onClick={onOpen}>
          {filename}
        </button>
      ) : (
        <span class="file-name">{filename}</span>
      )}
      <Progress state={state} filename={filename} />
      <div class="file-line">
        <p class="file-state">
          <span class="file-word">{state.word}</span> <span>{state.detail}</span>
        </p>
        {ready && (
          <Button
            look="quiet"
            small
            aria-pressed={chosen}
            aria-label={`Ask only about ${filename}`}
            title="Ask only about this document"
            onClick={onChoose}
          >
            <AskIcon />
          </Button>
        )}
        {onDelete && (
          <Button look="quiet" small aria-label={`Delete ${filename}`} title="Delete" onClick={onDelete}>
            <DeleteIcon />
          </Button>
        )}
      </div>
      {chosen && <Pill tone="accent">Questions are about this document</Pill>}
    </li>
  );
}

function Progress({ state: { tone, word, share }, filename }: { state: StateWords; filename: string }) {
  if (tone !== "working") return null;
  const value = share === undefined ? {} : { value: Math.round(share * 100) };
  return <progress aria-label={`${word} ${filename}`} max={100} {...value} />;
}
