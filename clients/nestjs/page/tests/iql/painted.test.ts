import { expect, test } from "vitest";
import { painted } from "../../src/iql/painted.js";

const fault = (start: number, end: number) => ({ start_utf16: start, end_utf16: end });

/** The runs that are underlined. */
function faulty(query: string, ...faults: ReturnType<typeof fault>[]): string[] {
  return painted(query, faults)
    .filter((run) => run.faulty)
    .map(({ text }) => text);
}

test("exactly the place of a fault is underlined", () => {
  expect(faulty("{IS terminaton clause} AND {A}", fault(4, 21))).toEqual(["terminaton clause"]);
});

test("a place behind an emoji, in UTF-16", () => {
  expect(faulty("{📄 ok} {IS odd}", fault(12, 15))).toEqual(["odd"]);
});

test("a place that reaches over several parts underlines each of them", () => {
  expect(faulty("{A} {B}", fault(1, 6)).join("")).toBe("A} {B");
});

test("two faults are apart", () => {
  expect(faulty("{A} x {B} y", fault(4, 5), fault(10, 11))).toEqual(["x", "y"]);
});

test("a fault at the end, without width, is a blank of its own", () => {
  expect(faulty("{A} AND", fault(7, 7))).toEqual([" "]);
  expect(faulty("", fault(0, 0))).toEqual([" "]);
});

test.each(["{IS right} AND {B}", "plain words", "{a\n\tb}", ""])("the runs together are the query: %j", (query) => {
  const runs = painted(query, [fault(1, Math.min(3, query.length))]);
  expect(
    runs
      .map(({ text }) => text)
      .join("")
      .trimEnd(),
  ).toBe(query);
});
