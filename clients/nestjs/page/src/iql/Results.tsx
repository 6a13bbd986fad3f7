import { useSignal } from "@preact/signals";
import { useId } from "preact/hooks";
import { Button, ErrorNote } from "../core/components/index.js";
import { counted } from "../core/format.js";
import { DocumentResult } from "./DocumentResult.js";
import { ordered } from "./run-state.js";
import type { PlacedResult } from "./run-state.js";
import type { RunRecord } from "./workbench-model.js";

interface ResultsProps {
  run: RunRecord;
  onCancel: () => void;
  /** Adds the next matches of a document. */
  onMore: (result: PlacedResult) => Promise<void>;
}

/** The answer to a query as it comes in, by document. */
export function Results({ run, onCancel, onMore }: ResultsProps) {
  const id = useId();
  const order = useSignal<"matter" | "score">("matter");
  const { documents_done: done, document_count: count } = run.totals;
  return (
    <section class="results" aria-labelledby={id}>
      <div class="results-head">
        <h2 id={id}>Results</h2>
        <p role="status">{totalsOf(run)}</p>
        {run.state === "running" && (
          <Button small onClick={onCancel}>
            Cancel
          </Button>
        )}
        <select
          class="field results-order"
          aria-label="Order of the documents"
          value={order.value}
          onChange={({ currentTarget }) => (order.value = currentTarget.value as "matter" | "score")}
        >
          <option value="matter">In the order of the matter</option>
          <option value="score">Best score first</option>
        </select>
      </div>
      {run.state === "running" && (
        <progress aria-label="Documents done" {...(count > 0 ? { max: count, value: done } : {})} />
      )}
      {run.failure && <ErrorNote error={run.failure} />}
      {run.summary?.warnings.map((warning) => (
        <p key={warning} class="results-warning">
          {warning}
        </p>
      ))}
      <ol class="result-list">
        {ordered(run.results, order.value).map((result) => (
          <DocumentResult key={result.index} result={result} run={run} onMore={onMore} />
        ))}
      </ol>
      {run.summary && <p class="hint">Scored by {run.summary.model}</p>}
    </section>
  );
}

function totalsOf({ state, totals, results }: RunRecord): string {
  const { documents_done: done, document_count: count, total_matches: matches, average_score: average } = totals;
  const failed = results.filter(({ error }) => error !== "").length;
  if (state === "running" && count === 0) return "The first documents are being scored.";
  const parts = [
    state === "done" ? counted(done, "document") : `${done} of ${counted(count, "document")}`,
    matches === 0 ? "no match" : `${counted(matches, "match", "matches")}, average score ${average.toFixed(2)}`,
    failed > 0 ? `${failed} not analysed` : "",
    state === "cancelled" ? "cancelled" : "",
  ];
  return parts.filter((part) => part !== "").join(" · ");
}
