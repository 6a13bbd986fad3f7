import { expect, test } from "vitest";
import type { Document, DocumentStatus } from "../../src/core/contract.js";
import {
  announcement,
  fileSize,
  isUnfinished,
  stateWords,
  withState,
  withUploaded,
  withoutDocument,
} from "../../src/matters/document-states.js";
import type { DocumentEvent, DocumentStates } from "../../src/matters/document-states.js";

function event(
  id: string,
  status: string,
  more: Partial<Document> = {},
  chunks: [number, number] = [0, 0],
): DocumentEvent {
  const document: Document = {
    document_id: id,
    matter_id: "m",
    filename: `${id}.pdf`,
    media_type: "application/pdf",
    size_bytes: 1,
    status: `DOCUMENT_STATUS_${status}` as DocumentStatus,
    failure_reason: "",
    character_count: 0,
    chunk_count: 0,
    page_count: 0,
    replaces_document_id: "",
    ...more,
  };
  return { document, chunks_done: chunks[0], chunks_total: chunks[1] };
}

function statesOf(...events: DocumentEvent[]): DocumentStates {
  return events.reduce<DocumentStates>(withState, new Map());
}

const statusOf = (states: DocumentStates, id: string) => states.get(id)?.document.status;

test("documents stay in the order of upload while their states change", () => {
  const states = statesOf(event("a", "PENDING"), event("b", "PENDING"), event("a", "READY"));
  expect([...states.keys()]).toEqual(["a", "b"]);
  expect(statusOf(states, "a")).toBe("DOCUMENT_STATUS_READY");
});

test("the answer to an upload does not undo what the events have told since", () => {
  const states = statesOf(event("a", "READY"));
  expect(withUploaded(states, event("a", "PENDING").document)).toBe(states);
});

test("a failed document that is uploaded again is waiting again", () => {
  const states = withUploaded(statesOf(event("a", "FAILED")), event("a", "PENDING").document);
  expect(statusOf(states, "a")).toBe("DOCUMENT_STATUS_PENDING");
});

test("a deleted document is gone, and the states before are as they were", () => {
  const before = statesOf(event("a", "READY"), event("b", "READY"));
  expect([...withoutDocument(before, "a").keys()]).toEqual(["b"]);
  expect(before.size).toBe(2);
});

test.each([
  ["PENDING", true],
  ["PROCESSING", true],
  ["READY", false],
  ["FAILED", false],
])("%s is unfinished: %s", (status, unfinished) => {
  expect(isUnfinished(event("a", status))).toBe(unfinished);
});

test("states in words", () => {
  expect(stateWords(event("a", "PENDING"))).toMatchObject({ tone: "waiting", word: "Waiting" });
  expect(stateWords(event("a", "PROCESSING"))).toEqual({
    tone: "working",
    word: "Reading",
    detail: "Its text is being read.",
  });
  expect(stateWords(event("a", "PROCESSING", {}, [30, 1200]))).toEqual({
    tone: "working",
    word: "Indexing",
    detail: "30 of 1,200 passages",
    share: 0.025,
  });
  expect(stateWords(event("a", "READY", { page_count: 12, character_count: 9 })).detail).toBe("12 pages");
  expect(stateWords(event("a", "READY", { page_count: 1 })).detail).toBe("1 page");
  expect(stateWords(event("a", "READY", { character_count: 5400 })).detail).toBe("5,400 characters");
});

test("a failed document says why", () => {
  const failed = event("a", "FAILED", { failure_reason: "The file is protected by a password." });
  expect(stateWords(failed)).toMatchObject({ tone: "failed", detail: "The file is protected by a password." });
  expect(stateWords(event("a", "FAILED")).detail).toBe("It could not be read.");
});

test("what has become ready or failed is read out, and nothing else", () => {
  const before = statesOf(event("a", "PROCESSING"), event("b", "PENDING"), event("c", "PENDING"), event("d", "READY"));
  const failed = event("b", "FAILED", { failure_reason: "It is empty." });
  const after = statesOf(
    event("a", "READY"),
    failed,
    event("c", "PROCESSING"),
    event("d", "READY"),
    event("e", "READY"),
  );
  expect(announcement(before, after)).toBe("a.pdf: Ready. b.pdf: Failed. It is empty.");
  expect(announcement(after, after)).toBe("");
});

test.each([
  [0, "0 bytes"],
  [999, "999 bytes"],
  [1_500, "1.5 kB"],
  [48_200, "48 kB"],
  [3_440_000, "3.4 MB"],
])("%d bytes are %s", (bytes, words) => {
  expect(fileSize(bytes)).toBe(words);
});
