import { Button } from "../core/components/index.js";
import type { Edit } from "./edits.js";
import { faultLine } from "./fault-lines.js";
import { remediesOf } from "./remedies.js";
import type { Remedy } from "./remedies.js";
import type { IqlFault } from "./types.js";

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
        {remediesOf(query, fault).map((remedy) => (
          <li key={remedy.sentence}>
            <RemedyButtons remedy={remedy} onMend={onMend} />
          </li>
        ))}
      </ul>
    </>
  );
}

/** A suggestion that means one change is a button; one with several has a button for each. */
function RemedyButtons({ remedy: { sentence, choices }, onMend }: { remedy: Remedy; onMend: (edit: Edit) => void }) {
  const [first, ...others] = choices;
  if (first === undefined) return <span>{sentence}</span>;
  if (others.length === 0 && sentence.includes(first.label)) {
    return (
      <Button
        small
        class="remedy"
        onClick={() => {
          onMend(first.edit);
        }}
      >
        {sentence}
      </Button>
    );
  }
  return (
    <>
      <span>{sentence}</span>
      {choices.map(({ label, edit }) => (
        <Button
          key={label}
          small
          class="remedy"
          onClick={() => {
            onMend(edit);
          }}
        >
          {label}
        </Button>
      ))}
    </>
  );
}
