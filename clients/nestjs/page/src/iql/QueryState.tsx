import { counted } from "../core/format.js";
import type { WorkbenchModel } from "./workbench-model.js";

interface QueryStateProps {
  id: string;
  model: WorkbenchModel;
  matterName: string | undefined;
}

/** What is to say about the query as it stands: its faults, its canonical form, what it takes to run it. */
export function QueryState({ id, model, matterName }: QueryStateProps) {
  const last = model.parse.last.value;
  const { faults, isRead } = model.faults.value;
  const [first] = faults;
  const sound = isRead && first === undefined ? last?.parsed : undefined;
  return (
    <div class="query-state" id={id}>
      <p role="status">
        {first !== undefined && <span class="query-faulty">{faultWords(faults.length, first.message)}</span>}
        {sound && <span>{costWords(sound.estimated_model_calls, matterName)}</span>}
        {last === undefined && <span>Ctrl+Enter runs the query</span>}
      </p>
      {sound && sound.canonical !== model.query.value.trim() && (
        <p class="query-canonical">
          Read as <code>{sound.canonical}</code>
        </p>
      )}
    </div>
  );
}

function faultWords(count: number, message: string): string {
  return count === 1 ? `1 fault: ${message}` : `${count} faults; the first: ${message}`;
}

function costWords(calls: number, matterName: string | undefined): string {
  if (matterName === undefined) return "The query is sound.";
  if (calls === 0) return "Every passage is scored already: the answer comes at once.";
  return `${counted(calls, "passage has", "passages have")} to be judged first.`;
}
