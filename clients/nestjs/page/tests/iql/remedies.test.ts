import { expect, test } from "vitest";
import { mended, remediesOf } from "../../src/iql/remedies.js";
import type { IqlEdit } from "../../src/iql/types.js";

function edit(suggestion: number, label: string, [start, end]: [number, number] = [0, 0], text = label): IqlEdit {
  return { suggestion, label, start_utf16: start, end_utf16: end, text };
}

test("each suggestion has its own edits, in whatever words it is put", () => {
  const suggestions = ["Schreibe {A}", "Setze UND oder ODER.", "Nur ein Mensch weiß es."];
  const edits = [edit(0, "{A}"), edit(1, "AND"), edit(1, "OR")];
  const found = remediesOf({ suggestions, edits });
  expect(found.map(({ sentence, edits }) => [sentence, edits.map(({ label }) => label)])).toEqual([
    ["Schreibe {A}", ["{A}"]],
    ["Setze UND oder ODER.", ["AND", "OR"]],
    ["Nur ein Mensch weiß es.", []],
  ]);
});

test.each([
  ["Use the template {IS right}", ["{IS right}"], true],
  ["Write AND.", ["AND"], true],
  ["Write AND or OR.", ["AND", "OR"], false],
  ["Leave it out, or take it into the quotes.", ["Leave it out"], false],
  ['Put "}" where the statement ends.', ["Close it at the end"], false],
  ["Write the argument in the quotes.", [], false],
])("what is said and what is done: %s", (sentence, labels, isOneEdit) => {
  const edits = labels.map((label) => edit(0, label));
  expect(remediesOf({ suggestions: [sentence], edits })).toMatchObject([{ isOneEdit }]);
});

test("an edit takes the place of its range, behind emoji too, and the cursor stands behind it", () => {
  const query = "{🔒} AND {IS rihgt}";
  const start = query.indexOf("{IS");
  const after = mended(query, edit(0, "{IS right}", [start, query.length]));
  expect(after).toEqual({ query: "{🔒} AND {IS right}", start: start + 10, end: start + 10 });
});

test("an edit may put in, or leave out", () => {
  expect(mended("{A} {B}", edit(0, "AND", [4, 4], "AND ")).query).toBe("{A} AND {B}");
  expect(mended("{A}.", edit(0, "Leave it out", [3, 4], "")).query).toBe("{A}");
});
