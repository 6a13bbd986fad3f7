import type { IqlDocumentEvent, IqlDocumentResult, IqlSummary, IqlTotals } from "./types.js";

/** A document's result and its place in the matter, from 0. */
export type PlacedResult = IqlDocumentResult & { index: number };

/** A query that was run: what has come of its answer. */
export interface Run {
  state: "running" | "done" | "cancelled" | "failed";
  /** The documents that are done, in the order of the matter. */
  results: readonly PlacedResult[];
  totals: IqlTotals;
  /** Set when the last event has come. */
  summary?: IqlSummary;
  /** Why it failed, in words; empty otherwise. */
  failure: string;
}

export type RunEvent =
  | { type: "document"; event: IqlDocumentEvent }
  | { type: "summary"; summary: IqlSummary }
  | { type: "cancelled" }
  | { type: "failed"; failure: string };

/** A run that has just begun. */
export const BEGUN: Run = {
  state: "running",
  results: [],
  totals: { documents_done: 0, document_count: 0, total_matches: 0, average_score: 0 },
  failure: "",
};

/** The run after an event. What comes after its end changes nothing. */
export function advanced(run: Run, event: RunEvent): Run {
  if (run.state !== "running") return run;
  switch (event.type) {
    case "document":
      return withDocument(run, event.event);
    case "summary":
      return { ...run, state: "done", summary: event.summary };
    case "cancelled":
      return { ...run, state: "cancelled" };
    case "failed":
      return { ...run, state: "failed", failure: event.failure };
  }
}

/** The run with more matches of a document, each page in its order of the text. */
export function extended(run: Run, index: number, page: IqlDocumentResult): Run {
  const results = run.results.map((result) => {
    if (result.index !== index) return result;
    const matches = [...result.matches, ...page.matches].sort((a, b) => a.start_index - b.start_index);
    return { ...result, matches, truncated: page.truncated, next_page_token: page.next_page_token };
  });
  return { ...run, results };
}

/** The results in an order to show: as in the matter, or the best score first, failed documents last. */
export function ordered(results: Run["results"], by: "matter" | "score"): Run["results"] {
  if (by === "matter") return results;
  const rank = (result: IqlDocumentResult): number => (result.error === "" ? result.score : -1);
  return [...results].sort((a, b) => rank(b) - rank(a) || a.index - b.index);
}

function withDocument(run: Run, { document_result: result, totals, document_index: index }: IqlDocumentEvent): Run {
  const others = run.results.filter((other) => other.index !== index);
  const results = [...others, { ...result, index }].sort((a, b) => a.index - b.index);
  return { ...run, results, totals };
}
