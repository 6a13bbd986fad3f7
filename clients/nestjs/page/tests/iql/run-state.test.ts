import { expect, test } from "vitest";
import { BEGUN, advanced, extended, ordered } from "../../src/iql/run-state.js";
import type { Run } from "../../src/iql/run-state.js";
import type { IqlDocumentEvent, IqlMatch, IqlSummary } from "../../src/iql/types.js";

const SUMMARY: IqlSummary = {
  total_matches: 2,
  average_score: 0.8,
  document_count: 3,
  model: "m",
  warnings: [],
  truncated: false,
};

function result(index: number, score: number, error = ""): IqlDocumentEvent {
  return {
    document_result: {
      document_id: `d${index}`,
      filename: `${index}.md`,
      score,
      likelihood: "LIKELIHOOD_POSSIBLE",
      matches: [],
      match_count: 0,
      error,
      truncated: false,
      next_page_token: "",
    },
    totals: { documents_done: index + 1, document_count: 3, total_matches: 0, average_score: 0 },
    document_index: index,
  };
}

function runOf(...events: IqlDocumentEvent[]): Run {
  return events.reduce((run, event) => advanced(run, { type: "document", event }), BEGUN);
}

const names = (results: Run["results"]) => results.map(({ filename }) => filename);

test("results stand in the order of the matter, however they come", () => {
  const run = runOf(result(2, 0.1), result(0, 0.2), result(1, 0.9));
  expect(names(run.results)).toEqual(["0.md", "1.md", "2.md"]);
  expect(run.totals.documents_done).toBe(2);
});

test("a document that comes again replaces itself", () => {
  expect(runOf(result(0, 0.1), result(0, 0.7)).results.map(({ score }) => score)).toEqual([0.7]);
});

test("more matches of a document stand among those that are shown, in the order of the text", () => {
  const match = (start: number): IqlMatch => ({
    text: "x",
    start_index: start,
    end_index: start + 1,
    score: 0.6,
    likelihood: "LIKELIHOOD_POSSIBLE",
  });
  const page = (starts: number[], token: string) => ({
    ...result(1, 0.9).document_result,
    matches: starts.map(match),
    truncated: token !== "",
    next_page_token: token,
  });
  const run = runOf(result(0, 0.2), { ...result(1, 0.9), document_result: page([5, 20], "next") });
  const [other, shown] = extended(run, 1, page([1, 9], "")).results;
  expect(shown?.matches.map(({ start_index: start }) => start)).toEqual([1, 5, 9, 20]);
  expect(shown).toMatchObject({ truncated: false, next_page_token: "" });
  expect(other).toEqual(run.results[0]);
});

test("the best score comes first when asked for, failed documents last", () => {
  const { results } = runOf(result(0, 0, "could not be analysed"), result(1, 0), result(2, 0.9));
  expect(names(ordered(results, "score"))).toEqual(["2.md", "1.md", "0.md"]);
  expect(names(ordered(results, "matter"))).toEqual(["0.md", "1.md", "2.md"]);
});

test("the summary ends it", () => {
  const run = advanced(runOf(result(0, 0.9)), { type: "summary", summary: SUMMARY });
  expect(run.state).toBe("done");
  expect(run.summary).toBe(SUMMARY);
});

test("a cancelled run keeps what was there, and takes nothing more", () => {
  const run = advanced(runOf(result(0, 0.9)), { type: "cancelled" });
  expect(advanced(run, { type: "document", event: result(1, 0.5) })).toBe(run);
  expect(names(run.results)).toEqual(["0.md"]);
});

test("a failure has its words", () => {
  expect(advanced(BEGUN, { type: "failed", failure: "No." })).toMatchObject({ state: "failed", failure: "No." });
});
