import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { Document } from "../../src/core/contract.js";
import { MatterDocuments } from "../../src/matters/matter-documents.js";

/** The answers of the gateway to the requests for events, in turn; undefined is a cut connection. */
let answers: (Response | undefined)[];
let documents: MatterDocuments;

beforeEach(() => {
  vi.useFakeTimers();
  answers = [];
  vi.stubGlobal("fetch", () => {
    const answer = answers.shift();
    return answer === undefined ? Promise.reject(new TypeError("cut")) : Promise.resolve(answer);
  });
  documents = new MatterDocuments("m");
});

afterEach(() => {
  documents.close();
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

const document = (id: string, status = "READY") =>
  ({ document_id: id, filename: `${id}.md`, status: `DOCUMENT_STATUS_${status}` }) as Document;

/** A stream that tells of documents, given as "id STATUS", and ends. */
function told(...states: string[]): Response {
  const events = states.map((state) => {
    const [id = "", status] = state.split(" ");
    return `event: document\ndata: ${JSON.stringify({ document: document(id, status), chunks_done: 0, chunks_total: 0 })}\n\n`;
  });
  return new Response(events.join(""), { headers: { "Content-Type": "text/event-stream" } });
}

function problem(status: number, detail: string): Response {
  return new Response(JSON.stringify({ title: "No", detail }), { status });
}

const ids = () => [...documents.states.value.keys()];
const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);

test("the documents are known when the stream has told of them", async () => {
  answers = [told("a READY", "b FAILED")];
  documents.open();
  await pass(0);
  expect(ids()).toEqual(["a", "b"]);
  expect(documents.connection.value).toBe("live");
  expect(documents.ready.value.map(({ document_id: id }) => id)).toEqual(["a"]);
});

test("a stream that is cut is asked for again, and again after longer", async () => {
  answers = [told("a PROCESSING"), undefined, undefined, told("a READY")];
  documents.open();
  await pass(500);
  expect(documents.connection.value).toBe("cut");
  await pass(1_000);
  expect(answers).toHaveLength(1);
  await pass(2_000);
  expect(documents.connection.value).toBe("live");
  expect(documents.ready.value).toHaveLength(1);
});

test("after an upload the documents are watched anew", async () => {
  answers = [told("a READY"), told("a READY", "b READY")];
  documents.open();
  await pass(0);
  documents.uploaded(document("b", "PENDING"));
  expect(ids()).toEqual(["a", "b"]);
  await pass(400);
  expect(documents.ready.value).toHaveLength(2);
});

test("a document that was deleted elsewhere is forgotten when the documents are watched anew", async () => {
  answers = [told("a READY", "b PENDING"), told("a READY")];
  documents.open();
  await pass(600);
  expect(ids()).toEqual(["a"]);
});

test("a matter that does not exist is not asked for again", async () => {
  answers = [problem(404, "No such matter."), told("a READY")];
  documents.open();
  await pass(60_000);
  expect(documents.connection.value).toBe("failed");
  expect(documents.failure.value).toBe("No such matter.");
  expect(answers).toHaveLength(1);
});

test("nothing is asked for after the end", async () => {
  answers = [told("a PENDING"), told("a READY")];
  documents.open();
  await pass(0);
  documents.close();
  await pass(60_000);
  expect(answers).toHaveLength(1);
});
