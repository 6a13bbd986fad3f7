import { describe, expect, test } from "vitest";
import { callOf, withOperator, withTemplate } from "../../src/iql/edits.js";
import type { Edit } from "../../src/iql/edits.js";

const PLAIN = { name: "termination clause", arguments: [] as string[] };
const PARTY = { name: "clause entitling", arguments: ["PARTY"] };

/** The query with the selection between vertical bars. */
function shown({ query, start, end }: Edit): string {
  return `${query.slice(0, start)}|${query.slice(start, end)}|${query.slice(end)}`;
}

/** A template put in where the bar stands. */
function inserted(at: string, template = PLAIN): string {
  const cursor = at.indexOf("|");
  return shown(withTemplate(at.replace("|", ""), cursor, template));
}

describe("a template", () => {
  test.each([
    ["into an empty query", "|", "{IS termination clause}||"],
    ["after a statement", "{A}|", "{A} AND {IS termination clause}||"],
    ["after a statement and a blank", "{A} |", "{A} AND {IS termination clause}||"],
    ["after an operator", "{A} OR |", "{A} OR {IS termination clause}||"],
    ["before a statement", "|{A}", "{IS termination clause}|| AND {A}"],
    ["into parentheses", "(|)", "({IS termination clause}||)"],
    ["inside of a statement, which it leaves whole", "{A| b} OR {B}", "{A b} AND {IS termination clause}|| OR {B}"],
    ["between two operands", "{A} | {B}", "{A} AND {IS termination clause}|| AND {B}"],
  ])("goes %s", (_name, at, expected) => {
    expect(inserted(at)).toBe(expected);
  });

  test("has its placeholder selected", () => {
    expect(inserted("{A} AND |", PARTY)).toBe('{A} AND {IS clause entitling "|PARTY|"}');
  });

  test("that is there twice is selected where it was put in", () => {
    expect(inserted('{IS clause entitling "PARTY"} OR |', PARTY)).toBe(
      '{IS clause entitling "PARTY"} OR {IS clause entitling "|PARTY|"}',
    );
  });

  test("is called with all of its arguments", () => {
    expect(callOf({ name: "clause between", arguments: ["A", "B"] })).toBe('{IS clause between "A" "B"}');
  });
});

test("an operator has blanks around it", () => {
  expect(withOperator("{A}{B}", 3, 3, "AND").query).toBe("{A} AND {B}");
  expect(withOperator("{A} {B}", 4, 4, "OR").query).toBe("{A} OR {B}");
  expect(withOperator("(", 1, 1, "NOT").query).toBe("(NOT ");
});
