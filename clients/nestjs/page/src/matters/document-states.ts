import type { Document } from "../core/contract.js";
import { counted, formatCount } from "../core/format.js";

/** The event `document`: a document as it is now, and how many of its chunks are embedded. */
export interface DocumentEvent {
  document: Document;
  chunks_done: number;
  chunks_total: number;
}

/** The documents of a matter by id, in the order of upload. */
export type DocumentStates = ReadonlyMap<string, DocumentEvent>;

/** The documents after an event; a new one comes last. */
export function withState(states: DocumentStates, event: DocumentEvent): DocumentStates {
  return new Map(states).set(event.document.document_id, event);
}

/** The documents after an upload was answered. A state that the events have told already is kept. */
export function withUploaded(states: DocumentStates, document: Document): DocumentStates {
  const known = states.get(document.document_id);
  if (known !== undefined && known.document.status !== "DOCUMENT_STATUS_FAILED") return states;
  return withState(states, { document, chunks_done: 0, chunks_total: 0 });
}

/** The documents without a deleted one. */
export function withoutDocument(states: DocumentStates, documentId: string): DocumentStates {
  const others = new Map(states);
  others.delete(documentId);
  return others;
}

/** Whether the service has still to work on it. */
export function isUnfinished({ document: { status } }: DocumentEvent): boolean {
  return status === "DOCUMENT_STATUS_PENDING" || status === "DOCUMENT_STATUS_PROCESSING";
}

/** How a state is shown: a word, a sentence about it, and the share that is done, 0 to 1, where it is known. */
export interface StateWords {
  tone: "waiting" | "working" | "ready" | "failed";
  word: string;
  detail: string;
  share?: number;
}

/** The state of a document in words. */
export function stateWords({ document, chunks_done: done, chunks_total: total }: DocumentEvent): StateWords {
  switch (document.status) {
    case "DOCUMENT_STATUS_PENDING":
      return { tone: "waiting", word: "Waiting", detail: "Stored; it is read next." };
    case "DOCUMENT_STATUS_PROCESSING":
      if (total === 0) return { tone: "working", word: "Reading", detail: "Its text is being read." };
      return {
        tone: "working",
        word: "Indexing",
        detail: `${formatCount(done)} of ${counted(total, "passage")}`,
        share: Math.min(done / total, 1),
      };
    case "DOCUMENT_STATUS_READY":
      return { tone: "ready", word: "Ready", detail: [extent(document), ...(document.warnings ?? [])].join(" ") };
    case "DOCUMENT_STATUS_FAILED":
      return { tone: "failed", word: "Failed", detail: document.failure_reason || "It could not be read." };
  }
}

/** What to read out after a change: the documents that have become ready, and those that have failed. */
export function announcement(before: DocumentStates, after: DocumentStates): string {
  const changed = [...after.values()].filter((event) => {
    const known = before.get(event.document.document_id);
    return known !== undefined && isUnfinished(known) && !isUnfinished(event);
  });
  return changed.map(stateSentence).join(" ");
}

/** A number of bytes for people, in units of 1,000: "12 kB", "3.4 MB". */
export function fileSize(bytes: number): string {
  if (bytes < 1_000) return `${bytes} bytes`;
  const [value, unit] = bytes < 1_000_000 ? [bytes / 1_000, "kB"] : [bytes / 1_000_000, "MB"];
  return `${value < 10 ? value.toFixed(1) : Math.round(value)} ${unit}`;
}

function stateSentence(event: DocumentEvent): string {
  const { word, detail, tone } = stateWords(event);
  const { filename } = event.document;
  return tone === "failed" ? `${filename}: ${word}. ${detail}` : `${filename}: ${word}.`;
}

function extent({ page_count: pages, character_count: characters }: Document): string {
  if (pages > 0) return counted(pages, "page");
  return counted(characters, "character");
}
