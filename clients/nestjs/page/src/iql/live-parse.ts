import { signal } from "@preact/signals";
import { ApiError, api } from "../core/api.js";
import type { ParsedIql } from "./types.js";

/** Rest after a change before the query is read, in milliseconds. */
const REST_MS = 180;

/** A query that was read. */
export interface ReadQuery {
  query: string;
  parsed: ParsedIql;
}

/** Reads a query while it is written. The latest answer wins: one that comes late is of no use any more. */
export class LiveParse {
  /** The last query that was read; undefined before the first, and for a query of nothing but blanks. */
  readonly last = signal<ReadQuery | undefined>(undefined);
  /** Why the last query could not be read at all; faults of the query are in `last`. */
  readonly error = signal<ApiError | undefined>(undefined);
  private timer: ReturnType<typeof setTimeout> | undefined;
  private asking: AbortController | undefined;

  /** Reads the query when it has rested. Model calls are estimated for the matter. */
  changed(query: string, matterId: string | undefined): void {
    this.stop();
    if (query.trim() === "") {
      this.last.value = undefined;
      this.error.value = undefined;
      return;
    }
    this.timer = setTimeout(() => void this.read(query, matterId), REST_MS);
  }

  /** Reads the query at once; undefined where that failed, or another query has come in between. */
  async read(query: string, matterId: string | undefined): Promise<ParsedIql | undefined> {
    this.stop();
    const asking = (this.asking = new AbortController());
    try {
      const body = { query, ...(matterId === undefined ? {} : { matter_id: matterId }) };
      const parsed = await api.post<ParsedIql>("/iql/parse", body, { signal: asking.signal });
      if (asking.signal.aborted) return undefined;
      this.last.value = { query, parsed };
      this.error.value = undefined;
      return parsed;
    } catch (error) {
      if (!asking.signal.aborted) this.error.value = ApiError.from(error);
      return undefined;
    }
  }

  /** Forgets what is under way. */
  stop(): void {
    clearTimeout(this.timer);
    this.asking?.abort();
  }
}
