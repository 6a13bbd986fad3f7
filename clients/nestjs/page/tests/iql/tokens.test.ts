import { expect, test } from "vitest";
import { statementAround, tokensOf } from "../../src/iql/tokens.js";

function kinds(query: string): [string, string][] {
  return tokensOf(query)
    .filter(({ text }) => text.trim() !== "")
    .map(({ kind, text }) => [kind, text]);
}

test("parts of a query are told apart", () => {
  expect(kinds('not ({IS right} > {Words AND {IS clause that "x"}')).toEqual([
    ["operator", "not"],
    ["bracket", "("],
    ["template", "{IS right}"],
    ["operator", ">"],
    ["statement", "{Words AND "],
    ["template", '{IS clause that "x"}'],
  ]);
});

test("escaped braces belong to the words", () => {
  expect(kinds("{a \\} b} AND {c \\\\}")).toEqual([
    ["statement", "{a \\} b}"],
    ["operator", "AND"],
    ["statement", "{c \\\\}"],
  ]);
});

test("a query without braces is one statement, whatever words are in it", () => {
  expect(kinds("This is a clause and a right.")).toEqual([["text", "This is a clause and a right."]]);
  expect(tokensOf("")).toEqual([]);
});

test.each(["{A} AND ({B}", "}} {", "\\{ 😀 {x} ,; a{b", "{\n}\t{IS}", "a AND {"])(
  "the parts together are the query: %j",
  (query) => {
    expect(
      tokensOf(query)
        .map(({ text }) => text)
        .join(""),
    ).toBe(query);
  },
);

test("the statement around a place", () => {
  const query = "{A} AND {Bcd} x";
  expect(statementAround(query, 10)).toEqual({ start: 8, end: 13 });
  expect(statementAround(query, 4)).toBeUndefined();
  expect(statementAround(query, 13)).toBeUndefined();
});
