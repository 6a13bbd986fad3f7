import { computed, signal } from "@preact/signals";
import { ApiError, pathOf } from "../core/api.js";
import type { Problem } from "../core/api.js";
import { serverEvents } from "../core/event-stream.js";
import type { StreamRequest } from "../core/event-stream.js";
import { LiveParse } from "./live-parse.js";
import { movedFaults } from "./moved-faults.js";
import { BEGUN, advanced, extended } from "./run-state.js";
import type { PlacedResult, Run, RunEvent } from "./run-state.js";
import type { IqlComparison, IqlDocumentEvent, IqlSummary } from "./types.js";

/** How a query is run. */
export interface RunOptions {
  /** None: all documents of the matter. */
  documentIds: readonly string[];
  minScore: number;
  comparison: IqlComparison;
}

/** A run with what it was run with. */
export interface RunRecord extends Run {
  matterId: string;
  query: string;
  options: RunOptions;
}

const USUAL: RunOptions = { documentIds: [], minScore: 0.5, comparison: "IQL_COMPARISON_UNSPECIFIED" };

const CUT = "The answer was cut off before its end. Run the query again: what was scored is kept.";

/** A query that is being written, and its last run. Outlives the view, so that both are there when one comes back. */
export class WorkbenchModel {
  readonly query = signal("");
  readonly parse = new LiveParse();
  readonly options = signal<RunOptions>(USUAL);
  readonly run = signal<RunRecord | undefined>(undefined);
  /** What is known of the faults of the query as it is now; `isRead` when it was read as it is. */
  readonly faults = computed(() => {
    const last = this.parse.last.value;
    if (last === undefined) return { faults: [], isRead: false };
    const faults = movedFaults(last.parsed.errors, last.query, this.query.value);
    return { faults, isRead: last.query === this.query.value };
  });
  private matterId: string | undefined;
  private running: AbortController | undefined;

  /** Works on a matter from now on. The run and the choice of documents belonged to the one before. */
  forMatter(matterId: string | undefined): void {
    if (matterId === this.matterId) return;
    this.cancel();
    this.matterId = matterId;
    this.run.value = undefined;
    this.options.value = { ...this.options.peek(), documentIds: [] };
    this.parse.changed(this.query.peek(), matterId);
  }

  /** Takes what was written. */
  write(query: string): void {
    this.query.value = query;
    this.parse.changed(query, this.matterId);
  }

  /** Runs the query if it is sound; false when it is not, or there is no matter. */
  async start(): Promise<boolean> {
    const matterId = this.matterId;
    const query = this.query.peek();
    if (matterId === undefined || query.trim() === "") return false;
    this.cancel();
    const parsed = await this.parse.read(query, matterId);
    if (parsed === undefined || parsed.errors.length > 0) return false;
    this.run.value = { ...BEGUN, matterId, query, options: this.options.peek() };
    const running = (this.running = new AbortController());
    await this.follow(this.run.value, running.signal);
    void this.parse.read(query, matterId);
    return true;
  }

  /** Stops the run; what has come of it stays. */
  cancel(): void {
    this.running?.abort();
    this.advance({ type: "cancelled" });
  }

  /** Adds the next matches of a document to those that are shown. Throws ApiError. */
  async more({ index, next_page_token: token }: PlacedResult): Promise<void> {
    const run = this.run.peek();
    const ended = this.running?.signal;
    if (run === undefined || ended === undefined) return;
    for await (const { event, data } of serverEvents(requestOf(run, token), ended)) {
      const step = eventOf(event, data);
      const shown = this.run.peek();
      if (ended.aborted || step?.type !== "document" || shown === undefined) continue;
      this.run.value = { ...shown, ...extended(shown, index, step.event.document_result) };
    }
  }

  private async follow(run: RunRecord, ended: AbortSignal): Promise<void> {
    try {
      for await (const { event, data } of serverEvents(requestOf(run), ended)) {
        if (!ended.aborted) this.advance(eventOf(event, data));
      }
      if (!ended.aborted) this.advance({ type: "failed", failure: CUT });
    } catch (error) {
      if (!ended.aborted) this.advance({ type: "failed", failure: ApiError.from(error).message });
    }
  }

  private advance(event: RunEvent | undefined): void {
    const run = this.run.peek();
    if (run !== undefined && event !== undefined) this.run.value = { ...run, ...advanced(run, event) };
  }
}

function requestOf({ matterId, query, options }: RunRecord, token = ""): StreamRequest {
  const body = {
    query,
    document_ids: options.documentIds,
    min_score: options.minScore,
    comparison: options.comparison,
    page_token: token,
    explain: true,
  };
  return { url: pathOf("matters", matterId, "iql"), body };
}

function eventOf(name: string, data: string): RunEvent | undefined {
  switch (name) {
    case "document_result":
      return { type: "document", event: JSON.parse(data) as IqlDocumentEvent };
    case "summary":
      return { type: "summary", ...(JSON.parse(data) as { summary: IqlSummary }) };
    case "error":
      throw new ApiError(JSON.parse(data) as Problem);
    default:
      return undefined;
  }
}
