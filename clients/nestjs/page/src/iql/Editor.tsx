import type { RefObject } from "preact";
import { painted } from "./painted.js";
import type { IqlFault } from "./types.js";

interface EditorProps {
  query: string;
  faults: readonly IqlFault[];
  input: RefObject<HTMLTextAreaElement | null>;
  /** The id of what says what is wrong. */
  describedBy: string;
  onWrite: (query: string) => void;
  onRun: () => void;
}

/** A text field for a query, painted underneath: operators and templates in colour, faults underlined. */
export function Editor({ query, faults, input, describedBy, onWrite, onRun }: EditorProps) {
  return (
    <div class="editor">
      <div class="editor-sheet">
        <div class="editor-paint" aria-hidden="true">
          {painted(query, faults).map(({ kind, text, faulty }, i) => (
            <span key={i} class={`iql-${kind}${faulty ? " iql-fault" : ""}`}>
              {text}
            </span>
          ))}
          {/* A last line that is empty has a height only with something in it. */}
          {"\u200B"}
        </div>
        <textarea
          ref={input}
          class="editor-input"
          aria-label="Query"
          aria-describedby={describedBy}
          aria-invalid={faults.length > 0}
          placeholder='{IS termination clause} AND NOT {IS clause obligating "Customer"}'
          spellcheck={false}
          autoComplete="off"
          value={query}
          onInput={({ currentTarget }) => {
            onWrite(currentTarget.value);
          }}
          onKeyDown={(event) => {
            if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
            event.preventDefault();
            onRun();
          }}
        />
      </div>
    </div>
  );
}
