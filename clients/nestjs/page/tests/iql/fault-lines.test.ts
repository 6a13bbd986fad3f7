import { expect, test } from "vitest";
import { columns, faultLine } from "../../src/iql/fault-lines.js";
import type { FaultLine } from "../../src/iql/fault-lines.js";

function lineOf(query: string, words: string): FaultLine {
  const start = query.indexOf(words);
  return faultLine(query, start, start + words.length);
}

test("carets stand under the words", () => {
  const found = lineOf("{IS terminaton clause} and {IS right}", "terminaton clause");
  expect(found).toMatchObject({
    line: 1,
    column: 5,
    before: "{IS ",
    marked: "terminaton clause",
    after: "} and {IS right}",
  });
  expect(found.carets).toBe("^".repeat(17));
});

test("only the line of the place is shown, with its number", () => {
  const found = lineOf("{A}\nAND {IS nothing}\nOR {B}", "nothing");
  expect(found).toMatchObject({ line: 2, column: 9, before: "AND {IS ", marked: "nothing", after: "}" });
});

test("a place that reaches over the line's end is cut there", () => {
  expect(lineOf("{A}\nAND {open\nto the end", "{open\nto")).toMatchObject({ marked: "{open", carets: "^^^^^" });
});

test("a place without width has one caret", () => {
  expect(faultLine("{A} AND", 7, 7)).toMatchObject({ before: "{A} AND", marked: "", after: "", carets: "^" });
  expect(faultLine("", 0, 0)).toMatchObject({ line: 1, column: 1, carets: "^" });
});

test("a fault of the first line when the query begins with an empty one", () => {
  expect(faultLine("\n{A}", 0, 0)).toMatchObject({ line: 1, before: "", after: "" });
});

test("tabs become blanks up to the next stop, also within the place", () => {
  const found = lineOf("\t{IS a\tb}", "a\tb");
  expect(found.before).toBe("    {IS ");
  expect(found.marked).toBe("a   b");
  expect(found.carets).toBe("^^^^^");
});

test("wide characters take two columns and combining marks none", () => {
  expect(columns("契約")).toBe(4);
  expect(columns("Ku\u0308n")).toBe(3);
  expect(columns("📄")).toBe(2);
  expect(lineOf("{IS 契約 clause}", "契約").carets).toBe("^^^^");
});

test("columns are counted in code points", () => {
  expect(lineOf("{📄📄} nonsense", "nonsense").column).toBe(6);
});
