import { expect, test } from "vitest";
import { movedFaults } from "../../src/iql/moved-faults.js";

/** The words of a fault after the query has changed; undefined where it is left out. */
function wordsAfter(before: string, words: string, after: string): string | undefined {
  const start = before.indexOf(words);
  const fault = { message: "", suggestions: [], edits: [], start_utf16: start, end_utf16: start + words.length };
  const [moved] = movedFaults([fault], before, after);
  return moved && after.slice(moved.start_utf16, moved.end_utf16);
}

test.each([
  ["stays where it is while something is written after it", "{IS odd} AND ", "odd", "{IS odd} AND {A}", "odd"],
  ["moves with what is written before it", "{A} AND {IS odd}", "odd", "{Abc} AND {IS odd}", "odd"],
  ["moves with what is deleted before it", "{Abc} AND {IS odd}", "odd", "AND {IS odd}", "odd"],
  ["is left out when it is changed itself", "{IS odd}", "odd", "{IS old}", undefined],
  ["stays when something follows it at once", "{IS odd}", "odd", "{IS oddly}", "odd"],
  ["is left out when everything is new", "{IS odd}", "odd", "x", undefined],
])("a fault %s", (_name, before, words, after, expected) => {
  expect(wordsAfter(before, words, after)).toBe(expected);
});

test("a query that has not changed has its faults", () => {
  const faults = [{ message: "", suggestions: [], edits: [], start_utf16: 0, end_utf16: 1 }];
  expect(movedFaults(faults, "{A", "{A")).toBe(faults);
});
