import { computed, signal } from "@preact/signals";
import { ApiError, api, pathOf } from "../core/api.js";
import type { Problem } from "../core/api.js";
import type { Document } from "../core/contract.js";
import { serverEvents } from "../core/event-stream.js";
import type { ServerEvent } from "../core/sse-parser.js";
import { isUnfinished, withState, withUploaded, withoutDocument } from "./document-states.js";
import type { DocumentEvent, DocumentStates } from "./document-states.js";

/** Waits between attempts to watch again after a cut, in milliseconds; the last one repeats. */
const WAITS_MS = [500, 1_000, 2_000, 5_000, 15_000] as const;

/** Time in which uploads are gathered before the documents are watched anew, in milliseconds. */
const GATHER_MS = 300;

/**
 * The documents of a matter, kept up to date by the service's events. The service ends its events when no document
 * is unfinished, and knows those documents that the matter had when they began: after an upload they begin anew.
 */
export class MatterDocuments {
  readonly states = signal<DocumentStates>(new Map());
  /** "loading" until the first answer; "cut" while the connection is tried again. */
  readonly connection = signal<"loading" | "live" | "cut" | "failed">("loading");
  /** Why it failed, in words. */
  readonly failure = signal("");
  readonly ready = computed(() =>
    [...this.states.value.values()]
      .map(({ document }) => document)
      .filter(({ status }) => status === "DOCUMENT_STATUS_READY"),
  );
  private watching = new AbortController();
  /** Documents uploaded since the events began, which therefore do not tell of them. */
  private uploadedSince = new Set<string>();
  private again: ReturnType<typeof setTimeout> | undefined;
  private closed = false;

  constructor(readonly matterId: string) {}

  /** Begins to watch, also after it failed. */
  open(): void {
    this.closed = false;
    clearTimeout(this.again);
    this.watching.abort();
    this.watching = new AbortController();
    void this.watch(this.watching.signal);
  }

  /** Ends it. */
  close(): void {
    this.closed = true;
    clearTimeout(this.again);
    this.watching.abort();
  }

  /** Takes in what an upload was answered. */
  uploaded(document: Document): void {
    this.uploadedSince.add(document.document_id);
    this.states.value = withUploaded(this.states.value, document);
    this.openIn(GATHER_MS);
  }

  /** Deletes a document. Throws ApiError; one that is gone already counts as deleted. */
  async delete(documentId: string): Promise<void> {
    try {
      await api.delete(pathOf("matters", this.matterId, "documents", documentId));
    } catch (error) {
      if (ApiError.from(error).reason !== "DOCUMENT_NOT_FOUND") throw error;
    }
    this.states.value = withoutDocument(this.states.value, documentId);
  }

  private async watch(ended: AbortSignal, attempt = 0): Promise<void> {
    const heard = new Set<string>();
    this.uploadedSince = new Set();
    try {
      for await (const event of serverEvents({ url: pathOf("matters", this.matterId, "documents", "events") }, ended)) {
        const told = documentOf(event);
        if (told !== undefined) heard.add(this.take(told));
      }
      if (ended.aborted) return;
      this.connection.value = "live";
      this.forgetAllBut(heard);
      if (this.hasUnfinished()) this.retry(attempt);
    } catch (error) {
      if (!ended.aborted) this.cut(ApiError.from(error), heard.size > 0 ? 0 : attempt);
    }
  }

  private take(event: DocumentEvent): string {
    this.connection.value = "live";
    this.states.value = withState(this.states.value, event);
    return event.document.document_id;
  }

  /** The events tell of every document: one that they did not has been deleted elsewhere. */
  private forgetAllBut(heard: ReadonlySet<string>): void {
    for (const id of this.states.peek().keys()) {
      if (!heard.has(id) && !this.uploadedSince.has(id)) this.states.value = withoutDocument(this.states.value, id);
    }
  }

  private cut(error: ApiError, attempt: number): void {
    // One that was watched has been deleted meanwhile.
    if (error.reason === "DOCUMENT_NOT_FOUND" && attempt < WAITS_MS.length) {
      this.retry(attempt);
      return;
    }
    if (error.status >= 400 && error.status < 500 && error.status !== 429) {
      this.connection.value = "failed";
      this.failure.value = error.message;
      return;
    }
    this.connection.value = "cut";
    this.retry(attempt);
  }

  private retry(attempt: number): void {
    const wait = WAITS_MS[Math.min(attempt, WAITS_MS.length - 1)] ?? GATHER_MS;
    this.openIn(wait, attempt + 1);
  }

  private openIn(wait: number, attempt = 0): void {
    if (this.closed) return;
    clearTimeout(this.again);
    this.again = setTimeout(() => {
      this.watching.abort();
      this.watching = new AbortController();
      void this.watch(this.watching.signal, attempt);
    }, wait);
  }

  private hasUnfinished(): boolean {
    return [...this.states.value.values()].some(isUnfinished);
  }
}

function documentOf({ event, data }: ServerEvent): DocumentEvent | undefined {
  if (event === "error") throw new ApiError(JSON.parse(data) as Problem);
  return event === "document" ? (JSON.parse(data) as DocumentEvent) : undefined;
}
