import { Button } from "../core/components/index.js";
import type { Edit } from "./edits.js";
import { faultLine } from "./fault-lines.js";
import { mended, remediesOf } from "./remedies.js";
import type { Remedy } from "./remedies.js";
import type { IqlEdit, IqlFault } from "./types.js";

interface FaultsProps {
  query: string;
  faults: readonly IqlFault[];
  /** Whether they are those of the query as it is; until then nothing can be mended. */
  isRead: boolean;
  onMend: (edit: Edit) => void;
}

/** What is wrong with a query: each fault with its line, a caret under the place, and how to mend it. */
export function Faults({ query, faults, isRead, onMend }: FaultsProps) {
  return (
    <ol class={isRead ? "faults" : "faults faults-unread"} inert={!isRead} aria-label="What is wrong with the query">
      {faults.map((fault, i) => (
        <li key={i} class="fault">
          <Fault query={query} fault={fault} onMend={onMend} />
        </li>
      ))}
    </ol>
  );
}

function Fault({ query, fault, onMend }: { query: string; fault: IqlFault; onMend: (edit: Edit) => void }) {
  const { line, column, before, marked, after, carets } = faultLine(query, fault.start_utf16, fault.end_utf16);
  const place = query.includes("\n") ? `Line ${line}, column ${column}` : `Column ${column}`;
  return (
    <>
      <p class="fault-message">
        <span class="fault-place">{place}:</span> {fault.message}
      </p>
      {/* The message says the same to those who do not see the caret. */}
      <pre class="fault-line" aria-hidden="true">
        {before}
        <span class="fault-marked">{marked}</span>
        {after}
        {"\n"}
        <span class="fault-before">{before}</span>
        <span class="fault-carets">{carets}</span>
      </pre>
      <ul class="remedies">
        {remediesOf(fault).map((remedy) => (
          <li key={remedy.sentence}>
            <RemedyButtons
              remedy={remedy}
              onChoose={(edit) => {
                onMend(mended(query, edit));
              }}
            />
          </li>
        ))}
      </ul>
    </>
  );
}

/** A suggestion that is one edit is its button; any other has a button for each of its edits. */
function RemedyButtons({ remedy, onChoose }: { remedy: Remedy; onChoose: (edit: IqlEdit) => void }) {
  const { sentence, edits, isOneEdit } = remedy;
  return (
    <>
      {!isOneEdit && <span>{sentence}</span>}
      {edits.map((edit) => (
        <Button
          key={edit.label}
          small
          class="remedy"
          onClick={() => {
            onChoose(edit);
          }}
        >
          {isOneEdit ? sentence : edit.label}
        </Button>
      ))}
    </>
  );
}
